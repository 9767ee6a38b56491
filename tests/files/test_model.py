import json
import pickle
import subprocess
import sys
import threading
from dataclasses import fields, is_dataclass, replace
from hashlib import sha256
from itertools import cycle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.special import softmax
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import NotFittedError

import cogmap
from cogmap import LTCNClassifier, LTCNClassifierCV, ModelFileError
from cogmap.core.curves.pairs import PairReadout
from cogmap.core.readout.ridge import IncrementReadout
from cogmap.core.readout.shrunken import ShrunkReadout
from cogmap.core.readout.states import StateReadout
from cogmap.core.resemblance.cases import CaseReadout
from cogmap.estimators import loading
from cogmap.files.model import estimators, metadata, values
from tests import own_metrics, reader

pytestmark = pytest.mark.filterwarnings("ignore::cogmap.IllConditionedWarning")
FILES = Path(__file__).parent


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True, as_frame=True)


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


def parts(value, path=""):
    """Yield every number, text and array that an object is made of; of arrays the bytes and the order in memory."""
    if isinstance(value, np.ndarray) and value.dtype == object:
        yield path, value.shape, [list(parts(entry)) for entry in value.ravel()]
    elif isinstance(value, np.ndarray):
        order = value.ndim == 2 and value.strides[0] < value.strides[1] and not value.flags.c_contiguous
        yield path, value.dtype, value.shape, order, value.tobytes()
    elif is_dataclass(value):
        yield path, type(value)
        for field in fields(value):
            if field.name == "memory":  # what was computed once is remembered, and not saved
                continue
            yield from parts(getattr(value, field.name), f"{path}.{field.name}")
    elif isinstance(value, (list, tuple, dict)):
        yield path, type(value), len(value)
        for key, entry in value.items() if isinstance(value, dict) else enumerate(value):
            yield from parts(entry, f"{path}.{key}")
    else:
        yield path, type(value), value


def assert_same(loaded, model, X):
    """Assert that two estimators have the same attributes and predictions, to the last bit; all else follows."""
    assert type(loaded) is type(model)
    found, expected = ({entry[0]: entry for entry in parts(vars(each))} for each in (loaded, model))
    assert found.keys() == expected.keys()
    for path, entry in expected.items():
        assert found[path] == entry, path
    for name in ("inner_weights_", "inner_bias_", "outer_weights_", "outer_bias_", "n_iter_", "condition_"):
        assert list(parts(getattr(loaded, name))) == list(parts(getattr(model, name))), name
    for method in ("decision_function", "predict_proba", "predict", "trajectory"):
        ours, theirs = getattr(loaded, method)(X), getattr(model, method)(X)
        assert ours.dtype == theirs.dtype
        assert ours.tobytes() == theirs.tobytes() or (ours.dtype == object and list(ours) == list(theirs))


MODELS = {
    "innovations": (LTCNClassifier(), ShrunkReadout),
    "terms": (LTCNClassifier(terms=3, activation="tanh", max_iter=4), IncrementReadout),
    "cases": (LTCNClassifier(cases=True, class_weight="balanced"), CaseReadout),
    "increments": (LTCNClassifier(alpha=0.5, class_weight={0: 2.0}), IncrementReadout),
    "states": (LTCNClassifier.paper(max_iter=2), StateReadout),
    "final": (LTCNClassifier(readout="final", scaling="quantile"), StateReadout),
    "memory": (LTCNClassifier(rule="kosko-memory", decision_metric="balanced_accuracy"), ShrunkReadout),
    "given": (LTCNClassifier(inner=np.eye(13)[::-1] * 0.1), ShrunkReadout),
    "given as list": (LTCNClassifier(inner=(np.eye(13) * 0.1).tolist(), alpha=np.float32(2)), IncrementReadout),
    "linear": (LTCNClassifier(phi=0, max_iter=0), ShrunkReadout),
}


@pytest.mark.parametrize("name", MODELS)
def test_every_readout_comes_back_to_the_last_bit(name, wine, tmp_path):
    model, readout = MODELS[name]
    X, y = wine[0].iloc[::2], wine[1].iloc[::2]
    model = clone(model).fit(X, y, sample_weight=1 + np.arange(len(y)) % 3)
    assert type(model.fitted_.members[0][0].readout) is readout
    path = model.save(tmp_path / "model.cogmap")
    model.set_params(alpha=model.alpha if isinstance(model.alpha, str) else float(model.alpha))
    loaded = cogmap.load(path)
    assert_same(loaded, model, wine[0])
    assert str(loaded.diagnose(X)) == str(model.diagnose(X))


