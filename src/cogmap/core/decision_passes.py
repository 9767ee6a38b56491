"""The decision from blocks of leave-one-out scores: `decision` in four passes.

1. class means and scatter of the scores → discriminant variables, projection and offset;
2. confusion tables for each prior exponent, and how far scores reach;
3. log loss on a coarse grid of factors, 4. on a fine one → the sharpness of probabilities.

Easy to get wrong: sharpness is the minimum of a function that takes one pass for each look. The loss is convex in the
factor and smooth in its logarithm, so its derivative on 17 points within one coarse step, interpolated by a cubic
spline, gives the minimum to about 1e-7, in two passes.
"""

from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline
from scipy.optimize import brentq

from .activation import Array
from .constants import PRIOR_EXPONENTS
from .decision import SHARPNESS, Decision, best_exponent, discriminants, optimal_scores, score_table
from .statistics import ClassMoments, Confusion, Losses, Source


class Scored(NamedTuple):
    """A block's scores that judge the decision, on the scale of the one-hot, with classes and weights."""

    raw: Array
    codes: NDArray[np.intp]
    weight: Array


def decide(
    source: Source[Scored], between: Array, mass: Array, metric: str | None, scale: tuple[float, float]
) -> Decision:
    """Fit the decision; `metric` None is the largest score, with 0 and 1 moved to the values of `scale`.

    `between` is the covariance of the classes' one-hot with their fitted scores, and `mass` the classes' weight.
    """
    n_classes, prior = len(mass), mass / mass.sum()
    if metric is None:
        zero, one = scale
        projection, offsets = (one - zero) * np.eye(n_classes), np.full((1, n_classes), zero)
        reach = source.reduce(partial(_confusion, projection, offsets)).reach
        return Decision(projection, offsets[0], 0.0, _sharpness(source, projection, offsets, reach)[0][0])
    theta = optimal_scores(between, prior)
    if theta.shape[1] == 0:
        return Decision(np.zeros((n_classes, n_classes)), np.log(prior), 1.0, 1.0)
    moments = source.reduce(_moments)
    scatter = np.einsum("ik,ij,jk->k", theta, moments.scatter, theta)
    projection, offset = discriminants(theta, moments.mean @ theta, scatter, mass.sum())
    offsets = offset + PRIOR_EXPONENTS[:, None] * np.log(prior)
    confusion = source.reduce(partial(_confusion, projection, offsets))
    if metric == "log_loss":
        factors, losses = _sharpness(source, projection, offsets, confusion.reach)
        best = int(np.argmin(losses))
        return Decision(projection, offsets[best], float(PRIOR_EXPONENTS[best]), factors[best])
    exponent = _exponent(confusion.tables / mass.sum(), prior, mass.sum(), metric)
    offset = offset + exponent * np.log(prior)
    return Decision(projection, offset, exponent, _sharpness(source, projection, offset[None], confusion.reach)[0][0])


def scorings(source: Source[Scored], decision: Decision) -> dict[str, float]:
    """Return what leave-one-out says of scores and of a decision on them, larger being better.

    The squared error is that of the scores: Σ w ‖y − s‖² is the scatter about the class means, and their distances.
    """
    moments = source.reduce(_moments)
    total, given = moments.mass.sum(), (decision.projection, decision.offset[None])
    apart = ((moments.mean - np.eye(len(moments.mean))) ** 2).sum(axis=1)
    table = source.reduce(partial(_confusion, *given)).tables[0] / total
    loss = source.reduce(partial(_losses, *given, np.array([[decision.sharpness]]))).loss[0, 0]
    return {
        "squared_error": -float((np.trace(moments.scatter) + moments.mass @ apart) / total),
        "error": score_table("accuracy", table) - 1,
        "kappa": score_table("kappa", table),
        "log_loss": -float(loss / total),
    }


def _moments(block: Scored) -> ClassMoments:
    return ClassMoments.from_block(*block)


def _candidates(projection: Array, offsets: Array, block: Scored) -> list[Array]:
    decoded = block.raw @ projection
    return [decoded + offset for offset in offsets]


def _confusion(projection: Array, offsets: Array, block: Scored) -> Confusion:
    return Confusion.from_block(_candidates(projection, offsets, block), block.codes, block.weight)


def _losses(projection: Array, offsets: Array, factors: Array, block: Scored) -> Losses:
    return Losses.from_block(_candidates(projection, offsets, block), factors, block.codes, block.weight)


def _exponent(tables: Array, prior: Array, total: float, metric: str) -> float:
    values = np.array([score_table(metric, table) for table in tables])
    return best_exponent(values, float(np.trace(tables[len(tables) // 2])), prior, total, metric)


def _sharpness(source: Source[Scored], projection: Array, offsets: Array, reach: float) -> tuple[list[float], Array]:
    """Return for each offset the factor whose softmax has the least log loss, and that loss.

    `reach` bounds how far the scores of any offset reach; the bounds of the factor are in units of each one's own.
    """
    low, high = SHARPNESS
    coarse = np.tile(np.arange(low, high + 2.5) - np.log(max(reach, 1e-300)), (len(offsets), 1))
    found = source.reduce(partial(_losses, projection, offsets, np.exp(coarse)))
    own = np.log(np.maximum(found.reach, 1e-300))
    lines = zip(coarse, found.slope, own, strict=True)
    fine = np.array([_bracket(x, slope, low - at, high - at) for x, slope, at in lines])
    found = source.reduce(partial(_losses, projection, offsets, np.exp(fine)))
    best = [_root(x, slope) for x, slope in zip(fine, found.slope, strict=True)]
    losses = [float(CubicSpline(x, y)(at)) for x, y, at in zip(fine, found.loss, best, strict=True)]
    return [float(np.exp(at)) for at in best], np.array(losses)


def _bracket(x: Array, slope: Array, low: float, high: float) -> Array:
    """Return 17 points between the two of x at which the slope turns positive, within bounds."""
    turn = int(np.clip(np.searchsorted(slope > 0, True), 1, len(x) - 1))
    left, right = np.clip(x[turn - 1 : turn + 1], low, high)
    return np.linspace(left, max(right, left + 1e-6), 17)


def _root(x: Array, slope: Array) -> float:
    """Return where the slope is 0, or the end nearest to it."""
    if slope[0] >= 0:
        return float(x[0])
    if slope[-1] <= 0:
        return float(x[-1])
    spline = CubicSpline(x, slope)
    return float(brentq(lambda at: float(spline(at)), x[0], x[-1], xtol=1e-12))
