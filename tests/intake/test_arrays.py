"""Arrays of other libraries against numpy: the same model, and results where the rows are.

array-api-strict allows what the standard says and nothing else; its ``device1`` cannot be read by numpy by accident.
"""

from functools import partial

import array_api_strict
import numpy as np
import pytest
import sklearn

from cogmap import Knowledge, LTCNClassifier, LTCNClassifierCV, load
from cogmap.core.readout import ridge
from cogmap.core.sums import space as spaces
from cogmap.core.sums.space import Space
from cogmap.errors import IllConditionedWarning
from cogmap.intake import blocks

CONTRACT = 1e-6


class Strict:
    """array-api-strict on a device of its own."""

    def __init__(self, name="device1"):
        self.device = array_api_strict.Device(name)

    def put(self, array):
        return array_api_strict.asarray(np.array(array), device=self.device)

    def host(self, array):
        assert isinstance(array, type(self.put(np.ones(1))))
        assert array.device == self.device
        return np.asarray(array_api_strict.asarray(array, device=array_api_strict.Device("CPU_DEVICE")))


class Torch:
    """Torch on a CPU, or on a GPU where there is one."""

    def __init__(self, device="cpu"):
        self.device = device

    def put(self, array):
        torch = pytest.importorskip("torch", reason="torch is too large for CI")
        if self.device == "cuda" and not torch.cuda.is_available():
            pytest.skip("there is no GPU")
        return torch.asarray(np.array(array), device=self.device)

    def host(self, array):
        given = self.put(np.ones(1))
        assert isinstance(array, type(given))
        assert array.device == given.device
        return array.cpu().numpy()


class Cupy:
    """CuPy, which needs a GPU."""

    def put(self, array):
        return pytest.importorskip("cupy", reason="there is no CuPy, which needs a GPU").asarray(np.array(array))

    def host(self, array):
        assert isinstance(array, type(self.put(np.ones(1))))
        return array.get()


@pytest.fixture(params=[Strict, Torch, partial(Torch, "cuda"), Cupy], ids=["strict", "torch", "cuda", "cupy"])
def library(request):
    found = request.param()
    found.put(np.ones(1))  # skips before anything is computed
    return found


@pytest.fixture(autouse=True)
def dispatch(monkeypatch):
    """Let scikit-learn dispatch, which asks whether scipy would."""
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    with sklearn.config_context(array_api_dispatch=True):
        yield


@pytest.fixture
def many(monkeypatch):
    """Let 100 rows be many."""
    monkeypatch.setattr(blocks, "MOST_ROWS", 100)


@pytest.fixture
def rows(rng):
    n = 600
    X = rng.normal(size=(n, 4)) @ rng.normal(size=(4, 4))
    X[:, 1] = X[:, 1].round()
    X[:, 3] = rng.integers(0, 3, n)
    signal = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] / 4 + rng.normal(size=n) / 2
    return X, np.digitize(signal, [-1.0, 0.5])


def agree(found, expected, X, library, *, same_basis=True):
    """Assert that a model from a device is the one that numpy fits, from innovations of the same sample of the rows."""
    for one, other in zip(found.fitted_.networks, expected.fitted_.networks, strict=True):
        for a, b in zip(one.concepts.scaling.values, other.concepts.scaling.values, strict=True):
            assert (a == b).all()
        for a, b in zip(one.concepts.scaling.heights, other.concepts.scaling.heights, strict=True):
            np.testing.assert_allclose(a, b, rtol=0, atol=0 if expected.class_weight is None else 1e-14)
        np.testing.assert_allclose(one.network.weights, other.network.weights, rtol=1e-8, atol=1e-12)
    assert found.n_iter_ == expected.n_iter_
    assert (found.classes_ == expected.classes_).all()
    assert (found.class_count_ == expected.class_count_).all()
    assert found.degrees_of_freedom_ == pytest.approx(expected.degrees_of_freedom_, rel=1e-5)
    assert found.condition_ == pytest.approx(expected.condition_, rel=1e-5 if same_basis else 0.1)
    scores = expected.decision_function(X)
    close = CONTRACT * np.abs(scores).max()
    # Fitted there and predicted there, fitted there and predicted by numpy, fitted by numpy and predicted there.
    for there in (
        library.host(found.decision_function(library.put(X))),
        found.decision_function(X),
        library.host(expected.decision_function(library.put(X))),
    ):
        np.testing.assert_allclose(there, scores, rtol=0, atol=close)
    probability = library.host(found.predict_proba(library.put(X)))
    np.testing.assert_allclose(probability, expected.predict_proba(X), rtol=0, atol=1e-5)
    labels = expected.predict(X)
    assert (library.host(found.predict(library.put(X))) == labels).all()
    if not expected.fitted_.decision.shift.any():
        assert (expected.classes_[probability.argmax(axis=1)] == labels).all()


