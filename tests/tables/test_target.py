import numpy as np
import pandas as pd
import pytest

from cogmap import LTCNClassifier, TabularClassifier
from cogmap.errors import ManyClassesWarning
from cogmap.intake.labels import MANY_CLASSES
from cogmap.tables.target import MOST_NUMBERS, Target


def target(values, **options):
    found = Target("price", **options)
    found.add(pd.Series(values), 0)
    found.check()
    return found


@pytest.mark.parametrize("kind", [int, float])
def test_numbers_of_many_values_are_a_quantity_however_many_rows_there_are(kind):
    values = np.arange(54_000).astype(kind) % (MOST_NUMBERS + 1)
    with pytest.raises(ValueError, match="'price' holds 51 different numbers in 54000 rows, a quantity rather than"):
        target(values)
    assert target(values % MOST_NUMBERS).labels(pd.Series(values))[:3].tolist() == [0, 1, 2]
    assert target(values, classes=True).labels(pd.Series(values)).dtype == np.int64


def test_a_quantity_is_refused_in_the_part_that_shows_it():
    found = Target("price")
    found.add(pd.Series(np.arange(40)), 0)
    with pytest.raises(ValueError, match="80 different numbers in 80 rows"):
        found.add(pd.Series(np.arange(40, 80)), 0)


def test_numbers_with_fractions_are_classes_only_if_a_user_says_so():
    values = pd.Series([0.5, 1.5, 2.0] * 5)
    with pytest.raises(ValueError, match="3 different numbers with fractions in 15 rows"):
        target(values)
    assert set(target(values, classes=True).labels(values)) == {"0.5", "1.5", "2"}


def test_text_may_have_more_values_but_not_one_for_each_row():
    text = pd.Series([f"plant {k % 100}" for k in range(400)])
    assert len(set(target(text).labels(text))) == 100
    with pytest.raises(ValueError, match=r"400 different values in 400 rows, too many for classes: .*--classes"):
        target([f"plant {k}" for k in range(400)])
    assert target([f"plant {k}" for k in range(400)], classes=True).n_rows == 400


def test_many_classes_are_said_to_cost():
    text = [f"plant {k % 150}" for k in range(600)]
    assert "'price' has 150 classes: time and memory of a fit grow with their number" in target(text).notes[0]
    assert target(text[:100] * 6).notes == []


@pytest.mark.parametrize("make", [LTCNClassifier, lambda **k: TabularClassifier(LTCNClassifier(**k))])
def test_fit_warns_of_many_classes(make, rng):
    n = MANY_CLASSES + 1
    X, y = rng.normal(size=(4 * n, 2)), np.arange(4 * n) % n
    with pytest.warns(ManyClassesWarning, match=f"y holds {n} classes: time and memory"):
        make(max_iter=1).fit(X, y)
    make(max_iter=1).fit(X, y % MANY_CLASSES)
