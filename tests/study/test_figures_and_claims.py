import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.tree import DecisionTreeClassifier

from cogmap.study.claims import CLAIMS, claims_table
from cogmap.study.figures import FIGURES, save
from cogmap.study.protocol import Task, evaluate, shuffled
from cogmap.study.sweeps import (
    INNER,
    SELECTED,
    classic_grids,
    classic_kappas,
    map_grids,
    phi_iteration_map,
    readout_curves,
    readout_grids,
    relevance_grids,
    swept,
)
from cogmap.study.verdict import MissingResultsError
from tests.study.made import frame, rows

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
SETS = ("banana", "bank", "segment", "vehicle", "yeast", "yeast1", "yeast3")
PHIS = (0.0, 0.5, 1.0)
APART = 1e-4
"""How far made-up numbers of datasets stand apart: of tied differences scipy tries every sign, which takes seconds."""


def readouts(trajectory, final):
    """Made-up sweep: kappa of either readout is a function of φ."""
    return frame(
        *(
            rows(name, "LTCN", value(phi) + 0.01 * i, grid=f"phi={phi:g},max_iter=20{suffix}")[:5]
            for i, name in enumerate(SETS)
            for phi in PHIS
            for value, suffix in ((trajectory, ""), (final, ",readout=final"))
        )
    )


def judged(name, results, network="LTCN"):
    return CLAIMS[name](results, network)


def test_the_twelve_datasets_are_those_of_the_papers_figure():
    assert SELECTED[:4] == ("cardiotocography-3", "mfeat-fourier", "mfeat-karhunen", "musk2")
    assert SELECTED[-1] == "yeast3"
    assert len(readout_grids()) == 22
    assert len(map_grids((0.0, 1.0), (1, 5, 20))) == 6


def test_sweeps_are_read_back_from_their_grids():
    sweep = swept(readouts(lambda phi: 0.5 + phi / 10, lambda phi: 0.5 - phi / 2))
    curves = readout_curves(sweep)
    assert curves.loc[("banana", 1.0), "trajectory"] == pytest.approx(0.6)
    assert curves.loc[("bank", 0.5), "final"] == pytest.approx(0.26)
    assert phi_iteration_map(sweep, "banana").loc[0.5, 20] == pytest.approx(0.55)


def test_fixed_point():
    collapse = lambda phi: 0.5 * (1 - phi)  # noqa: E731
    assert judged("fixed-point", readouts(lambda phi: 0.5 + phi / 10, collapse)).holds
    assert not judged("fixed-point", readouts(lambda phi: 0.5 - phi / 10, collapse)).holds


def test_linearity_needs_a_gain_on_folds_that_did_not_choose():
    assert judged("linearity", readouts(lambda phi: 0.7 if phi == 0.5 else 0.6, lambda phi: 0.0)).holds
    assert not judged("linearity", readouts(lambda phi: phi, lambda phi: 0.0)).holds


def maps(late):
    return frame(
        *(
            rows(name, "LTCN", 0.5 + 0.01 * T if T <= 5 else 0.55 + late, grid=f"phi={phi:g},max_iter={T}")[:5]
            for name in SELECTED[:3]
            for phi in PHIS
            for T in (1, 5, 20)
        )
    )


def test_five_iterations():
    assert judged("five-iterations", maps(0.01)).holds
    assert not judged("five-iterations", maps(0.1)).holds


def compared(ltcn, svm, seconds=0.1):
    rng = np.random.default_rng(0)
    return frame(
        *(
            rows(name, classifier, value + 0.001 * rng.uniform(), seconds=time * (1 + APART * i))
            for i, name in enumerate((*SETS, *SELECTED))
            for classifier, value, time in (("LTCN", ltcn, seconds), ("SVM", svm, 0.5), ("DT", 0.3, 0.01))
        )
    )