PARAMETERS = [
    {},
    {"alpha": 1.0},
    {"alpha": 1e-7, "max_iter": 6},
    {"inner": "regression", "scaling": "quantile", "max_iter": 5},
    {"scaling": "minmax", "terms": 3, "max_iter": 3, "decision": "argmax"},
    {
        "decision_metric": "balanced_accuracy",
        "activation": "tanh",
        "knowledge": Knowledge().irrelevant("x3").forbid("x0", "x1"),
    },
    {"rule": "kosko", "inner": "stable-regression", "class_weight": "balanced"},
    {"alpha": 10.0, "class_weight": {0: 1.0, 1: 2.5, 2: 0.5}},
]


@pytest.mark.usefixtures("many")
@pytest.mark.parametrize("parameters", PARAMETERS, ids=str)
def test_a_fit_on_a_device_is_that_of_numpy(parameters, library, rows):
    X, y = rows
    expected = LTCNClassifier(**parameters).fit(X, y)
    found = LTCNClassifier(**parameters).fit(library.put(X), library.put(y))
    assert (found.fitted_.summary.rows == expected.fitted_.summary.rows).all()
    agree(found, expected, X, library)


@pytest.mark.usefixtures("many")
@pytest.mark.parametrize("alpha", ["loo", 1.0])
def test_weights_and_collinear_columns(alpha, library, rows, rng):
    """Whole weights, some of them 0; a feature twice, and one that is constant."""
    X, y = rows
    X = np.c_[X, X[:, 0], np.full(len(X), 3.0)]
    weight = rng.integers(0, 4, len(y)) * 1.0
    expected = LTCNClassifier(alpha=alpha, max_iter=6).fit(X, y, weight)
    found = LTCNClassifier(alpha=alpha, max_iter=6).fit(*map(library.put, (X, y, weight)))
    agree(found, expected, X, library)


@pytest.mark.usefixtures("many")
def test_collinear_columns_under_a_regression(library, rows):
    X, y = rows
    X = np.c_[X, X[:, 0] + X[:, 2]]
    parameters = {"inner": "regression", "scaling": "minmax", "max_iter": 4}
    expected = LTCNClassifier(**parameters).fit(X, y)
    agree(LTCNClassifier(**parameters).fit(library.put(X), library.put(y)), expected, X, library)


@pytest.mark.usefixtures("many")
@pytest.mark.parametrize("alpha", ["loo", 1.0])
def test_a_class_of_one_row_and_one_of_weight_0(alpha, library, rows):
    X, y = rows
    y = y.copy()
    y[[5, 9]] = 7, 8
    weight = np.where(y == 8, 0.0, 1.0)
    expected = LTCNClassifier(alpha=alpha).fit(X, y, weight)
    found = LTCNClassifier(alpha=alpha).fit(*map(library.put, (X, y, weight)))
    assert found.classes_.tolist() == [0, 1, 2, 7]
    agree(found, expected, X, library)


