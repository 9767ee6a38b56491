"""Accumulated local effects (Apley and Zhu, 2020): how a prediction moves with one feature, or with two.

A feature has *points*, values at which its effect is known, and *steps* between neighbouring points (`effect_axis`). A
row takes a step if it stands at one of its ends or between them: it is moved to either end, all else as it is, and the
prediction changes by f(end) − f(begin). A step's change is the mean over the rows that take it. Changes are added up
along the steps, and a constant makes the mean of the curve, read where the rows stand, the mean prediction of the rows.

Rows move to neighbouring points only, so that no prediction is asked for a row unlike all rows there are. This is what
partial dependence does with features that go along with each other, and its curve then shows the model's guesses there.

Easy to get wrong: the steps form a tree, not always a line. A curve is the sum over the steps on the way from the first
point, with the sign of their direction; where all steps lead onwards, that is a cumulative sum. Over two features, ways
from one point to another differ, and so may their sums: the surface is the least-squares compromise.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array, csc_array, diags_array
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import splu

from ..types import Array, Codes
from .effect_axis import Axis, weighted_quantile

Predict = Callable[[Array], Array]

ROWS = 4096
"""Rows predicted at a time."""

QUANTILES = (0.1, 0.9)
"""Quantiles of the single rows' predictions between which the band lies."""


class Effect(NamedTuple):
    """Predictions at the points: the accumulated effect, and quantiles of rows near, (K, C); mean of all rows, (C,)."""

    curve: Array
    low: Array
    high: Array
    mean: Array


class JointEffect(NamedTuple):
    """Predictions at pairs of points, and what of them is neither feature's alone, (K, K', C); mean of all rows, (C,).

    NaN where no row is near.
    """

    surface: Array
    together: Array
    mean: Array


def first_order(predict: Predict, rows: Array, places: Codes, axis: Axis, weight: Array) -> Effect:
    """Return the effect of one feature.

    Parameters
    ----------
    predict : callable
        Takes rows of shape (m, F) to predictions of shape (m, C).
    rows : array of shape (n, F)
        Rows.
    places : int array of shape (P,)
        The feature's columns, which move together.
    axis : Axis
        Points and steps of the feature.
    weight : array of shape (n,)
        How often each row counts.
    """
    row, step = np.nonzero(axis.taken)
    asked = [_pairs(row, end) for end in axis.steps[step].T]
    asked += [_pairs(np.arange(len(rows)), place) for place in (axis.low, axis.high)]
    predictions, which = _moved(predict, rows, [(places, axis.blocks)], np.concatenate(asked))
    begin, end = (predictions[part] for part in np.split(which[: 2 * len(row)], 2))
    curve = axis.ways @ _means(end - begin, step, weight[row], len(axis.steps))
    mean = _mean(_predicted(predict, rows), weight)
    curve += mean - _mean(axis.read(curve), weight)
    below, above = (predictions[part] for part in np.split(which[2 * len(row) :], 2))
    return Effect(curve, *_band(curve, axis, below, above, weight), mean)


def _band(curve: Array, axis: Axis, below: Array, above: Array, weight: Array) -> tuple[Array, Array]:
    """Return the curve plus quantiles of how far single rows lie from their mean, for the rows at or next to a point.

    `below` and `above` are the predictions of the rows that are moved to the points between which they stand.
    """
    ends = np.empty((2, *curve.shape))
    for point in range(len(curve)):
        near = (axis.low == point) | (axis.high == point)
        values = np.where((axis.low == point)[:, None], below, above)[near]
        centre = _mean(values, weight[near])
        for k, q in np.ndindex(curve.shape[1], 2):
            apart = weighted_quantile(values[:, k], weight[near], QUANTILES[q]) - centre[k]
            ends[q, point, k] = curve[point, k] + apart
    return ends[0], ends[1]


def joint(
    predict: Predict, rows: Array, places: tuple[Codes, Codes], axes: tuple[Axis, Axis], weight: Array
) -> JointEffect:
    """Return the effect of two features together.

    A row that takes a step of both features is moved to the four corners, which tells how the prediction changes along
    the four sides of a cell. The surface is that whose differences along the sides are nearest to these changes, by
    weighted least squares. It is unknown where no row is near. Parts of it that no row connects have the mean
    prediction of their own rows.

    Parameters
    ----------
    predict, rows, weight
        As for `first_order`.
    places : two int arrays
        The columns of each feature.
    axes : two Axis
        Points and steps of each.
    """
    one, other = axes
    shape = len(one.blocks), len(other.blocks)
    changes, side = _sides(predict, rows, places, axes)
    surface, part = _integrated(changes, side[:, 1:], weight[side[:, 0]], shape)
    own = _predicted(predict, rows)
    lacking = _means(own - read_both(surface, one, other), part[one.low, other.low], weight, part.max() + 1)
    surface = np.where(part[..., None] < 0, np.nan, surface + lacking[part])
    alone, across = _alone(surface, one, other, weight), _alone(surface.swapaxes(0, 1), other, one, weight)
    together = surface - alone[:, None] - across[None]
    together -= _mean(read_both(together, one, other), weight)
    return JointEffect(surface, together, _mean(own, weight))


