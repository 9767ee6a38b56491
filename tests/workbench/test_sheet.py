import numpy as np
import pandas as pd
import pytest

from cogmap import LTCNClassifier, TabularClassifier
from cogmap.report.subject import subject
from cogmap.workbench.sheet import Sheet


@pytest.fixture(scope="module")
def about(tabular, passengers):
    return subject(tabular, *passengers)


@pytest.fixture(scope="module")
def sheet(about):
    return Sheet.of(about)


def test_rows_of_cells_give_the_predictions_of_the_raw_table(about, sheet, tabular, passengers):
    encoded = np.concatenate([sheet.encoded(sheet.row(i)) for i in range(len(about.codes))])
    assert np.array_equal(encoded, tabular.encode(passengers[0]))


def test_cells_are_plain(sheet):
    kinds = {control.name: control.kind for control in sheet.controls}
    assert kinds["joined"] == "date"
    assert kinds["paid"] == "boolean"
    for row in (sheet.row(0), sheet.typical):
        assert all(cell is None or type(cell) in (float, str, bool) for cell in row.values())
    assert sheet.row(0)["joined"] == "2024-01-05"


def test_controls_span_the_rows(sheet, passengers):
    controls = {control.name: control for control in sheet.controls}
    age, table = controls["age"], passengers[0]
    assert (age.low, age.high) == (table["age"].min(), table["age"].max())
    assert age.missing
    assert not controls["fare"].missing
    assert controls["class"].values == (1.0, 2.0, 3.0)
    assert set(controls["port"].values) == {"S", "C", "Q"}
    assert controls["port"].typical == table["port"].mode()[0]
    assert controls["paid"].values == (False, True)
    assert 100 <= (age.high - age.low) / age.step <= 200


def test_typical_numbers_are_in_the_middle(sheet, passengers):
    fares = passengers[0]["fare"]
    assert abs((fares < sheet.typical["fare"]).mean() - 0.5) < 0.01


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("age", "old", "'age' is 'old': give a number"),
        ("age", True, "'age' is True: give a number"),
        ("age", float("inf"), "'age' is inf: give a number"),
        ("age", {"a": [1]}, "give a number"),
        ("port", 3, "'port' is 3: give text"),
        ("paid", "yes", "give true or false"),
        ("joined", "yesterday", "which is no date"),
        ("agee", 3, "did you mean 'age'"),
    ],
)
def test_cells_that_no_column_takes_are_named(sheet, name, value, words):
    with pytest.raises(ValueError, match=words):
        sheet.filled({name: value}, None)


def test_cells_replace_those_of_a_row(sheet):
    filled = sheet.filled({"age": 20, "port": None}, 5)
    assert (filled["age"], filled["port"]) == (20.0, None)
    assert {name: cell for name, cell in filled.items() if name not in ("age", "port")} == {
        name: cell for name, cell in sheet.row(5).items() if name not in ("age", "port")
    }
    with pytest.raises(ValueError, match="no row 300: there are the rows 0 to 299"):
        sheet.row(300)


def test_models_of_numbers_take_no_missing_cell(network, iris):
    numbers = Sheet.of(subject(network, *iris))
    with pytest.raises(ValueError, match="takes numbers only"):
        numbers.filled({"petal width (cm)": None}, None)
    assert np.isfinite(numbers.encoded(numbers.typical)).all()


def test_models_without_names_take_arrays(iris):
    X, y = np.asarray(iris[0]), np.asarray(iris[1])
    about = subject(LTCNClassifier(max_iter=2, alpha=0.1).fit(X, y), X, y)
    sheet = Sheet.of(about)
    assert sheet.names == ("x0", "x1", "x2", "x3")
    assert np.array_equal(sheet.encoded(sheet.row(7)), X[7:8])


def test_amounts_and_day_first_dates_come_back(passengers):
    table = passengers[0][["sex", "fare"]].assign(
        price=[f"${k},{k:03}.50" for k in range(1, 301)], day=[f"{k % 27 + 1:02}.03.2024" for k in range(300)]
    )
    model = TabularClassifier(LTCNClassifier(max_iter=2, alpha=0.1)).fit(table, passengers[1])
    about = subject(model, table, passengers[1])
    sheet = Sheet.of(about)
    assert sheet.row(1)["price"] == 2002.5
    assert sheet.row(1)["day"] == "2024-03-02"
    for k in range(9):
        assert np.array_equal(sheet.encoded(sheet.row(k)), model.encode(table[k : k + 1]))


def test_columns_without_concepts_have_no_control(passengers):
    table = passengers[0].assign(same="x", extra=pd.Series([None] * 300, dtype=object))
    model = TabularClassifier(LTCNClassifier(max_iter=2, alpha=0.1), drop=["port"]).fit(table, passengers[1])
    kinds = {control.name: control.kind for control in Sheet.of(subject(model, table, passengers[1])).controls}
    assert [kinds[name] for name in ("same", "extra", "port")] == ["unused"] * 3