TUNED = {
    "default": LTCNClassifierCV(),
    "grids": LTCNClassifierCV(phi=(0.5, 0.9), inner="slopes", terms=[None, 3], max_iter=range(3, 6, 2)),
    "pairs": LTCNClassifierCV(inner="slopes", max_iter=3, cases=False, activation="tanh"),
    "best": LTCNClassifierCV(combine="best", cases=False, scoring="kappa"),
    "given": LTCNClassifierCV(inner=[np.eye(13) * 0.1, "slopes"], max_iter=3),
}


@pytest.mark.parametrize("name", TUNED)
def test_stacks_come_back_to_the_last_bit(name, wine, tmp_path):
    model = clone(TUNED[name]).fit(wine[0].iloc[::2], wine[1].iloc[::2])
    loaded = cogmap.load(model.save(tmp_path / "model.cogmap"))
    assert_same(loaded, model, wine[0])
    assert loaded.cv_results_["stack_weight"].sum() > 0
    if name == "best":
        assert loaded.relevance().tobytes() == model.relevance().tobytes()


@pytest.fixture
def shared(wine, monkeypatch):
    """Return a stack of one network that is read three times, without cases and with those of both distances."""
    monkeypatch.setattr("cogmap.estimators.tuned.stack_weights", lambda members: np.full(len(members), 0.5))
    return LTCNClassifierCV(inner="slopes", max_iter=3, terms=None, pairs=False).fit(*wine)


def test_members_that_share_a_network_share_it_again(shared, wine, tmp_path):
    model = shared
    loaded = cogmap.load(model.save(tmp_path / "model.cogmap"))
    for each in (model, loaded):
        first, *others = (member for member, _ in each.fitted_.members)
        assert [other.readout.metric.distance for other in others] == ["straight", "axes"]
        assert all(other.network is first.network for other in others)
        assert all(other.concepts is first.concepts for other in others)
        assert len(each.fitted_.networks) == 1
        assert each.fitted_.networks[0] is first
    assert_same(loaded, model, wine[0])


@pytest.mark.parametrize("heard", ["straight", "squared"])
def test_metrics_of_regions_come_back_to_the_last_bit(heard, tmp_path):
    model, X, _ = own_metrics.fitted_stack(heard)
    path = model.save(tmp_path / "model.cogmap")
    assert_same(cogmap.load(path), model, X)
    found = np.diff(reader.scores(reader.read(path), X))[:, 0]
    expected = model.decision_function(X)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6 * np.abs(expected).max())


@pytest.mark.filterwarnings("ignore::cogmap.errors.IllConditionedWarning")
@pytest.mark.filterwarnings("ignore::cogmap.errors.UnreliableRelevanceWarning")
@pytest.mark.filterwarnings("ignore::cogmap.errors.NoInformationWarning")
@settings(max_examples=40)
@given(
    phi=st.floats(0, 1),
    max_iter=st.integers(0, 5),
    activation=st.sampled_from(["sigmoid", "tanh"]),
    alpha=st.sampled_from(["loo", 0, 0.0, 0.3, 1e-9]),
    inner=st.sampled_from(["slopes", "regression", "stable-regression", "correlation"]),
    rule=st.sampled_from(["quasi-nonlinear", "kosko", "kosko-memory"]),
    readout=st.sampled_from(["trajectory", "final"]),
    decision=st.sampled_from(["discriminant", "argmax"]),
    scaling=st.sampled_from(["halfway", "quantile", "minmax"]),
    terms=st.sampled_from([None, 3, 5]),
    cases=st.booleans(),
    tol=st.sampled_from([0, 1e-12, 1e-3, 1e300]),
    n_columns=st.integers(0, 4),
)
# Increments that are no more than the smallest numbers there are.
@example(
    phi=2.2250738585072014e-308, max_iter=1, activation="sigmoid", alpha="loo", inner="slopes", rule="quasi-nonlinear",
    readout="trajectory", decision="discriminant", scaling="halfway", terms=None, cases=False, tol=0, n_columns=1,
)  # fmt: skip
def test_every_setting_comes_back_to_the_last_bit(tmp_path_factory, n_columns, **chosen):
    X, y = load_iris(return_X_y=True)
    X = np.c_[X[:, :n_columns], np.ones(len(X))]
    chosen["cases"] &= chosen["alpha"] == "loo" and chosen["readout"] == "trajectory" and n_columns > 0
    model = LTCNClassifier(**chosen).fit(X[::4], y[::4])
    path = model.save(tmp_path_factory.mktemp("setting") / "model.cogmap")
    assert_same(cogmap.load(path), model, X)


