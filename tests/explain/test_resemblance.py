import numpy as np
import pytest

from cogmap import LTCNClassifier, LTCNClassifierCV
from cogmap.core.resemblance import regions
from cogmap.core.resemblance.regions import Remembering
from tests import own_metrics


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(5)
    X = np.column_stack([rng.uniform(0, 100, 400), rng.uniform(-1, 1, 400), rng.normal(size=400)])
    return X, (np.sin(X[:, 0] / 8) > 0).astype(int)


@pytest.fixture(scope="module")
def model(problem):
    """Return a stack of remembered rows in regions of at most 150, by both distances."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(regions.cut_boxes, "__defaults__", (150,))
        patch.setattr("cogmap.estimators.tuned.stack_weights", lambda members: np.full(len(members), 0.2))
        return LTCNClassifierCV(inner="slopes", terms=None, max_iter=2).fit(*problem)


def test_what_tells_the_classes_apart_makes_rows_alike(model):
    frame = model.resemblance()
    assert frame.distance.unique().tolist() == ["straight", "axes"]
    assert frame.groupby("distance").share.sum().tolist() == pytest.approx([1, 1])
    assert frame.groupby("distance").concept.first().tolist() == ["x0", "x0"]


def test_along_axes_a_share_is_what_a_unit_of_a_concept_adds_to_the_distance(model):
    metrics = [member.readout.metric for member, _ in model.fitted_.members if isinstance(member.readout, Remembering)]
    [metric] = [metric for metric in metrics if metric.distance == "axes"]
    shares = model.resemblance().query("distance == 'axes'").set_index("concept").share
    step = 1e-3 * np.eye(3)
    apart = np.abs(metric(metric.mean + step) - metric(metric.mean[None])).sum(axis=1)
    np.testing.assert_allclose(shares[["x0", "x1", "x2"]], apart / apart.sum(), rtol=1e-9)


def test_rules_say_which_rows_a_region_has(model, problem):
    """Read as a person would, from the text alone."""
    X, frame = problem[0], model.regions()
    plain = frame[frame.distance == "axes"]
    assert frame.groupby("distance").cases.sum().tolist() == [400, 400]
    assert len(plain) > 2
    for rule, cases in zip(plain.rule, plain.cases, strict=True):
        inside = np.ones(400, dtype=bool)
        for part in rule.split(" and "):
            name, word, number = part.replace("is ", "").replace("at most", "most").split()
            column = X[:, int(name[1:])]
            inside &= column > float(number) if word == "above" else column <= float(number)
        assert abs(inside.sum() - cases) <= 2  # numbers are shown with four digits


def test_a_small_table_is_one_region_and_a_model_without_cases_has_none(problem):
    X, y = problem
    small = LTCNClassifierCV(inner="slopes", terms=None, pairs=False, combine="best").fit(X, y)
    assert small.regions().drop(columns="distance").values.tolist() == [["", "every row", 400]]
    for method in ("regions", "resemblance"):
        with pytest.raises(ValueError, match="remembers no rows in regions"):
            getattr(LTCNClassifier(max_iter=1).fit(X, y), method)()


def test_shares_of_regions_with_metrics_of_their_own_are_those_of_their_cases():
    """A step along a concept alone says how far it counts in a metric, and each counts as often as it has cases."""
    model, _, readout = own_metrics.fitted_stack()
    found = model.resemblance().query("distance == 'straight'").set_index("concept").share
    apart = [(metric(metric.mean + np.eye(4)) ** 2).sum(axis=1) for metric in readout.metrics]
    shares = np.repeat([one / one.sum() for one in apart], np.diff(readout.ends, prepend=0), axis=0).mean(axis=0)
    np.testing.assert_allclose(found[["x0", "x1", "x2", "x3"]], shares, rtol=1e-9)