@pytest.mark.usefixtures("many")
def test_many_classes_are_no_regression(library, rows):
    """scikit-learn warns where most labels differ, and must not be shown the classes alone."""
    X, _ = rows
    y = np.argsort(np.argsort(X[:, 0])) // 20
    expected = LTCNClassifier(max_iter=3).fit(X, y)
    agree(LTCNClassifier(max_iter=3).fit(library.put(X), library.put(y)), expected, X, library)


@pytest.mark.usefixtures("many")
def test_float32_and_whole_numbers_are_computed_in_float64(library, rows):
    X, y = rows
    for dtype in (np.float32, np.int32, bool):
        given = X.astype(dtype) if dtype is not bool else X > 0
        expected = LTCNClassifier().fit(given.astype(np.float64), y)
        found = LTCNClassifier().fit(library.put(given), library.put(y))
        scores = library.host(found.decision_function(library.put(given)))
        assert scores.dtype == np.float64
        close = CONTRACT * np.abs(scores).max()
        np.testing.assert_allclose(scores, expected.decision_function(given), rtol=0, atol=close)


@pytest.mark.usefixtures("many")
def test_text_stays_in_numpy(library, rows):
    X, y = rows
    words = np.array(["low", "middle", "high"])[y]
    for labels in (words, words.tolist()):
        found = LTCNClassifier().fit(library.put(X), labels)
        predicted = found.predict(library.put(X))
        assert isinstance(predicted, np.ndarray)
        assert (predicted == LTCNClassifier().fit(X, words).predict(X)).all()
    two = LTCNClassifier().fit(library.put(X), library.put(y > 1))
    assert library.host(two.decision_function(library.put(X))).shape == (len(X),)
    assert library.host(two.predict(library.put(X))).dtype == bool
    accuracy = LTCNClassifier().fit(X, y > 1).score(X, y > 1)
    assert two.score(library.put(X), library.put(y > 1)) == pytest.approx(accuracy, rel=1e-6)


@pytest.mark.usefixtures("many")
@pytest.mark.parametrize("alpha", ["loo", 1.0, 1e-7])
def test_other_blocks_and_less_memory_give_the_same(alpha, library, rows, monkeypatch):
    """Within the contract for other blocks; to the bit, if what was kept is computed anew."""
    X, y = rows
    model = LTCNClassifier(alpha=alpha, max_iter=6)
    whole = library.host(model.fit(library.put(X), library.put(y)).decision_function(library.put(X)))
    monkeypatch.setattr(Space, "block_rows", lambda self, width: 250)
    blocks = library.host(model.fit(library.put(X), library.put(y)).decision_function(library.put(X)))
    np.testing.assert_allclose(blocks, whole, rtol=0, atol=CONTRACT * np.abs(whole).max())
    monkeypatch.setattr(Space, "keeps", lambda self, n_bytes: False)
    anew = library.host(model.fit(library.put(X), library.put(y)).decision_function(library.put(X)))
    assert (anew == blocks).all()


def test_a_block_has_the_rows_that_fit_into_a_share_of_the_free_memory(monkeypatch):
    monkeypatch.setattr(spaces, "UNKNOWN_MEMORY", 8e9)
    there = Space(array_api_strict, array_api_strict.Device("device1"))
    assert there.block_rows(1000) == pytest.approx(100_000, abs=1)
    assert there.block_rows(10**9) == spaces.FEWEST_ROWS
    assert there.keeps(2 * 10**9)
    assert not there.keeps(2 * 10**9 + 8)


@pytest.mark.usefixtures("many")
@pytest.mark.parametrize(("alpha", "refines"), [(1.0, False), (1e-7, True)])
@pytest.mark.parametrize("put", [np.asarray, Strict().put], ids=["numpy", "device"])
def test_a_small_penalty_takes_a_second_pass(put, alpha, refines, rows, monkeypatch):
    X, y = map(put, rows)
    passes = []
    solve = ridge.solve
    monkeypatch.setattr(ridge, "solve", lambda *given: passes.append(1) or solve(*given))
    LTCNClassifier(alpha=alpha, max_iter=6).fit(X, y)
    assert len(passes) == refines