LABELS = {
    "int": np.array([-3, 0, 2**40]),
    "int8": np.array([-3, 0, 100], dtype=np.int8),
    "uint64": np.array([1, 2, 2**64 - 1], dtype=np.uint64),
    "bool": np.array([False, True, True]),
    "float": np.array([-1.0, 0.0, 3.0]),
    "float32": np.array([1.0, 2.0, 3.0], dtype=np.float32),
    "text": np.array(["setosa", "naïve 🌸", ""]),
    "objects": np.array(["a", "b", "naïve 🌸"], dtype=object),
}


@pytest.mark.parametrize("name", LABELS)
def test_labels_keep_their_type(name, iris, tmp_path):
    X, y = iris
    model = LTCNClassifier(max_iter=2).fit(X, LABELS[name][y])
    loaded = cogmap.load(model.save(tmp_path / "model.cogmap"))
    assert loaded.classes_.dtype == model.classes_.dtype
    assert_same(loaded, model, X)


def test_half_a_character_is_no_label_of_a_file(iris, tmp_path):
    X, y = iris
    model = LTCNClassifier(max_iter=2).fit(X, np.array(["a", "b", "\ud800"], dtype=object)[y])
    with pytest.raises(ModelFileError, match=r"holds half a character, a lone surrogate: .*\\ud800'"):
        model.save(tmp_path / "model.cogmap")
    assert list(tmp_path.iterdir()) == []


def test_labels_of_another_type_are_named(iris, tmp_path):
    X, y = iris
    model = LTCNClassifier(max_iter=2).fit(X, y)
    model.classes_ = np.array(["2020", "2021", "2022"], dtype="datetime64[Y]")
    with pytest.raises(ModelFileError, match=r"classes of dtype datetime64\[Y\] cannot be stored: use text or numbers"):
        model.save(tmp_path / "model.cogmap")


def test_feature_names_come_back(iris, tmp_path):
    X = pd.DataFrame(iris[0], columns=["längd", "<script>", 'quote"\\', "長さ 🌸"])
    model = LTCNClassifier(max_iter=2).fit(X, iris[1])
    loaded = cogmap.load(model.save(tmp_path / "model.cogmap"))
    assert list(loaded.feature_names_in_) == list(X.columns) == list(loaded.concept_names_)
    with pytest.raises(ValueError, match="feature names should match"):
        loaded.predict(X[X.columns[::-1]])


def test_a_loaded_estimator_is_an_ordinary_one(wine, tmp_path):
    X, y = wine[0][::3], wine[1][::3]
    model = LTCNClassifierCV(phi=(0.5, 0.8), max_iter=3, class_weight={0: 1.0, 1: 2.0, 2: 1.0}).fit(X, y)
    loaded = cogmap.load(model.save(tmp_path / "model.cogmap"))
    assert loaded.get_params() == model.get_params()
    again = clone(loaded).fit(X, y)
    assert again.decision_function(X).tobytes() == model.decision_function(X).tobytes()
    assert_same(pickle.loads(pickle.dumps(loaded)), model, X)


def test_the_same_model_gives_the_same_file(wine, tmp_path):
    model = LTCNClassifierCV(max_iter=3).fit(*wine)
    content = [model.save(tmp_path / f"{i}.cogmap").read_bytes() for i in range(2)]
    third = cogmap.load(tmp_path / "0.cogmap").save(tmp_path / "2.cogmap").read_bytes()
    assert content[0] == content[1] == third


