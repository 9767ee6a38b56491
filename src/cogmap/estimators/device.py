"""`LTCNClassifier.fit` of rows on a device: encoded there, counted, and handed to the passes as a source.

Few rows, and settings that need all rows at once, are fitted by numpy: see `fit_on_device`.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.device import blocks, ridge
from ..core.device.scaling import fit_concepts
from ..core.device.source import DeviceSource
from ..core.device.space import DeviceArray, Space, working_width
from ..core.fit.model import Settings
from ..core.fit.passes import Range, passable
from ..core.sums.rows import Rows
from ..core.sums.statistics import Census
from ..intake.arrays import check_same_space, on_host, space_of
from ..intake.blocks import Columns, Encoder, begin
from ..intake.checks import LEAST_WEIGHT, MOST_WEIGHT, check_weights, checked_array
from ..intake.labels import checked_labels
from .base import NetworkClassifier
from .classifier import MOST_ROWS, LTCNClassifier

COUNTERPARTS = (blocks, ridge)
"""Modules whose import tells `DeviceSource` the counterparts of the passes' functions."""


class Given(NamedTuple):
    """Rows of positive weight on a device, their class codes, the classes, and weights; None where all are 1."""

    X: DeviceArray
    codes: DeviceArray
    classes: NDArray[Any]
    weight: DeviceArray | None


class Taken(NamedTuple):
    """Encoded rows for the passes, what the census says of them, and whether all weights are 1."""

    rows: Rows
    known: Range
    even: bool


def fit_on_device(
    classifier: LTCNClassifier, space: Space, X: DeviceArray, y: Any, sample_weight: Any
) -> LTCNClassifier:
    """Fit to arrays that are on a device.

    Up to `MOST_ROWS` rows, and for cases and minimum norms, the rows are copied to numpy and fitted there: that takes
    less time than a device needs to begin, or needs what only numpy does.
    """
    taken = taken_in(classifier, space, X, y, sample_weight)
    if taken is not None and passable(settings := classifier._settings(), taken.known):
        concepts = fit_concepts(space, *taken, settings)
        return classifier._fit_source(source_of(space, taken, [settings]), taken.known, concepts)
    return classifier._fit_given(*classifier._given_rows(*map(on_host, (X, y, sample_weight))))


def taken_in(estimator: NetworkClassifier, space: Space, X: DeviceArray, y: Any, sample_weight: Any) -> Taken | None:
    """Check and encode rows, and set what the estimator knows of its input and classes; None where rows are few."""
    check_same_space(X, y=y, sample_weight=sample_weight)
    X = checked_array(estimator, space, X, reset=True)
    if y is None:
        raise ValueError(f"{type(estimator).__name__} requires y to be passed, but the target y is None.")
    if X.shape[0] <= MOST_ROWS:
        return None
    given = _given(space, X, y, sample_weight)
    counted = _census(space, given)
    if counted.n_rows <= MOST_ROWS:
        return None
    encoder, known = begin(estimator, Columns(X.shape[1], None), counted)
    even = given.weight is None and bool((encoder.share == 1).all())
    return Taken(_encoded(space, given, encoder), known, even)


def source_of(space: Space, taken: Taken, every: Sequence[Settings]) -> DeviceSource[Rows]:
    """Return the rows as a source, in blocks for networks of all these settings."""
    varying = int(taken.known.varies.sum())
    widths = [(varying * (settings.terms or 1), settings.max_iter) for settings in every]
    light = max(10 * len(taken.known.mass), *(6 * width for width, _ in widths))
    heavy = max(working_width(*sizes) for sizes in widths)
    return DeviceSource.of(space, taken.rows, taken.even, space.block_rows(light), space.block_rows(heavy))


def _given(space: Space, X: DeviceArray, y: Any, sample_weight: Any) -> Given:
    """Check classes and weights, and leave out rows of weight 0."""
    xp, n = space.xp, X.shape[0]
    y = y if hasattr(y, "shape") else np.asarray(y)
    if tuple(y.shape) != (n,):
        raise ValueError(f"X has {n} rows, and y has shape {tuple(y.shape)}: give one class for each row.")
    codes, classes = _codes(space, y)
    if sample_weight is None:
        return Given(X, codes, classes, None)
    weight = space.double(xp.asarray(sample_weight, device=space.device))
    if tuple(weight.shape) != (n,) or not bool(xp.all(xp.isfinite(weight) & (weight >= 0))):
        raise ValueError(f"sample_weight must be {n} finite numbers, 0 or larger, one for each row.")
    if float(xp.min(xp.where(weight > 0, weight, 1.0))) < LEAST_WEIGHT or float(xp.max(weight)) > MOST_WEIGHT:
        check_weights(space.host(weight))
    if bool(xp.all(weight > 0)):
        return Given(X, codes, classes, weight)
    kept = xp.nonzero(weight > 0)[0]
    present, codes = xp.unique_inverse(xp.take(codes, kept))
    return Given(xp.take(X, kept, axis=0), codes, classes[space.host(present)], xp.take(weight, kept))


def _codes(space: Space, y: Any) -> tuple[DeviceArray, NDArray[Any]]:
    """Return class codes on the device, and the classes."""
    if space_of(y) is not None:
        if space.xp.isdtype(y.dtype, "real floating") and not bool(space.xp.all(space.xp.isfinite(y))):
            raise ValueError("y contains NaN or infinity: drop the rows without a class.")
        classes, codes = space.xp.unique_inverse(y)
        return codes, space.host(classes)
    classes, codes = np.unique(checked_labels(y), return_inverse=True)
    return space.put(codes.astype(np.int64)), classes


def _census(space: Space, given: Given) -> Census:
    """Count the rows, as `core.statistics.Census` does."""
    xp, (X, codes, classes, weight) = space.xp, given
    each = xp.ones(X.shape[0], dtype=xp.float64, device=space.device) if weight is None else weight
    mass = xp.stack([xp.sum(xp.where(codes == code, each, 0.0)) for code in range(len(classes))])
    low, high = (space.host(space.double(found)) for found in space.extremes(X))
    return Census(X.shape[0], classes, space.host(mass), low, high)


def _encoded(space: Space, given: Given, encoder: Encoder) -> Rows:
    """Return the rows for the passes: without irrelevant features, and with the weights of their classes."""
    xp, (X, codes, classes, weight) = space.xp, given
    if encoder.silent.any():
        X = xp.where(space.put(encoder.silent), 0.0, space.double(X))
    share = xp.take(space.put(encoder.share), codes)
    if weight is None:
        return Rows(X, codes, share, share, len(classes))
    return Rows(X, codes, weight * share, xp.clip(weight, None, 1.0) * share, len(classes))
