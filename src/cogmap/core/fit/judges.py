"""Rows that judge: some of every class, chosen by their content, which count as all rows of their class.

Shrink factors, gate and decision have few parameters. Where rows are many, leave-one-out predictions of `JUDGES` of
them settle these, and no pass has to follow all rows a second time. With a penalty given, the decision alone is left to
judge, and fewer do.

Easy to get wrong: judges are spread evenly over the classes, so that a rare class has enough of them, and their weights
make up for it. These add up to what the judges weigh themselves, not to the weight of all rows: how far a metric may be
trusted depends on it.
"""

from collections.abc import Sequence

import numpy as np

from ..sums.rows import Rows
from ..sums.sampling import Keys, Sample
from ..types import Array

JUDGES = 30_000
"""Rows that judge, at most: as many as are fitted at once. A metric is known to about a third of a percent."""

DECIDERS, DECIDERS_OF_A_CLASS = 10_000, 1_000
"""Rows that judge the decision alone, at most: so many of all, or of each class where that makes more."""

JUDGED_NUMBERS = 30_000_000
"""Features of all judges together, at most."""


def most_judges(n_classes: int, decision_alone: bool) -> int:
    """Return how many rows may judge."""
    return min(max(DECIDERS, DECIDERS_OF_A_CLASS * n_classes), JUDGES) if decision_alone else JUDGES


def judges_of_a_class(n_features: int, n_classes: int, most: int) -> int:
    """Return how many rows of a class may judge, of `most` in all."""
    return max(min(most, JUDGED_NUMBERS // n_features) // n_classes, 1)


def candidates(rows: Rows, keys: Keys, limits: Keys, size: int) -> tuple[Sample, ...]:
    """Return for each class `size` rows of least key, none beyond its limit.

    The weight of one copy stands before the features.
    """
    below = keys <= limits[rows.codes]
    own = [np.flatnonzero(below & (rows.codes == code)) for code in range(rows.n_classes)]
    return tuple(
        Sample.from_block(np.zeros(len(i)), keys[i], np.column_stack([rows.unit[i], rows.X[i]]), rows.weight[i], size)
        for i in own
    )


def judges_from(parts: Sequence[Sample], mass: Array) -> Rows:
    """Return the judges, given those of each class and the weight of all its rows."""
    codes = np.repeat(np.arange(len(parts)), [len(part.keys) for part in parts])
    table = np.concatenate([part.rows for part in parts])
    weight = np.concatenate([part.weight for part in parts])
    of_class = np.bincount(codes, weight, len(parts))
    share = weight.sum() / mass.sum() * mass[codes] / of_class[codes]
    return Rows(np.ascontiguousarray(table[:, 1:]), codes, weight * share, table[:, 0], len(parts))
