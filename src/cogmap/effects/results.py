"""What effects of features are, as data: values, average predictions and their spread, with tidy frames.

Easy to get wrong: a missing value has no place on an axis. It is the last of the values, NaN, NaT or None.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..core.types import Array
from ..intake.checks import module
from .subject import DAY

if TYPE_CHECKING:
    from pandas import DataFrame

Kind = Literal["probability", "evidence"]
KINDS: tuple[Kind, ...] = ("probability", "evidence")

UNITS: dict[Kind, str] = {"probability": "average predicted probability", "evidence": "average evidence (log-odds)"}
MISSING = "missing"


@dataclass(frozen=True)
class FeatureEffect:
    """How predictions move with one feature.

    Attributes
    ----------
    feature : str
        Its name.
    kind : {"probability", "evidence"}
        What is predicted.
    classes : array of shape (C,)
        The classes whose prediction it is.
    values : array of shape (K,)
        The points: values of the feature, quantiles of a number or date in increasing order. The last may be the
        missing value: NaN for numbers, NaT for dates, None for others.
    is_number : bool
        Whether the values have an order and distances, so that the effect is a curve.
    effect : array of shape (K, C)
        Average prediction. Its mean over the rows is the mean prediction of the rows.
    low, high : arrays of shape (K, C)
        How single rows spread around it: the effect plus the quantiles, 10 % and 90 %, of the difference between the
        prediction of a row and the mean of such rows, over the rows that have this value, or lie between the points
        next to it and are moved to it. Probabilities end at 0 and 1.
    rows : array of shape (K,)
        Weight of the rows to which the point is the nearest.
    rug : array of shape (n,)
        The number in each row, for numbers and dates (days since 1970-01-01); missing ones left out.
    mean : array of shape (C,)
        Mean prediction of the rows.
    """

    feature: str
    kind: Kind
    classes: NDArray[Any]
    values: NDArray[Any]
    is_number: bool
    effect: Array
    low: Array
    high: Array
    rows: Array
    rug: Array
    mean: Array

    @property
    def labels(self) -> list[str]:
        """The values as text."""
        return _labels(self.values)

    @property
    def numbers(self) -> Array:
        """The values as places on an axis: dates in days since 1970-01-01."""
        return axis_numbers(self.values)

    @property
    def is_date(self) -> bool:
        """Whether the values are dates."""
        return self.values.dtype.kind == "M"

    @property
    def has_missing(self) -> bool:
        """Whether the last of the values is the missing one."""
        last = self.values[-1]
        return bool(last is None or last != last)

    def frame(self) -> "DataFrame":
        """Return a pandas DataFrame with a row for each class and value: effect, low, high, and weight of rows."""
        n, n_classes = self.effect.shape
        columns = {
            "feature": self.feature,
            "class": np.repeat(self.classes, n),
            "value": np.tile(self.values, n_classes),
            "effect": self.effect.T.ravel(),
            "low": self.low.T.ravel(),
            "high": self.high.T.ravel(),
            "rows": np.tile(self.rows, n_classes),
        }
        return module("pandas", "tabular").DataFrame(columns)


@dataclass(frozen=True)
class PairEffect:
    """How predictions move with two features together.

    Attributes
    ----------
    features : tuple of two str
        Their names.
    kind : {"probability", "evidence"}
        What is predicted.
    classes : array of shape (C,)
        The classes whose prediction it is.
    values : tuple of arrays of shapes (K,) and (K',)
        The points of each; see `FeatureEffect`. A missing category is None; rows in which a number is missing are
        left out.
    are_numbers : tuple of two bool
        Whether the values of each have an order and distances.
    effect : array of shape (K, K', C)
        Average prediction; NaN where no row is near. Its mean over the rows is the mean prediction of the rows. Parts
        that no row connects have the mean prediction of their own rows.
    interaction : array of shape (K, K', C)
        What of it is neither feature's alone: its mean over the rows, and the accumulated effect of each feature on
        it, are 0.
    rows : array of shape (K, K')
        Weight of the rows to which the pair of points is the nearest.
    rug : tuple of two arrays of shape (n,)
        Where each row is: the number, or the place of its category among `values`.
    mean : array of shape (C,)
        Mean prediction of the rows.
    """

    features: tuple[str, str]
    kind: Kind
    classes: NDArray[Any]
    values: tuple[NDArray[Any], NDArray[Any]]
    are_numbers: tuple[bool, bool]
    effect: Array
    interaction: Array
    rows: Array
    rug: tuple[Array, Array]
    mean: Array

    @property
    def labels(self) -> tuple[list[str], list[str]]:
        """The values of each as text."""
        return _labels(self.values[0]), _labels(self.values[1])

    def frame(self) -> "DataFrame":
        """Return a pandas DataFrame with a row for each class and pair of values."""
        n, m, n_classes = self.effect.shape
        one, other = self.features
        columns = {
            "class": np.repeat(self.classes, n * m),
            one: np.tile(np.repeat(self.values[0], m), n_classes),
            other: np.tile(self.values[1], n * n_classes),
            "effect": np.moveaxis(self.effect, 2, 0).ravel(),
            "interaction": np.moveaxis(self.interaction, 2, 0).ravel(),
            "rows": np.tile(self.rows.ravel(), n_classes),
        }
        return module("pandas", "tabular").DataFrame(columns)


def _labels(values: NDArray[Any]) -> list[str]:
    return [_label(value) for value in values.tolist()]


def _label(value: Any) -> str:
    if value is None or value != value:
        return MISSING
    if isinstance(value, datetime):
        return value.isoformat(sep=" ").removesuffix(" 00:00:00")
    return f"{value:g}" if isinstance(value, float) else str(value)


def axis_numbers(values: NDArray[Any]) -> Array:
    """Return numbers or dates as places on an axis, dates in days since 1970-01-01; NaN where missing."""
    if values.dtype.kind != "M":
        return values.astype(np.float64)
    seconds: Array = values.astype("datetime64[s]").astype(np.int64).astype(np.float64)
    return np.where(np.isnat(values), np.nan, seconds / DAY)