def _sides(predict: Predict, rows: Array, places: tuple[Codes, Codes], axes: tuple[Axis, Axis]) -> tuple[Array, Codes]:
    """Return changes of the prediction along sides of cells, (m, C), and for each the row and the two corners, (m, 3).

    Corners are numbered along the second axis first. A feature with one point has one step, from there to there.
    """
    one, other = (axis if len(axis.steps) else replace(axis, steps=np.zeros((1, 2), dtype=np.intp)) for axis in axes)
    row, step, across = np.nonzero(one.taken[:, :, None] & other.taken[:, None, :])
    a, b, c, d = ((i, j) for i in one.steps[step].T for j in other.steps[across].T)
    blocks = [(place, axis.blocks) for place, axis in zip(places, axes, strict=True)]
    asked = np.concatenate([np.stack([row, *corner], axis=1) for corner in (a, b, c, d)])
    predictions, which = _moved(predict, rows, blocks, asked)
    values = np.split(which, 4)
    number = [i * len(other.blocks) + j for i, j in (a, b, c, d)]
    sides = ((0, 1), (2, 3), (0, 2), (1, 3))
    changes = np.concatenate([predictions[values[end]] - predictions[values[begin]] for begin, end in sides])
    corners = np.concatenate([np.stack([row, number[begin], number[end]], axis=1) for begin, end in sides])
    return changes, corners


def _integrated(changes: Array, sides: Codes, weight: Array, shape: tuple[int, int]) -> tuple[Array, Codes]:
    """Return the surface with the nearest differences along the sides, and the part of each point; −1 for none."""
    n = shape[0] * shape[1]
    begin, end = sides.T
    graph = coo_array((np.r_[weight, weight], (np.r_[begin, end], np.r_[end, begin])), shape=(n, n)).tocsc()
    _, part = connected_components(graph, directed=False)
    # The normal equations are those of a graph's Laplacian: each part has one point free, which is held at 0.
    balance = csc_array(diags_array(graph.sum(axis=1)) - graph)
    slope = [np.bincount(end, weight * change, n) - np.bincount(begin, weight * change, n) for change in changes.T]
    _, held = np.unique(part, return_index=True)
    free = np.setdiff1d(np.arange(n), held)
    surface = np.zeros((n, len(slope)))
    if len(free):
        surface[free] = splu(balance[free][:, free]).solve(np.stack(slope, axis=1)[free])
    part = np.where(np.isin(np.arange(n), sides), part, -1)
    return surface.reshape(*shape, -1), part.reshape(shape).astype(np.intp)


def read_both(surface: Array, one: Axis, other: Axis) -> Array:
    """Return a surface over the points of two features, shape (K, K', C), where the rows stand; shape (n, C)."""
    along = _along(surface, other)
    here, share = np.arange(len(along)), one.fraction[:, None]
    height: Array = (1 - share) * along[here, one.low] + share * along[here, one.high]
    return height


def _along(surface: Array, other: Axis) -> Array:
    """Return what each row reads along the second feature, at all points of the first; shape (n, K, C)."""
    return other.read(surface.swapaxes(0, 1))


def _alone(surface: Array, one: Axis, other: Axis, weight: Array) -> Array:
    """Return the accumulated effect of the first feature on a surface over both, shape (K, C)."""
    along = _along(surface, other)
    row, step = np.nonzero(one.taken)
    begin, end = one.steps[step].T
    alone: Array = one.ways @ _means(along[row, end] - along[row, begin], step, weight[row], len(one.steps))
    return alone


def _moved(predict: Predict, rows: Array, blocks: list[tuple[Codes, Array]], asked: Codes) -> tuple[Array, Codes]:
    """Return predictions of rows that are moved to points of features, each once, and which of them is asked for.

    `asked` holds the row and a point of each feature; `blocks` the columns of each feature and what they hold at its
    points.
    """
    different, which = np.unique(asked, axis=0, return_inverse=True)

    def part(chosen: Codes) -> Array:
        moved = rows[chosen[:, 0]]
        for k, (places, block) in enumerate(blocks, start=1):
            moved[:, places] = block[chosen[:, k]]
        return predict(moved)

    parts = [part(different[start : start + ROWS]) for start in range(0, len(different), ROWS)]
    return np.concatenate(parts), which.reshape(-1).astype(np.intp)


def _predicted(predict: Predict, rows: Array) -> Array:
    """Return the predictions of rows, some at a time."""
    return np.concatenate([predict(rows[start : start + ROWS]) for start in range(0, len(rows), ROWS)])


def _pairs(row: Codes, point: Codes) -> Codes:
    return np.stack([row, point], axis=1)


def _means(values: Array, group: Codes, weight: Array, n: int) -> Array:
    """Return weighted means by group, shape (n, C); 0 for a group without values."""
    mass = np.bincount(group, weight, n)
    total = np.stack([np.bincount(group, weight * column, n) for column in values.T], axis=1)
    means: Array = total / np.where(mass > 0, mass, 1.0)[:, None]
    return means


def _mean(values: Array, weight: Array) -> Array:
    mean: Array = weight @ values / weight.sum()
    return mean