@pytest.mark.parametrize(
    "parameters",
    [{}, {"alpha": 1.0}, {"cases": True}, {"readout": "final"}, {"alpha": 0.0, "max_iter": 2, "scaling": "minmax"}],
    ids=str,
)
def test_few_rows_are_fitted_by_numpy_to_the_bit(parameters, library, rows):
    X, y = (array[:300] for array in rows)
    expected = LTCNClassifier(**parameters).fit(X, y)
    found = LTCNClassifier(**parameters).fit(library.put(X), library.put(y))
    assert (found.decision_function(X) == expected.decision_function(X)).all()
    agree(found, expected, X, library)


@pytest.mark.usefixtures("many")
def test_what_needs_all_rows_is_fitted_by_numpy(library, rows):
    X, y = rows
    found = LTCNClassifier(readout="final").fit(library.put(X), library.put(y))
    assert (found.decision_function(X) == LTCNClassifier(readout="final").fit(X, y).decision_function(X)).all()


@pytest.mark.parametrize("cases", ["auto", False])
def test_tuning_is_that_of_numpy_and_predicts_on_the_device(cases, library, rows):
    X, y = (array[:250] for array in rows)
    expected = LTCNClassifierCV(max_iter=5, cases=cases).fit(X, y)
    found = LTCNClassifierCV(max_iter=5, cases=cases).fit(library.put(X), library.put(y))
    assert found.best_params_ == expected.best_params_
    assert (found.decision_function(X) == expected.decision_function(X)).all()
    agree(found, expected, X, library)


@pytest.mark.usefixtures("many")
@pytest.mark.parametrize(
    "parameters",
    [{}, {"combine": "best", "scoring": "kappa", "terms": [None, 3]}, {"decision": "argmax", "scoring": "log_loss"}],
    ids=str,
)
def test_tuning_on_a_device_is_that_of_numpy(parameters, library, rows, rng):
    """Though numpy holds all rows at once, and a device goes through blocks."""
    X, y = rows
    weight = rng.integers(0, 3, len(y)) * 1.0
    expected = LTCNClassifierCV(max_iter=5, cases=False, **parameters).fit(X, y, weight)
    found = LTCNClassifierCV(max_iter=5, cases=False, **parameters).fit(*map(library.put, (X, y, weight)))
    assert found.best_params_ == expected.best_params_
    for name in ("loo_squared_error", "loo_error", "loo_kappa", "loo_log_loss", "stack_weight"):
        np.testing.assert_allclose(found.cv_results_[name], expected.cv_results_[name], rtol=1e-5, atol=1e-6)
    agree(found, expected, X, library, same_basis=False)


@pytest.mark.usefixtures("many")
def test_the_rest_of_the_library_takes_the_arrays_and_answers_in_numpy(library, rows, tmp_path):
    X, y = rows
    there, labels = library.put(X[:20]), library.put(y[:20])
    found = LTCNClassifier(max_iter=4).fit(library.put(X), library.put(y))
    assert (found.trajectory(there) == found.trajectory(X[:20])).all()
    assert (found.explain(there).scores == found.explain(X[:20]).scores).all()
    assert (found.relevance(there) == found.relevance(X[:20])).all()
    assert str(found.diagnose(there)) == str(found.diagnose(X[:20]))
    assert found.compare(found, there, labels).n_rows == 20
    loaded = load(found.save(tmp_path / "model.cogmap"))
    assert (library.host(loaded.predict(there)) == found.predict(X[:20])).all()
    batch = LTCNClassifier(alpha=1.0).partial_fit(library.put(X), library.put(y))
    assert (batch.predict(X) == LTCNClassifier(alpha=1.0).partial_fit(X, y).predict(X)).all()


