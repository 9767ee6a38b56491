"""Rows that judge: some of every class, chosen by their content, which count as all rows of their class.

Shrink factors, gate and decision have few parameters. Where rows are many, leave-one-out predictions of `JUDGES` of
them settle these, and no pass has to follow all rows a second time. With a penalty given, the decision alone is left to
judge, and fewer do.

Easy to get wrong: judges are spread evenly over the classes, so that a rare class has enough of them, and their weights
make up for it. These add up to what the judges weigh themselves, not to the weight of all rows: how far a metric may be
trusted depends on it.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain

import numpy as np

from ..sums.rows import Rows
from ..sums.sampling import LAST_KEY, Keys, Sample, Samples, content_keys, key_limits, limits_in
from ..sums.sources import Source
from ..sums.space import Space
from ..sums.statistics import Range
from ..types import Array, Codes
from .model import SUMMARY_ROWS, Summary

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


def choose_judges(source: Source[Rows], census: Range, most: int) -> tuple[Rows, Summary]:
    """Choose rows that judge, at most so many, and those that a model keeps as its summary."""
    of_class = judges_of_a_class(len(census.low), len(census.mass), most)
    sizes = np.r_[SUMMARY_ROWS, np.full(len(census.mass), of_class)]
    limits = key_limits(np.r_[census.total, census.mass], sizes)
    parts = source.reduce(partial(chosen, limits, of_class)).parts
    n_chosen = np.array([len(part.keys) for part in parts])
    if ((n_chosen < sizes) & (limits < LAST_KEY)).any():
        parts = source.reduce(partial(chosen, np.full(len(limits), LAST_KEY), of_class)).parts
    kept, *of_classes = parts
    return judges_from(of_classes, census.mass), Summary(kept.rows, kept.weight, census.mass / census.total)


def choose_cases(source: Source[Rows], census: Range, most: int) -> tuple[Rows, Codes]:
    """Choose rows to remember, at most so many but no fewer than judge; and say which of them those that judge are."""
    n_features, n_classes = len(census.low), len(census.mass)
    rows, _ = choose_judges(source, census, max(most, JUDGES))
    of_class = judges_of_a_class(n_features, n_classes, JUDGES)
    # One class stands after another, each in the order of the keys: the first of a class are those that judge.
    place = np.arange(len(rows.codes)) - np.searchsorted(rows.codes, np.arange(n_classes))[rows.codes]
    return rows, np.flatnonzero(place < of_class)


def chosen(limits: Keys, of_class: int, space: Space) -> Callable[[Rows], Samples]:
    """Choose among the rows whose keys are within the limits: some of all, for the first limit, and of each class.

    The weight of one copy stands before the features of those of a class.
    """
    first, *others = limits_in(space, limits)

    def of_block(block: Rows) -> Samples:
        keys = row_keys(space, block)
        some = space.xp.nonzero(keys <= first)[0]
        summary = Sample.from_block(space, None, keys, (block.X,), block.weight, SUMMARY_ROWS, among=some)
        return Samples((summary, *candidates(space, block, keys, others, of_class)))

    return of_block


def row_keys(space: Space, block: Rows) -> Keys:
    """Return the keys of rows with their classes."""
    columns = space.columns(block.X, range(block.X.shape[1]))
    keys: Keys = content_keys(space, chain([space.double(block.codes)], columns))
    return keys


def candidates(space: Space, rows: Rows, keys: Keys, limits: Sequence[int], size: int) -> tuple[Sample, ...]:
    """Return for each class `size` rows of least key, none beyond its limit."""
    own = (space.xp.nonzero((rows.codes == code) & (keys <= limit))[0] for code, limit in enumerate(limits))
    parts = (rows.unit[:, None], rows.X)
    return tuple(Sample.from_block(space, None, keys, parts, rows.weight, size, among=among) for among in own)


def for_themselves(judges: Rows) -> Rows:
    """Return judges as rows of a fit of their own, in which one copy weighs as much more or less as they do.

    What was left out of a fit of all rows is one copy as it was; of a fit of judges it is one as it is weighed here. No
    copy weighs more than its row did, so that the least ratio of a class is the factor of its weights.
    """
    factor = np.full(judges.n_classes, np.inf)
    np.minimum.at(factor, judges.codes, judges.weight / judges.unit)
    return replace(judges, unit=judges.unit * factor[judges.codes])


def judges_from(parts: Sequence[Sample], mass: Array) -> Rows:
    """Return the judges, given those of each class and the weight of all its rows."""
    codes = np.repeat(np.arange(len(parts)), [len(part.keys) for part in parts])
    table = np.concatenate([part.rows for part in parts])
    weight = np.concatenate([part.weight for part in parts])
    of_class = np.bincount(codes, weight, len(parts))
    share = weight.sum() / mass.sum() * mass[codes] / of_class[codes]
    return Rows(np.ascontiguousarray(table[:, 1:]), codes, weight * share, table[:, 0], len(parts))
