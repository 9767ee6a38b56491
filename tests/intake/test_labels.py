"""Class labels that are missing or of several kinds: one sentence, wherever a fit begins."""

import numpy as np
import pandas as pd
import pytest

from cogmap import LTCNClassifier, LTCNClassifierCV, TabularClassifier, stream
from cogmap.intake.labels import check_kinds, checked_labels, kinds_of

pytestmark = pytest.mark.filterwarnings("ignore::cogmap.errors.NoInformationWarning")  # of six rows
X = np.arange(12.0).reshape(6, 2) ** 2

FITS = {
    "LTCNClassifier": lambda y: LTCNClassifier().fit(X, y),
    "LTCNClassifierCV": lambda y: LTCNClassifierCV().fit(X, y),
    "TabularClassifier": lambda y: TabularClassifier(LTCNClassifier()).fit(pd.DataFrame(X, columns=["a", "b"]), y),
    "stream": lambda y: stream.fit([(X, y)]),
    "partial_fit": lambda y: LTCNClassifier(alpha=1.0).partial_fit(X, y),
}


@pytest.mark.parametrize("fit", FITS.values(), ids=FITS)
@pytest.mark.parametrize(
    ("y", "message"),
    [
        (["a", 1, None, "a", 1, "a"], "the class is missing in 1 row, the first is row 2: drop such rows"),
        (["a", float("nan"), "b", "a", "b", "a"], "the class is missing in 1 row, the first is row 1"),
        (["a", 1, 2, "a", "b", "a"], r"y mixes numbers \(1\) and text \('a'\): give all classes one type"),
        (np.array(["a", 1, 2, "a", "b", "a"], dtype=object), r"y mixes numbers \(1\) and text \('a'\)"),
        ([True, "no", "no", True, True, "no"], r"y mixes text \('no'\) and true and false \(True\)"),
        (np.array([1.0, 2.0, None, 1.0, 2.0, 1.0], dtype=object), "the class is missing in 1 row"),
        (pd.Series(["a", None, "b", "a", "b", pd.NA]), "the class is missing in 2 rows, the first is row 1"),
        (pd.Series([{"a": 1}] * 6), r"y holds values of type dict \({'a': 1}\), which have no order"),
    ],
)
def test_labels_that_are_none_are_one_sentence(y, message, fit):
    with pytest.raises(ValueError, match=message) as error:
        fit(y)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("fit", FITS.values(), ids=FITS)
@pytest.mark.parametrize(
    ("y", "classes"),
    [
        ([1, 2, 1, 2, 1, 2], [1, 2]),
        (np.array([1, 2, 1, 2, 1, 2], dtype=object), [1, 2]),
        (["u", "v"] * 3, ["u", "v"]),
        (pd.Series(["u", "v"] * 3, dtype="string"), ["u", "v"]),
        (pd.Series([True, False] * 3, dtype=object), [False, True]),
        (pd.Series(["u", "v"] * 3, dtype="category"), ["u", "v"]),
    ],
)
def test_labels_of_one_kind_are_taken(y, classes, fit):
    assert fit(y).classes_.tolist() == classes


def test_kinds_may_not_change_between_blocks_and_batches():
    blocks = [(X, ["a", "b"] * 3), (X, [1, 2] * 3)]
    with pytest.raises(ValueError, match=r"y mixes numbers \(1\) and text \('a'\)"):
        stream.fit(blocks)
    model = LTCNClassifier(alpha=1.0).partial_fit(X, ["a", "b"] * 3)
    with pytest.raises(ValueError, match=r"y mixes numbers \(1\) and text \('a'\)"):
        model.partial_fit(X, [1, 1, 1, 2, 2, 2])
    with pytest.raises(ValueError, match=r"y mixes numbers \(0\) and text \('a'\)"):
        LTCNClassifier(alpha=1.0).partial_fit(X, ["a", "b"] * 3, classes=["a", "b", 0])


def test_rows_are_counted_over_all_blocks():
    blocks = [(X, ["a", "b"] * 3), (X, ["a", "b", None, "a", "b", "a"])]
    with pytest.raises(ValueError, match="the first is row 8"):
        stream.fit(blocks)


def test_arrays_keep_their_type():
    for y in (np.array([1, 2]), np.array([1.0, 2.0]), np.array(["a", "b"]), np.array([True, False])):
        assert checked_labels(y).dtype == y.dtype
        assert len(kinds_of(y)) == 1
    check_kinds(kinds_of(np.array([1])) | kinds_of(np.array([2.5])))
