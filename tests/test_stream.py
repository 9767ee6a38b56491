"""Streamed fits against fits in memory: the same bits for the same rows, from blocks of any size and from files."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.dummy import DummyClassifier

from cogmap import Knowledge, LTCNClassifier, LTCNClassifierCV, stream
from cogmap.core.fit import judges
from cogmap.core.resemblance import metric, ways
from cogmap.core.resemblance.regions import RegionReadout
from cogmap.core.sums import sources
from cogmap.errors import DataFileError
from cogmap.estimators import tuned
from cogmap.intake import blocks


@pytest.fixture
def small_blocks(monkeypatch):
    """Let 100 rows be many, and 192 a block."""
    monkeypatch.setattr(blocks, "MOST_ROWS", 100)
    monkeypatch.setattr(sources, "BLOCK_ROWS", 192)


N_ROWS = 600


@pytest.fixture
def rows(rng):
    X = rng.normal(size=(N_ROWS, 4)) @ rng.normal(size=(4, 4))
    X[:, 1] = X[:, 1].round()
    X[:, 3] = rng.integers(0, 3, N_ROWS)
    signal = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] / 4 + rng.normal(size=N_ROWS) / 2
    return X, np.array(["high", "low", "middle"])[np.digitize(signal, [-1.0, 0.5])]


def blocks_of(n, *arrays):
    return [tuple(array[i : i + n] for array in arrays) for i in range(0, len(arrays[0]), n)]


def same(one, other, X):
    """Assert that two models are the same to the last bit."""
    assert (one.decision_function(X) == other.decision_function(X)).all()
    assert (one.predict_proba(X) == other.predict_proba(X)).all()
    assert (one.predict(X) == other.predict(X)).all()
    assert (one.outer_weights_ == other.outer_weights_).all()
    assert (one.class_count_ == other.class_count_).all()
    # Relevance follows from these rows and the scores.
    for name in ("rows", "weight", "shares"):
        assert (getattr(one.fitted_.summary, name) == getattr(other.fitted_.summary, name)).all()


PARAMETERS = [
    {},
    {"alpha": 1.0},
    {"inner": "regression", "scaling": "quantile", "max_iter": 4},
    {"scaling": "minmax", "terms": 3, "max_iter": 3, "decision": "argmax"},
    {"decision_metric": "balanced_accuracy", "knowledge": Knowledge().irrelevant("x3").forbid("x0", "x1")},
]


GRIDS = [
    {},
    {"max_iter": 4, "inner": "slopes", "scaling": ["minmax", "quantile"], "combine": "best", "scoring": "log_loss"},
    {"activation": ("sigmoid", "tanh"), "inner": "slopes", "class_weight": {"high": 2}, "decision_metric": "kappa"},
    {"knowledge": Knowledge().irrelevant("x3").forbid("x0", "x1"), "inner": "slopes", "decision": "argmax"},
]


def same_grid(one, other, X):
    """Assert that two tuned models are the same to the last bit, and that they say the same of their grids."""
    same(one, other, X)
    assert one.best_params_ == other.best_params_
    for name in ("mean_test_score", "stack_weight", "loo_kappa"):
        assert (one.cv_results_[name] == other.cv_results_[name]).all()


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("parameters", GRIDS, ids=str)
def test_a_streamed_tuned_fit_is_the_fit_in_memory_bit_for_bit(parameters, rows):
    X, y = (each[:300] for each in rows)
    model = LTCNClassifierCV(**parameters)
    found = stream.fit(blocks_of(250, X, y), model)
    assert isinstance(found, LTCNClassifierCV)
    same_grid(found, model.fit(X, y), X)
    assert any(params["cases"] for params in found.cv_results_["params"])


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("n_judges", [90, 300])
def test_rows_are_remembered_for_what_the_rest_leaves_bit_for_bit(n_judges, rows, monkeypatch):
    """Of those that judge as they are seen from outside, of the others as the rest says it."""
    X, y = (each[:300] for each in rows)
    monkeypatch.setattr(judges, "JUDGES", n_judges)
    monkeypatch.setattr(ways, "LOOK", -1.0)  # whatever they say
    monkeypatch.setattr(tuned, "stack_weights", lambda members: np.full(len(members), 0.4))
    for module in (tuned, metric):
        monkeypatch.setattr(module, "METRIC_FOLDS", {100: 2})
    asked, groundwork = [], tuned.groundwork
    monkeypatch.setattr(tuned, "groundwork", lambda members, taken: asked.append(members) or groundwork(members, taken))
    model = LTCNClassifierCV(inner="slopes")
    found = stream.fit(blocks_of(110, X, y), model)
    same_grid(found, model.fit(X, y), X)
    assert len(asked) == 2
    assert any(isinstance(member.readout, RegionReadout) for member, _ in found.fitted_.members)


def test_a_tuned_fit_in_passes_is_the_fit_at_once(rows, monkeypatch):
    """Within the contract, since all rows judge here; rows that are remembered come in another order."""
    X, y = rows
    at_once = LTCNClassifierCV(cases=False, terms=None).fit(X, y)
    monkeypatch.setattr(blocks, "MOST_ROWS", 100)
    monkeypatch.setattr(sources, "BLOCK_ROWS", 384)
    passes, scores = LTCNClassifierCV(cases=False, terms=None).fit(X, y), at_once.decision_function(X)
    assert np.abs(passes.decision_function(X) - scores).max() <= 1e-6 * np.abs(scores).max()
    assert (passes.predict(X) == at_once.predict(X)).all()
    np.testing.assert_allclose(passes.cv_results_["stack_weight"], at_once.cv_results_["stack_weight"], atol=1e-6)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize(("terms", "remembered"), [("auto", [None, 5]), (None, [None]), (3, [3])])
@pytest.mark.parametrize(("place", "cases"), [(1, True), (2, "axes")])
def test_many_rows_are_remembered_and_judged_where_others_are(place, cases, terms, remembered, rows, monkeypatch):
    """A stack of remembered rows alone, fewer of which judge: what these say holds for rows that were not seen."""
    X, y = rows
    monkeypatch.setattr(judges, "JUDGES", 90)
    monkeypatch.setattr(tuned, "stack_weights", lambda members: np.eye(len(members))[place])
    model = LTCNClassifierCV(inner="slopes", terms=terms, pairs=False)
    found = stream.fit(blocks_of(110, X[::2], y[::2]), model)
    assert found.cv_results_["param_terms"][0] == (None if terms == "auto" else terms)
    assert found.cv_results_["param_terms"][place] in remembered
    assert found.cv_results_["param_cases"][place] == cases
    [(member, _)] = found.fitted_.members
    assert len(member.readout.cases) == N_ROWS / 2
    said, shown = -found.cv_results_["loo_error"][place], 1 - found.score(X[1::2], y[1::2])
    assert said == pytest.approx(shown, abs=0.15)  # 90 rows know it to .05
    in_memory = clone(model).fit(X[::2], y[::2])
    np.testing.assert_array_equal(in_memory.decision_function(X), found.decision_function(X))


def test_a_tuned_fit_of_few_rows_is_the_fit_in_memory_in_any_order(rows, rng):
    X, y = (each[:300] for each in rows)
    order = rng.permutation(len(y))
    found = stream.fit(blocks_of(250, X[order], y[order]), LTCNClassifierCV())
    same_grid(found, LTCNClassifierCV().fit(X, y), X)
    assert any(params["cases"] for params in found.cv_results_["params"])


@pytest.mark.usefixtures("small_blocks")
def test_concepts_are_learned_once_for_the_networks_that_share_them(rows):
    """Passes are what a long fit costs."""
    passes = {}
    for inner in ("slopes", "stable-regression", ("slopes", "stable-regression")):
        told = []
        model = LTCNClassifierCV(inner=inner, cases=False, terms=None, pairs=False)
        stream.fit(blocks_of(300, *rows), model, progress=told.append)
        passes[inner] = len(told)
    told = []
    alone = LTCNClassifierCV(inner="slopes", scaling="minmax", cases=False, terms=None, pairs=False)
    stream.fit(blocks_of(300, *rows), alone, progress=told.append)
    knots = passes["slopes"] - len(told)
    assert knots > 0
    both = passes["slopes"] + passes["stable-regression"]
    assert passes["slopes", "stable-regression"] == both - 1 - knots  # the census is taken once, too


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("parameters", PARAMETERS, ids=str)
def test_a_streamed_fit_is_the_fit_in_memory_bit_for_bit(parameters, rows):
    X, y = rows
    model = LTCNClassifier(**parameters)
    expected = clone(model).fit(X, y)
    for n in (7 if parameters else 1, 250, 5000):
        same(stream.fit(blocks_of(n, X, y), model), expected, X)


def test_many_classes_are_no_regression(rng):
    """scikit-learn warns where most labels differ, and must not be shown the classes alone."""
    X = rng.normal(size=(240, 3))
    y = np.argsort(np.argsort(X[:, 0])) // 8
    same(stream.fit(blocks_of(50, X, y)), LTCNClassifier().fit(X, y), X)


@pytest.mark.parametrize("n", [7, 400])
def test_few_rows_are_fitted_as_in_memory_in_any_order(n, rows, rng):
    X, y = rows
    order = rng.permutation(len(y))
    found, expected = stream.fit(blocks_of(n, X[order], y[order])), LTCNClassifier().fit(X, y)
    same(found, expected, X)
    assert (found.relevance() == expected.relevance()).all()


@pytest.mark.parametrize("name", ["vehicle", "yeast3", "segment"])
def test_the_papers_sets_in_blocks(name, paper_data, monkeypatch):
    """As users get them, the same bits; and within the contract if so few rows were fitted block by block."""
    X, y = paper_data(name)
    whole = LTCNClassifier().fit(X, y)
    same(stream.fit(blocks_of(100, X, y)), whole, X)
    monkeypatch.setattr(blocks, "MOST_ROWS", 100)
    monkeypatch.setattr(sources, "BLOCK_ROWS", 384)
    scores, found = whole.decision_function(X), stream.fit(blocks_of(100, X, y)).decision_function(X)
    assert np.abs(found - scores).max() <= 1e-6 * np.abs(scores).max()


@pytest.mark.usefixtures("small_blocks")
def test_weights_and_empty_blocks(rows, rng):
    X, y = rows
    weight = rng.integers(0, 3, len(y)) * 1.0
    blocks = blocks_of(250, X, y, weight)
    blocks.insert(1, (X[:0], y[:0], weight[:0]))
    blocks.append((X[:5], y[:5], np.zeros(5)))
    found, expected = stream.fit(blocks), LTCNClassifier().fit(X, y, sample_weight=weight)
    same(found, expected, X)
    assert (found.relevance() == expected.relevance()).all()
    assert str(found.diagnose(X)) == str(expected.diagnose(X))


@pytest.mark.usefixtures("small_blocks")
def test_fractional_weights_keep_the_contract(rows, rng):
    """Their sums depend on the order, so knots may differ in the last digit."""
    X, y = rows
    weight = rng.uniform(0.2, 2.0, len(y))
    scores = LTCNClassifier().fit(X, y, sample_weight=weight).decision_function(X)
    found = stream.fit(blocks_of(250, X, y, weight)).decision_function(X)
    assert np.abs(found - scores).max() <= 1e-6 * np.abs(scores).max()


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.filterwarnings("ignore::cogmap.NoInformationWarning")
def test_constant_features_say_no_more_than_the_priors(rows):
    _, y = rows
    X = np.ones((len(y), 2))
    found, expected = stream.fit(blocks_of(250, X, y)), LTCNClassifier().fit(X, y)
    np.testing.assert_allclose(found.predict_proba(X[:1]), expected.predict_proba(X[:1]), rtol=1e-12)
    assert found.class_count_.tolist() == expected.class_count_.tolist()


@pytest.mark.usefixtures("small_blocks")
def test_names_and_a_class_in_the_last_block_only(rows):
    X, y = rows
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    y = pd.Series(y).where(np.arange(len(y)) < 500, "rare")
    found = stream.fit(lambda: iter(blocks_of(300, frame, y)))
    expected = LTCNClassifier().fit(frame, y)
    same(found, expected, frame)
    assert found.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    assert found.classes_.tolist() == ["high", "low", "middle", "rare"]


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("kind", ["parquet", "folder", "csv", "csv.gz", "feather"])
def test_files(kind, rows, tmp_path):
    X, y = rows
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"]).assign(kind=y, count=1 + np.arange(len(y)) % 2)
    path = tmp_path / f"rows.{kind}"
    if kind == "parquet":
        frame.to_parquet(path, row_group_size=280)
    elif kind == "folder":
        path.mkdir()
        frame[:320].to_parquet(path / "1.parquet")
        frame[320:].to_parquet(path / "2.parquet")
    elif kind == "feather":
        frame.to_feather(path)
    else:
        frame.to_csv(path, index=False)
    found, X = stream.fit(path, target="kind", weight="count", block_rows=100), frame[list("abcd")]
    same(found, LTCNClassifier().fit(X, y, sample_weight=frame["count"]), X)


@pytest.mark.usefixtures("small_blocks")
def test_progress_is_told_for_each_pass(rows):
    told = []
    stream.fit(blocks_of(300, *rows), progress=told.append)
    last = {one.number: one for one in told}  # a pass that takes long tells more often
    assert list(last) == list(range(1, len(last) + 1))
    assert last.pop(1).n_rows is None
    assert all(one.rows == one.n_rows == N_ROWS and one.seconds_left == 0 for one in last.values())


def test_progress_on_stderr(rows, capsys):
    stream.fit(blocks_of(300, *rows), progress=True)
    assert re.fullmatch(rf"pass 1: {N_ROWS} rows in \d+ s\n", capsys.readouterr().err)
    stream.fit(blocks_of(300, *rows))
    assert capsys.readouterr().err == ""


def test_what_cannot_be_streamed_is_refused_in_one_sentence(rows, tmp_path):
    X, y = rows
    with pytest.raises(TypeError, match="generator can be passed over once only"):
        stream.fit(block for block in blocks_of(300, X, y))
    with pytest.raises(TypeError, match="fits an LTCNClassifier or an LTCNClassifierCV, not DummyClassifier"):
        stream.fit([(X, y)], DummyClassifier())
    with pytest.raises(ValueError, match="no rows"):
        stream.fit([])
    with pytest.raises(ValueError, match="one class"):
        stream.fit([(X, np.zeros(len(X)))])
    with pytest.raises(ValueError, match="same columns"):
        stream.fit([(X, y), (X[:, :2], y)])
    with pytest.raises(ValueError, match="NaN in column 2"):
        stream.fit([(np.where(np.arange(4) == 2, np.nan, X), y)])
    with pytest.raises(ValueError, match="no numbers in column 1"):
        stream.fit([(np.array([[1, "a"], [2, "b"]], dtype=object), ["u", "v"])])
    with pytest.raises(ValueError, match="the class is missing in 1 row, the first is row 1"):
        stream.fit([(X[:3], np.array(["u", None, "v"], dtype=object))])
    with pytest.raises(ValueError, match="Weights must be"):
        stream.fit([(X, y, -np.ones(len(y)))])
    with pytest.raises(DataFileError, match="no file"):
        stream.fit(tmp_path / "absent.parquet", target="y")
    pd.DataFrame({"a": ["u", "v"], "y": [0, 1]}).to_parquet(tmp_path / "text.parquet")
    with pytest.raises(ValueError, match="target="):
        stream.fit(tmp_path / "text.parquet")
    with pytest.raises(DataFileError, match="no column 'z'"):
        stream.fit(tmp_path / "text.parquet", target="z")
    with pytest.raises(DataFileError, match=r"'a' holds .*string, not numbers"):
        stream.fit(tmp_path / "text.parquet", target="y")


@pytest.mark.usefixtures("small_blocks")
def test_rows_that_change_between_passes_and_readouts_that_need_all_rows_are_refused(rows):
    X, y = rows
    lengths = iter([N_ROWS, 500])

    def changing():
        n = next(lengths, 500)
        return iter(blocks_of(300, X[:n], y[:n]))

    with pytest.raises(ValueError, match="same rows each time"):
        stream.fit(changing)
    with pytest.raises(ValueError, match="cases=False"):
        stream.fit(blocks_of(300, X, y), LTCNClassifier(cases=True))


@pytest.mark.usefixtures("small_blocks")
def test_the_source_is_read_twice(rows):
    X, y = rows
    reads = []

    def start():
        reads.append("read")
        return iter(blocks_of(300, X, y))

    stream.fit(start, LTCNClassifier(max_iter=3))
    assert reads == ["read", "read"]


def test_a_bad_value_is_named_by_its_row_in_the_whole_source(rows):
    X, y = rows
    X = X.copy()
    X[507, 2] = np.inf
    with pytest.raises(ValueError, match=r"infinity \(inf\) in column 2, row 507"):
        stream.fit(blocks_of(250, X, y))


def test_a_weight_beyond_arithmetic_is_named_by_its_row_in_all_blocks(rows):
    X, y = rows
    weight = np.ones(len(y))
    weight[450] = 1e40
    with pytest.raises(ValueError, match=r"sample_weight is 1e\+40 in row 450: weights count rows"):
        stream.fit(blocks_of(250, X, y, weight))


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("bent", [True, False])
def test_many_rows_are_remembered_with_the_terms_that_err_less(bent, rng):
    """A class of the middle of each feature is one of terms; a wave along a diagonal is not."""
    X = rng.random((900, 3))
    y = (np.abs(X - 0.5) < 0.25).sum(axis=1) if bent else (np.sin(12 * (X[:, 0] + X[:, 1])) > 0).astype(int)
    errors = {}
    for terms in (None, 5):
        found = LTCNClassifierCV(inner="slopes", terms=terms, pairs=False, combine="best").fit(X, y)
        errors[terms] = -found.cv_results_["loo_squared_error"][-1]
    found = LTCNClassifierCV(inner="slopes", pairs=False, combine="best").fit(X, y)
    assert found.cv_results_["param_terms"][-1] == min(errors, key=lambda terms: errors[terms])
    assert found.cv_results_["loo_squared_error"][-1] == pytest.approx(-min(errors.values()), abs=1e-9)
