"""Raw tables fitted in passes over a file, against fits of the whole table."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier

pytest.importorskip("click")
pytest.importorskip("safetensors")
from cogmap import Knowledge, LTCNClassifier, LTCNClassifierCV, TabularClassifier, load
from cogmap.cli.inputs import with_target
from cogmap.core.sums import sources
from cogmap.estimators import tabular_stream
from cogmap.intake import blocks, spill
from cogmap.tables import limits
from cogmap.tables.table import read_table
from tests.people import people


@pytest.fixture
def small_blocks(monkeypatch):
    """Let 100 rows be many, 192 a block, 85 a part, and nothing stay in memory."""
    monkeypatch.setattr(blocks, "MOST_ROWS", 100)
    monkeypatch.setattr(sources, "BLOCK_ROWS", 192)
    monkeypatch.setattr(limits, "PART_ROWS", 85)
    monkeypatch.setattr(spill, "IN_MEMORY", 0)


def network(**parameters):
    knowledge = Knowledge().forbid("port", "fare").irrelevant("age")
    return TabularClassifier(
        LTCNClassifier(max_iter=5, knowledge=knowledge, **parameters), drop=["id"], categorical=["class"]
    )


def whole(path, target, model):
    """Return a model that is fitted as the command line fits whole tables, and its rows."""
    X, y = with_target(read_table(path).frame, target)
    return model.fit(X, y), X


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("alpha", ["loo", 1.0])
def test_the_model_is_that_of_the_whole_table(kind, alpha, tmp_path):
    path, table = tmp_path / f"people.{kind}", people(600)
    table.loc[::50, "survived"] = None
    table["late"] = np.where(table.index < 500, (table.index % 3).astype(str), "x")
    table.to_csv(path, index=False) if kind == "csv" else table.to_parquet(path)
    found = tabular_stream.fit(path, network(alpha=alpha), target="survived", scratch=tmp_path)
    expected, X = whole(path, "survived", network(alpha=alpha))
    model = found.classifier
    assert model.columns_ == expected.columns_
    assert (model.predict_proba(X) == expected.predict_proba(X)).all()
    assert (model.classifier_.fitted_.summary.rows == expected.classifier_.fitted_.summary.rows).all()
    assert (found.n_rows, found.notes) == (588, ("12 rows have no value in 'survived': they are left out.",))
    assert model.target_name_ == "survived"
    assert model.feature_names_in_.tolist() == list(X)
    again = load(model.save(tmp_path / "people.cogmap"))
    assert (again.predict_proba(X) == expected.predict_proba(X)).all()
    assert again.explain(X[:2]).to_text(0) == expected.explain(X[:2]).to_text(0)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("network", [None, LTCNClassifierCV(combine="best", max_iter=5)], ids=["default", "best"])
def test_a_tuned_model_is_that_of_the_whole_table(network, tmp_path):
    path, model = tmp_path / "people.csv", TabularClassifier(network, drop=["id"])
    people(300).to_csv(path, index=False)
    found = tabular_stream.fit(path, model, target="survived", scratch=tmp_path).classifier
    expected, X = whole(path, "survived", TabularClassifier(network, drop=["id"]))
    assert isinstance(found.classifier_, LTCNClassifierCV)
    assert (found.predict_proba(X) == expected.predict_proba(X)).all()
    assert found.classifier_.best_params_ == expected.classifier_.best_params_


@pytest.mark.filterwarnings("ignore::cogmap.errors.NoInformationWarning")  # the classes follow the row numbers
@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize(
    "labels",
    [
        lambda row: row % 3,
        lambda row: np.where(row < 250, row % 3, np.nan),
        lambda row: row % 2 == 0,
        lambda row: np.where(row < 250, np.array(["True", "False"])[row % 2], None),
    ],
    ids=["numbers", "numbers, some missing", "true and false", "true and false, some missing"],
)
def test_classes_are_those_of_the_whole_table(kind, labels, tmp_path, rng):
    path, table = tmp_path / f"people.{kind}", people(300)[["age", "sex", "fare"]]
    table = table.assign(y=labels(np.arange(300)))
    table.to_csv(path, index=False) if kind == "csv" else table.to_parquet(path)
    model = TabularClassifier(LTCNClassifier(max_iter=2))
    found = tabular_stream.fit(path, model, target="y").classifier
    expected, X = whole(path, "y", TabularClassifier(LTCNClassifier(max_iter=2)))
    assert found.classes_.tolist() == expected.classes_.tolist()
    assert found.classes_.dtype == expected.classes_.dtype
    assert (found.decision_function(X) == expected.decision_function(X)).all()


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_dates_amounts_and_unusable_columns_are_those_of_the_whole_table(kind, tmp_path):
    path, table = tmp_path / f"people.{kind}", people(600)
    when = pd.Series(pd.date_range("2023-01-01", periods=600, freq="13h"))
    table = table.assign(
        moment=when,
        day=when.dt.strftime("%d/%m/%Y"),
        fare=table["fare"].map(lambda fare: f"${fare * 300:,.2f}" if fare > 2 else str(fare)),
        name=[f"n{k}" for k in range(600)],
    )
    table.to_csv(path) if kind == "csv" else table.to_parquet(path)

    def model():
        return TabularClassifier(LTCNClassifier(max_iter=5), drop_unusable=True)

    found = tabular_stream.fit(path, model(), target="survived", scratch=tmp_path).classifier
    expected, X = whole(path, "survived", model())
    assert found.columns_ == expected.columns_
    kinds = {column.name: column.kind for column in found.columns_}
    assert (kinds["moment"], kinds["day"], kinds["fare"], kinds["name"]) == ("date", "date", "number", "dropped")
    assert kinds["id"] == "dropped"
    assert (found.predict_proba(X) == expected.predict_proba(X)).all()
    strict = TabularClassifier(LTCNClassifier())
    with pytest.raises(ValueError, match="columns cannot be used as they are:") as error:
        tabular_stream.fit(path, strict, target="survived")
    with pytest.raises(ValueError, match=re.escape(str(error.value))):
        whole(path, "survived", strict)


def test_few_rows_are_fitted_as_the_whole_table(tmp_path):
    path = tmp_path / "people.csv"
    people().to_csv(path, index=False)
    told = []
    found = tabular_stream.fit(path, network(), target="survived", progress=told.append).classifier
    expected, X = whole(path, "survived", network())
    assert (found.predict_proba(X) == expected.predict_proba(X)).all()
    assert [one.number for one in told] == list(range(1, len(told) + 1))


def test_what_cannot_be_is_refused_in_one_sentence(tmp_path):
    path = tmp_path / "people.csv"
    table = people()
    table.assign(share=table.index / 7, lone="a").to_csv(path, index=False)
    with pytest.raises(TypeError, match="fit an LTCNClassifier or an LTCNClassifierCV, not DummyClassifier"):
        tabular_stream.fit(path, TabularClassifier(DummyClassifier()), target="survived")
    with pytest.raises(ValueError, match="There is no column 'alive': the columns are 'id', "):
        tabular_stream.fit(path, network(), target="alive")
    with pytest.raises(ValueError, match=r"There is no column 'Survived' \(did you mean 'survived'\?\): the columns"):
        tabular_stream.fit(path, network(), target="Survived")
    with pytest.raises(ValueError, match=r"'share' holds 300 different numbers with fractions in 300 rows"):
        tabular_stream.fit(path, network(), target="share")
    with pytest.raises(ValueError, match=r"'fare' holds 266 different numbers with fractions"):
        tabular_stream.fit(path, network(), target="fare")
    with pytest.raises(ValueError, match=r"'id' holds 300 different numbers in 300 rows"):
        tabular_stream.fit(path, TabularClassifier(LTCNClassifier()), target="id")
    with pytest.raises(ValueError, match="drop names column 'id', which X does not have"):
        tabular_stream.fit(path, network(), target="id")
    with pytest.raises(ValueError, match="one class"):
        tabular_stream.fit(path, network(), target="lone")
    with pytest.raises(ValueError, match="Column 'id' looks like an identifier"):
        tabular_stream.fit(path, TabularClassifier(LTCNClassifier()), target="survived")
    nothing = TabularClassifier(LTCNClassifier(), drop=[*table.columns.drop("survived"), "share"])
    with pytest.raises(ValueError, match="No column of X varies"):
        tabular_stream.fit(path, nothing, target="survived")