def test_black_boxes_and_speed():
    assert judged("black-boxes", compared(0.7, 0.7)).holds
    assert not judged("black-boxes", compared(0.6, 0.7)).holds
    assert judged("fastest", compared(0.7, 0.7)).holds
    assert not judged("fastest", compared(0.7, 0.7, seconds=1.0)).holds
    assert not judged("fastest", compared(0.6, 0.7)).holds


@pytest.mark.parametrize(("inner", "holds"), [(0.6, True), (0.75, False)])
def test_both_steps(inner, holds):
    kappas = {"LTCN": 0.7, "random inner weights": inner, "random outer weights": 0.0}
    names = (*SETS, *SELECTED[:4])
    made = [
        rows(name, method, kappa * (1 + APART * i)) for i, name in enumerate(names) for method, kappa in kappas.items()
    ]
    assert judged("both-steps", frame(*made)).holds is holds
    with pytest.raises(MissingResultsError, match="Only 2 datasets"):
        judged("both-steps", frame(*made[:6]))


def test_the_network_of_the_authors_code_is_judged_by_its_own_rows():
    found = compared(0.6, 0.7)
    found.loc[found["classifier"] == "LTCN", "classifier"] = "LTCN slopes"
    for name in ("black-boxes", "fastest"):
        assert not judged(name, found, "LTCN slopes").holds
        with pytest.raises(MissingResultsError, match="LTCN"):
            judged(name, found)


@pytest.mark.parametrize("name", CLAIMS)
def test_missing_runs_are_named(name):
    with pytest.raises(MissingResultsError, match="cogmap study"):
        judged(name, frame())


def test_the_classic_readout_is_compared_with_linear_regression_by_both_cut_offs():
    better, worse = (
        readouts(lambda phi: 0.5, lambda phi: 0.5 + 0.1 * phi),
        readouts(lambda phi: 0.5, lambda phi: 0.5 - phi),
    )
    assert not judged("classic", better).holds
    assert "1e-15: not run" in judged("classic", better).evidence
    found = judged("classic", worse)
    assert found.holds
    assert found.figure == "-0.500 for 0 < φ < 1, -1.000 at φ = 1"
    assert found.p == pytest.approx(2 / 2 ** len(SETS))
    loose = frame(*(rows(name, "FCM 1e-15", 0.4, grid=grid)[:5] for name in SETS for grid in classic_grids(PHIS)))
    assert classic_kappas(loose, "LTCN slopes").loc["bank", 1.0] == pytest.approx(0.4)
    assert "1e-15: 0 0.400" in judged("classic", pd.concat([worse, loose])).evidence


def test_larger_phi_must_be_better_to_the_end():
    phis = np.linspace(0, 1, 6)

    def curve(value):
        made = [
            rows(name, "LTCN", value(phi) + 0.01 * i, grid=f"phi={phi:g},max_iter=20{suffix}")[:5]
            for i, name in enumerate(SETS)
            for phi in phis
            for suffix in ("", ",readout=final")
        ]
        return judged("larger-phi", frame(*made))

    assert curve(lambda phi: 0.5 + phi / 10).holds
    assert not curve(lambda phi: 0.5 - phi / 10).holds
    fallen = curve(lambda phi: 0.5 + phi / 10 if phi < 1 else 0.4)
    assert not fallen.holds
    assert fallen.figure == "0.550 at φ = 0.2, 0.610 at φ = 0.8, 0.430 at φ = 1"


def boxes(**kappas):
    names = (*SETS, *SELECTED)
    made = ((name, method, k * (1 + APART * i)) for i, name in enumerate(names) for method, k in kappas.items())
    return frame(*(rows(*each) for each in made))


def test_white_boxes_and_ripper():
    found = boxes(LTCN=0.7, LR=0.5, DT=0.6, RIPPER=0.69)
    assert judged("white-boxes", found).holds
    assert judged("white-boxes", found).figure == "+0.100 against DT"
    assert not judged("white-boxes", boxes(LTCN=0.7, LR=0.5, DT=0.68)).holds
    assert not judged("ripper", found).holds
    found.loc[found["classifier"] == "RIPPER", "accuracy"] = 0.9
    assert judged("ripper", found).holds


