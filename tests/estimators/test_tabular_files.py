"""Models of raw tables in files and in ONNX."""

import numpy as np
import pandas as pd
import pytest

from cogmap import LTCNClassifier, ModelFileError, TabularClassifier, load
from cogmap.estimators.loading import restored
from cogmap.files.model.document import from_document, to_document
from cogmap.files.model.kinds import DTYPES, Arrays


@pytest.mark.parametrize("classifier", [LTCNClassifier(terms=3), None])
def test_a_saved_model_predicts_to_the_last_bit(classifier, table, tmp_path):
    X, y = table
    X = X.assign(empty=None, same="x", flag=X["fare"] > 3, place=[f"p{i % 30}" for i in range(len(X))])
    X = X.assign(when=pd.date_range("2024", periods=len(X), freq="7h"), price=X["fare"].map("{:,.2f} €".format))
    model = TabularClassifier(classifier, categorical=["class", "place"], drop=["deck"]).fit(X, y)
    again = load(model.save(tmp_path / "people.cogmap"))
    assert again.columns_ == model.columns_
    assert {column.kind for column in again.columns_} == {
        "number",
        "category",
        "date",
        "boolean",
        "constant",
        "dropped",
    }
    assert again.get_params()["categorical"] == ["class", "place"]
    assert again.target_name_ == "survived"
    np.testing.assert_array_equal(again.classes_, model.classes_)
    assert again.decision_function(X).tobytes() == model.decision_function(X).tobytes()


CONTRADICTIONS = (  # of the column sex: a category of female and male, filled by male
    {"fill": "other"},
    {"fill": 1.5},
    {"kind": "number"},
    {"kind": "dropped"},
    {"kind": "surprise"},
    {"categories": ["male", "female"]},
    {"categories": ["male"]},
    {"categories": ["female", "male", "x"]},
    {"other": 1},
    {"missing": True},
    {"name": "age"},
    {"name": "gender"},
    {"extra": 1},
    {"format": "point"},
    {"first": 0.0},
    {"parts": ["year"]},
    {"rare": ["x"]},
    {"remark": 5},
    {"remark": "x" * 1001},
)
DATED = (  # of the column sold: a date with all its parts
    {"format": "backwards"},
    {"format": "time"},
    {"first": None},
    {"first": 1e300},
    {"fill": -1e12},
    {"fill": None},
    {"parts": []},
    {"parts": ["month", "year"]},
    {"parts": ["year", "month", "weekday", "hour", "age"]},
    {"parts": ["year", "year"]},
    {"parts": "year"},
    {"kind": "number"},
    {"categories": ["a", "b"]},
    {"rare": ["a"]},
)


@pytest.mark.parametrize("change", CONTRADICTIONS, ids=str)
def test_a_file_whose_columns_contradict_the_network_is_refused(change, fitted):
    with pytest.raises(ModelFileError, match=r"columns_|fitted"):
        loaded_with(fitted, lambda column: column.update(change) if column["name"] == "sex" else None)


def loaded_with(model, change):
    """Return a model as from a file, after each of its columns was changed there."""
    document, arrays = to_document(model, None)
    for column in document["model"]["fitted"]["columns_"]:
        change(column)
    described = {name: (next(k for k, v in DTYPES.items() if v == a.dtype), a.shape) for name, a in arrays.items()}
    return restored(from_document(document, Arrays(described, lambda name, *_: arrays[name])))


@pytest.mark.parametrize("change", DATED, ids=str)
def test_a_file_whose_dates_contradict_themselves_is_refused(change, orders):
    X, y, *_ = orders
    model = TabularClassifier(LTCNClassifier(max_iter=1), drop_unusable=True).fit(X, y)
    assert loaded_with(model, lambda column: None).columns_ == model.columns_
    with pytest.raises(ModelFileError, match="columns_"):
        loaded_with(model, lambda column: column.update(change) if column["name"] == "sold" else None)


def test_a_file_of_a_version_without_dates_is_loaded(table, fitted):
    def older(column):
        for name in ("format", "first", "parts", "rare", "remark"):
            del column[name]

    X, _ = table
    again = loaded_with(fitted, older)
    assert again.columns_ == fitted.columns_
    np.testing.assert_array_equal(again.decision_function(X), fitted.decision_function(X))


def test_onnx_takes_the_raw_columns(table, fitted, tmp_path):
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    X, _ = table
    session = runtime.InferenceSession(fitted.to_onnx(tmp_path / "people.onnx"))
    text = {name: X[[name]].astype(object).fillna("").to_numpy() for name in ("sex", "port", "deck")}
    numbers = {name: X[[name]].to_numpy(dtype=float) for name in ("age", "class", "fare")}
    label, probability = session.run(["label", "probabilities"], text | numbers)
    np.testing.assert_array_equal(label, fitted.predict(X))
    np.testing.assert_allclose(probability, fitted.predict_proba(X), atol=1e-6)