def test_the_same_bits_in_another_process(wine, tmp_path):
    X, y = wine[0][::2], wine[1][::2]
    model = LTCNClassifierCV().fit(X, y)
    model.save(tmp_path / "model.cogmap")
    np.save(tmp_path / "rows.npy", X.to_numpy())
    code = (
        "import sys, warnings; warnings.simplefilter('ignore'); import numpy as np, cogmap; "
        "print(cogmap.load(sys.argv[1]).decision_function(np.load(sys.argv[2])).tobytes().hex())"
    )
    arguments = [sys.executable, "-c", code, tmp_path / "model.cogmap", tmp_path / "rows.npy"]
    found = subprocess.run(arguments, capture_output=True, text=True, check=True).stdout
    assert found.strip() == model.decision_function(X).tobytes().hex()


# The file


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("name", ["stack", "innovations", "increments", "states"])
def test_the_format_suffices_to_predict(name, version):
    """A reader made from docs/files.md alone finds the scores that the model had when it was saved."""
    document = json.loads((FILES / f"format-{version}.json").read_text())
    expected = np.array(document["expected"][name]["scores"])
    found = reader.scores(reader.read(FILES / f"format-{version}-{name}.cogmap"), np.array(document["rows"]))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6 * np.abs(expected).max())


def test_the_format_suffices_to_predict_by_both_distances(shared, wine, tmp_path):
    found = reader.scores(reader.read(shared.save(tmp_path / "model.cogmap")), wine[0].to_numpy()[:20])
    expected = shared.decision_function(wine[0][:20])
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6 * np.abs(expected).max())


def test_metadata_tell_where_a_model_comes_from(wine, tmp_path):
    data = tmp_path / "wine.csv"
    wine[0].to_csv(data)
    model = LTCNClassifier(max_iter=2).fit(*wine)
    found = metadata(model.save(tmp_path / "model.cogmap", data=data))
    assert found["format"] == cogmap.files.model.document.FORMAT
    assert found["library"] == f"cogmap {cogmap.__version__}"
    assert found["data_sha256"] == sha256(data.read_bytes()).hexdigest()
    assert found["model"]["parameters"]["max_iter"] == 2
    assert metadata(model.save(tmp_path / "model.cogmap"))["data_sha256"] is None


def test_a_failed_save_leaves_the_old_file_alone(wine, tmp_path, monkeypatch):
    path = LTCNClassifier(max_iter=2).fit(*wine).save(tmp_path / "model.cogmap")
    before = path.read_bytes()
    model = LTCNClassifier(max_iter=3).fit(*wine)
    model.fitted_ = replace(model.fitted_, constant=np.array([0.0, np.nan, 0.0]))
    with pytest.raises(ModelFileError, match="_constant must be an array of finite numbers"):
        model.save(path)
    model.class_weight = {frozenset(): 1.0}
    with pytest.raises(ModelFileError, match=r"class_weight\.dict\.0 is a frozenset, which no file can hold"):
        model.save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_one_network_has_one_map_to_its_concepts(shared, tmp_path):
    (first, _), (second, weight), _ = shared.fitted_.members
    other = replace(second, concepts=replace(first.concepts)), weight
    shared.fitted_ = replace(shared.fitted_, members=(shared.fitted_.members[0], other))
    with pytest.raises(ModelFileError, match="two maps from features to the concepts of one network"):
        shared.save(tmp_path / "model.cogmap")


def test_only_known_fitted_estimators_are_saved(wine, tmp_path):
    class Mine(LTCNClassifier):
        pass

    with pytest.raises(NotFittedError):
        LTCNClassifier().save(tmp_path / "model.cogmap")
    with pytest.raises(ModelFileError, match="a Mine is none of the estimators that a file holds: LTCNClassifier, "):
        Mine(max_iter=2).fit(*wine).save(tmp_path / "model.cogmap")


def test_the_extra_is_named(wine, tmp_path, monkeypatch):
    model = LTCNClassifier(max_iter=2).fit(*wine)
    monkeypatch.setitem(sys.modules, "safetensors", None)
    with pytest.raises(ImportError, match=r'pip install "cogmap\[files\]"'):
        model.save(tmp_path / "model.cogmap")


class Outer(BaseEstimator):
    """An estimator around a classifier."""

    def __init__(self, classifier=None):
        self.classifier = classifier

    def fit(self, X, y):
        self.classifier_ = clone(self.classifier).fit(X, y)
        self.columns_ = [{"name": "colour", "categories": ("red", None), "fill": 1.5}]
        return self