def test_arrays_in_several_places_are_refused(rows):
    X, y = rows
    here, there = Strict("device1"), Strict("device2")
    sentence = "give all of them in one library and on one device"
    for given in (
        (here.put(X), there.put(y)),
        (here.put(X), y),
        (X, here.put(y)),
        (here.put(X), here.put(y), np.ones(len(y))),
        (here.put(X), here.put(y), there.put(np.ones(len(y)))),
    ):
        for model in (LTCNClassifier(), LTCNClassifierCV()):
            with pytest.raises(ValueError, match=sentence):
                model.fit(*given)
    with pytest.raises(ValueError, match=sentence):
        LTCNClassifier(alpha=1.0).partial_fit(here.put(X), y)


def test_torch_beside_another_library_is_refused(rows):
    X, y = rows
    with pytest.raises(ValueError, match="X is an array of torch on cpu and y one of array_api_strict"):
        LTCNClassifier().fit(Torch().put(X), Strict().put(y))


def test_without_the_dispatch_a_tensor_is_an_array_like(rows):
    torch = pytest.importorskip("torch", reason="torch is too large for CI")
    X, y = (array[:300] for array in rows)
    expected = LTCNClassifier().fit(X, y)
    with sklearn.config_context(array_api_dispatch=False):
        found = LTCNClassifier().fit(torch.asarray(X), torch.asarray(y))
        scores = found.decision_function(torch.asarray(X))
    assert isinstance(scores, np.ndarray)
    assert (scores == expected.decision_function(X)).all()


@pytest.mark.usefixtures("many")
def test_a_tensor_that_asks_for_gradients_gets_none(rows):
    X, y = map(Torch().put, rows)
    found = LTCNClassifier(max_iter=3).fit(X.requires_grad_(), y)
    assert not found.decision_function(X).requires_grad


@pytest.mark.usefixtures("many")
def test_bad_input_gets_one_sentence(library, rows):
    X, y = rows
    put, fit = library.put, LTCNClassifier().fit
    holed = X.copy()
    holed[3, 2] = np.nan
    with pytest.raises(ValueError, match="NaN in column 2"):
        fit(put(holed), put(y))
    with pytest.raises(ValueError, match=r"its shape is \(600,\)"):
        fit(put(X[:, 0]), put(y))
    with pytest.raises(ValueError, match="give real numbers"):
        fit(put(X.astype(complex)), put(y))
    for model in (LTCNClassifier(), LTCNClassifierCV()):
        with pytest.raises(ValueError, match=f"{type(model).__name__} requires y"):
            model.fit(put(X), None)
    words = np.array(["low", "high"], dtype=object)[y % 2]
    words[3] = np.nan
    with pytest.raises(ValueError, match="the class is missing in 1 row, the first is row 3"):
        fit(put(X), words)
    with pytest.raises(ValueError, match=r"y has shape \(7,\)"):
        fit(put(X), put(y[:7]))
    with pytest.raises(ValueError, match="one class"):
        fit(put(X), put(np.zeros(len(y))))
    with pytest.raises(ValueError, match="y contains NaN"):
        fit(put(X), put(np.where(y == 0, np.nan, y)))
    with pytest.raises(ValueError, match="Unknown label type"):
        fit(put(X), put(X[:, 0]))
    with pytest.raises(ValueError, match="600 finite numbers, 0 or larger"):
        fit(put(X), put(y), put(-np.ones(len(y))))
    with pytest.raises(ValueError, match="scaling=None needs data in"):
        LTCNClassifier(scaling=None).fit(put(X), put(y))
    with pytest.raises(ValueError, match="expecting 4 features"):
        fit(put(X), put(y)).predict(put(X[:, :3]))


def test_a_device_without_float64_is_refused(rows):
    X, y = rows
    there = Strict("no_float64")
    with pytest.raises(ValueError, match="has no float64"):
        LTCNClassifier().fit(there.put(X.astype(np.float32)), there.put(y))


@pytest.mark.usefixtures("many")
def test_an_ill_conditioned_ridge_warns_there_too(rows):
    X, y = map(Strict().put, rows)
    with pytest.warns(IllConditionedWarning):
        LTCNClassifier(alpha=1e-22).fit(X, y)
