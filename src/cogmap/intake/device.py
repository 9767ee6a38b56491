"""Rows on a device: checked, counted and encoded there.

Up to 30,000 rows, and for what needs all rows at once, they are copied to numpy: that takes less time than a device
needs to begin, or needs what only numpy does.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..core.fit.model import Settings
from ..core.sums.rows import Rows
from ..core.sums.sources import Source, on_device
from ..core.sums.space import DeviceArray, Space, working_width
from ..core.sums.statistics import Census, Range
from .arrays import check_same_space, on_host, space_of
from .blocks import Features, RawBlock, few
from .checks import LEAST_WEIGHT, MOST_WEIGHT, check_weights, checked_array
from .encoding import Encoder
from .labels import checked_labels
from .supply import ArraySupply, Supply


def supply_of(estimator: Any, X: Any, y: Any, sample_weight: Any) -> Supply:
    """Return arrays as they are given to `fit`, where they are; few rows in numpy."""
    space = space_of(X)
    if space is None:
        return ArraySupply.of(estimator, X, y, sample_weight)
    check_same_space(X, y=y, sample_weight=sample_weight)
    X = checked_array(estimator, space, X, reset=True)
    if y is None:
        raise ValueError(f"{type(estimator).__name__} requires y to be passed, but the target y is None.")
    if few(X.shape[0]):
        return ArraySupply.of(estimator, *map(on_host, (X, y, sample_weight)))
    return DeviceSupply.of(space, X, y, sample_weight)


@dataclass(frozen=True)
class DeviceSupply:
    """Rows of positive weight on a device, their class codes, the classes, and weights."""

    space: Space
    X: DeviceArray
    codes: DeviceArray
    classes: NDArray[Any]
    weight: DeviceArray
    at_hand: bool = True

    @classmethod
    def of(cls, space: Space, X: DeviceArray, y: Any, sample_weight: Any) -> Self:
        """Check classes and weights of checked rows, and leave out rows of weight 0."""
        xp, n = space.xp, X.shape[0]
        y = y if hasattr(y, "shape") else np.asarray(y)
        if tuple(y.shape) != (n,):
            raise ValueError(f"X has {n} rows, and y has shape {tuple(y.shape)}: give one class for each row.")
        codes, classes = _codes(space, y)
        if sample_weight is None:
            return cls(space, X, codes, classes, xp.ones(n, dtype=xp.float64, device=space.device))
        weight = space.double(xp.asarray(sample_weight, device=space.device))
        if tuple(weight.shape) != (n,) or not bool(xp.all(xp.isfinite(weight) & (weight >= 0))):
            raise ValueError(f"sample_weight must be {n} finite numbers, 0 or larger, one for each row.")
        if float(xp.min(xp.where(weight > 0, weight, 1.0))) < LEAST_WEIGHT or float(xp.max(weight)) > MOST_WEIGHT:
            check_weights(space.host(weight))
        if bool(xp.all(weight > 0)):
            return cls(space, X, codes, classes, weight)
        kept = xp.nonzero(weight > 0)[0]
        present, codes = xp.unique_inverse(xp.take(codes, kept))
        return cls(space, xp.take(X, kept, axis=0), codes, classes[space.host(present)], xp.take(weight, kept))

    @property
    def features(self) -> Features:
        """The features, which have no names."""
        return Features(int(self.X.shape[1]), None)

    @cached_property
    def counted(self) -> Census:
        """The census, as `core.sums.statistics.Census` is."""
        space, xp = self.space, self.space.xp
        mass = xp.stack([xp.sum(xp.where(self.codes == code, self.weight, 0.0)) for code in range(len(self.classes))])
        low, high = (space.host(space.double(end)) for end in space.extremes(self.X))
        return Census(self.X.shape[0], self.classes, space.host(mass), low, high)

    def gather(self) -> Sequence[RawBlock]:
        """Return all rows in numpy."""
        host = self.space.host
        X = np.asarray(host(self.X), dtype=np.float64)
        return [RawBlock(X, self.classes[host(self.codes)], host(self.weight))]

    def source(self, encoder: Encoder, known: Range, every: Sequence[Settings]) -> Source[Rows]:
        """Return the rows as a source, in blocks for networks of all these settings."""
        space = self.space
        rows = encoder.encoded(self.X, self.codes, self.weight, space)
        varying = int(known.varies.sum())
        widths = [(varying * (settings.terms or 1), settings.max_iter) for settings in every]
        light = max(10 * len(known.mass), *(6 * width for width, _ in widths))
        heavy = max(working_width(*sizes) for sizes in widths)
        return on_device(space, rows, space.block_rows(light), space.block_rows(heavy))


def _codes(space: Space, y: Any) -> tuple[DeviceArray, NDArray[Any]]:
    """Return class codes on the device, and the classes."""
    if space_of(y) is not None:
        if space.xp.isdtype(y.dtype, "real floating") and not bool(space.xp.all(space.xp.isfinite(y))):
            raise ValueError("y contains NaN or infinity: drop the rows without a class.")
        classes, codes = space.xp.unique_inverse(y)
        return codes, space.host(classes)
    classes, codes = np.unique(checked_labels(y), return_inverse=True)
    return space.put(codes.astype(np.int64)), classes