def test_an_estimator_around_a_classifier_is_stored_the_same_way(wine, tmp_path, monkeypatch):
    layout = (
        estimators.Field("classifier_", estimators.Estimator(("LTCNClassifier",))),
        estimators.Field("columns_", values.Value()),
        estimators.Field("summary_", values.Value(), optional=True),
    )
    monkeypatch.setitem(values.ESTIMATORS, "Outer", __name__)
    monkeypatch.setitem(loading.CLASSES, "Outer", Outer)
    as_they_are = estimators.Layout(layout, lambda attributes, parameters, scope: attributes)
    monkeypatch.setitem(estimators.FITTED, "Outer", as_they_are)
    model = Outer(LTCNClassifier(max_iter=2, inner=np.eye(13))).fit(*wine)
    loaded = cogmap.load(cogmap.files.model.save(model, tmp_path / "model.cogmap", check=lambda: None))
    assert loaded.columns_ == model.columns_
    assert_same(loaded.classifier_, model.classifier_, wine[0])
    assert_same(loaded.classifier.fit(*wine), model.classifier_, wine[0])


# Files that change


def test_a_file_that_is_replaced_while_it_is_read_is_one_model_or_the_other(iris, tmp_path):
    """A reader sees the old file or the new one, never parts of both."""
    X, y = iris
    small, large = (LTCNClassifier(max_iter=n).fit(X, y) for n in (0, 3))
    contents = [model.save(tmp_path / "model.cogmap").read_bytes() for model in (small, large)]
    expected = {model.n_iter_: model.decision_function(X).tobytes() for model in (small, large)}
    stop = threading.Event()

    def replace_again_and_again():
        for content in cycle(contents):
            (tmp_path / "next").write_bytes(content)
            (tmp_path / "next").replace(tmp_path / "model.cogmap")
            if stop.is_set():
                return

    writer, seen = threading.Thread(target=replace_again_and_again), set()
    writer.start()
    try:
        for _ in range(40):
            loaded = cogmap.load(tmp_path / "model.cogmap")
            assert loaded.decision_function(X).tobytes() == expected[loaded.n_iter_]
            seen.add(loaded.n_iter_)
    finally:
        stop.set()
        writer.join()
    assert len(seen) == 2


# Old versions


@pytest.mark.parametrize("path", sorted(FILES.glob("*.cogmap")), ids=lambda path: path.stem)
def test_files_of_every_format_are_read(path):
    _, version, name = path.stem.split("-")
    document = json.loads((FILES / f"format-{version}.json").read_text())
    expected = document["expected"][name]
    model = cogmap.load(path)
    rows = pd.DataFrame(document["rows"], columns=document["columns"])
    scores = np.array(expected["scores"])
    if version == "1":  # whose probabilities are the softmax of a multiple of the scores
        fitted = metadata(path)["model"]["fitted"]
        scores = scores * fitted.get("classifier_", {"fitted": fitted})["fitted"]["_decision"]["sharpness"]
    np.testing.assert_allclose(model.decision_function(rows), scores, rtol=0, atol=1e-6 * np.abs(scores).max())
    np.testing.assert_allclose(model.predict_proba(rows), softmax(scores, axis=1), rtol=0, atol=1e-6)
    assert model.predict(rows).tolist() == expected["classes"]


def test_there_is_a_file_of_this_format():
    assert len(list(FILES.glob(f"format-{cogmap.files.model.document.FORMAT}-*.cogmap"))) >= 4


def test_another_reader_finds_the_scores_of_curves_and_surfaces(rng, tmp_path):
    X = rng.uniform(-1, 1, size=(300, 3))
    model = LTCNClassifierCV(inner="slopes", max_iter=2, cases=False).fit(X, X[:, 0] * X[:, 2] > 0)
    assert any(
        isinstance(member.readout, PairReadout) and len(member.readout.pairs) for member, _ in model.fitted_.members
    )
    found = reader.scores(reader.read(model.save(tmp_path / "model.cogmap")), 1.1 * X)
    np.testing.assert_allclose(found, model.fitted_.scores(1.1 * X), rtol=1e-6, atol=1e-6)
