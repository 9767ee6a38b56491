import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.tree import DecisionTreeClassifier

from cogmap import TabularClassifier
from cogmap.estimators.classifier import LTCNClassifier
from cogmap.report.notes import alone, notes
from cogmap.report.subject import spread, subject


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(1)
    size = np.round(rng.normal(size=200), 3)
    colour = rng.choice(["red", "green", "blue"], 200)
    kind = np.where(size + rng.normal(size=200) > 0, "a", "b")
    return pd.DataFrame(
        {
            "size": size,
            "colour": colour,
            "again": size,
            "farbe": pd.Series(colour).map({"red": "rot", "green": "gruen", "blue": "blau"}),
            "same": 7,
            "empty": np.nan,
            "cause": np.where(kind == "a", "x", None),
            "other": rng.normal(size=200),
            "gaps": np.where(rng.random(200) < 0.3, np.nan, rng.normal(size=200)),
            "kind": kind,
        }
    )


def found(table, **parameters):
    model = TabularClassifier(LTCNClassifier(max_iter=1), **parameters).fit(table.drop(columns="kind"), table["kind"])
    return notes(subject(model, table, "kind"))


def named(notes, kind):
    return [note["columns"] for note in notes if note["kind"] == kind]


def test_constant_duplicate_leaking_and_missing_columns_are_named(table):
    every = found(table)
    assert named(every, "leaking") == [["cause"]]
    assert named(every, "constant") == [["same"], ["empty"]]
    assert named(every, "duplicate") == [["size", "again"], ["colour", "farbe"]]
    assert named(every, "missing") == [["empty"], ["cause"], ["gaps"]]
    texts = {note["kind"] + note["columns"][-1]: note["text"] for note in every}
    assert "the same values" in texts["duplicateagain"]
    assert "under other names" in texts["duplicatefarbe"]
    assert texts["missinggaps"].startswith(f"{100 * table['gaps'].isna().mean():.0f} %")


def test_dropped_columns_are_not_looked_at(table):
    assert named(found(table, drop=["cause"]), "leaking") == []


def test_nothing_is_said_of_ordinary_data(iris, stack):
    (only,) = notes(subject(stack, iris, "target"))
    assert only["kind"] == "repeated rows"  # iris has two equal rows
    assert only["n_rows"] == 2


def test_a_rare_class_makes_no_column_leak(rng):
    codes = (np.arange(400) % 80 == 0).astype(np.intp)
    values = pd.Series(rng.normal(size=400))
    assert alone(values, codes) < 0.6
    assert alone(values + 20 * codes, codes) == 1.0


def test_one_column_is_judged_by_a_cross_validated_tree(iris):
    codes = pd.factorize(iris["target"])[0]
    split = StratifiedKFold(5, shuffle=True, random_state=0)
    for name in iris.columns[:-1]:
        predicted = cross_val_predict(DecisionTreeClassifier(random_state=0), iris[[name]], codes, cv=split)
        assert alone(iris[name], codes) == pytest.approx(balanced_accuracy_score(codes, predicted))


def test_a_single_row_of_a_class_cannot_be_judged(rng):
    assert alone(pd.Series(rng.normal(size=9)), np.array([0] * 8 + [1])) == 0.0
    assert alone(pd.Series(rng.normal(size=9)), np.zeros(9, dtype=np.intp)) == 0.0


@pytest.mark.filterwarnings("ignore::cogmap.errors.NoInformationWarning")
def test_repeated_rows_with_different_classes_are_counted():
    frame = pd.DataFrame({"x": [1.0, 1.0, 2.0, 2.0, 3.0, 4.0] * 5 + [9.0], "kind": list("abaaab") * 5 + ["a"]})
    (note,) = (one for one in found(frame) if one["kind"] == "repeated rows")
    assert note["text"].startswith("30 rows have the same values")
    assert "In 1 such group the classes differ" in note["text"]


@pytest.mark.parametrize(("count", "limit", "expected"), [(5, 9, 5), (9, 5, 5), (1000, 7, 7), (1, 1, 1)])
def test_spread_takes_rows_from_all_over(count, limit, expected):
    chosen = spread(count, limit)
    assert len(chosen) == expected
    assert (chosen[0], chosen[-1]) == (0, count - 1)
    assert np.ptp(np.diff(chosen)) <= 1 if len(chosen) > 2 else True