def test_relevance_is_judged_by_what_shuffling_costs():
    names = (*SETS, *SELECTED[:5])
    most, least = relevance_grids("LTCN")[:2]

    def found(cost):
        made = [
            rows(name, "LTCN", 0.6 - (cost * (1 + APART * i) if grid == most else 0.0), grid=grid)[:5]
            for i, name in enumerate(names)
            for grid in (most, least)
        ]
        return judged("relevance", frame(*made))

    assert found(0.2).holds
    assert found(0.2).figure == "+0.200 of kappa"
    assert not found(-0.1).holds


class Tree(DecisionTreeClassifier):
    """Knows which features it reads."""

    def relevance(self, kind):
        return self.feature_importances_


def test_shuffling_takes_the_features_that_matter_or_those_that_do_not():
    X, y = load_iris(return_X_y=True)
    model = Pipeline([("scale", MinMaxScaler()), ("model", Tree(max_depth=1, random_state=0))]).fit(X, y)
    read = int(model["model"].feature_importances_.argmax())
    for which in ("most", "least"):
        copies = shuffled(model, X, "paper", which)
        changed = {j for copy in copies for j in range(4) if (copy[:, j] != X[:, j]).any()}
        assert len(changed) == 1
        assert (changed == {read}) is (which == "most")
        assert all(np.array_equal(np.sort(copy, axis=0), np.sort(X, axis=0)) for copy in copies)


def test_a_run_with_shuffled_features_loses_what_they_are_worth():
    kappa = {
        which: evaluate(Task("iris", "LTCNClassifier", f"shuffle={which},by=model", 3, "fold", 42, "0"))["kappa"]
        for which in ("most", "least")
    }
    plain = evaluate(Task("iris", "LTCNClassifier", "default", 3, "fold", 42, "0"))["kappa"]
    assert kappa["most"] < kappa["least"] <= plain


def test_the_table_of_claims_has_every_claim_for_both_networks():
    table = claims_table(pd.concat([readouts(lambda phi: 0.5 + phi / 10, lambda phi: 0.5 - phi), compared(0.7, 0.7)]))
    assert len(table) == len(CLAIMS) * len(INNER)
    known = table.set_index(["claim", "network"])
    assert known.loc[("fixed-point", "LTCN"), "verdict"] == "holds"
    assert known.loc[("fixed-point", "LTCN"), "p"] < 0.05
    assert known.loc[("fixed-point", "LTCN slopes"), "verdict"] == "not decided"


@pytest.mark.parametrize(
    ("name", "results"),
    [
        ("readouts", readouts(lambda phi: phi, lambda phi: 1 - phi)),
        ("maps", maps(0.0)),
        ("ranks", compared(0.7, 0.6)),
    ],
)
def test_figures_are_drawn_as_png_and_svg(tmp_path, name, results):
    figure = FIGURES[name](results, "LTCN")
    paths = save(figure, name, tmp_path)
    matplotlib.pyplot.close(figure)
    assert [path.suffix for path in paths] == [".png", ".svg"]
    assert all(path.stat().st_size > 5000 for path in paths)
    assert len(list(tmp_path.iterdir())) == 2


def test_the_ranks_figure_names_every_classifier():
    figure = FIGURES["ranks"](compared(0.7, 0.6), "LTCN")
    texts = " ".join(text.get_text() for text in figure.axes[0].texts)
    assert all(name in texts for name in ("LTCN (1.00)", "SVM (2.00)", "DT (3.00)", "critical difference"))
    matplotlib.pyplot.close(figure)


@pytest.mark.parametrize("name", FIGURES)
def test_figures_without_results_name_the_run(name):
    with pytest.raises(MissingResultsError, match="cogmap study"):
        FIGURES[name](frame(), "LTCN")
