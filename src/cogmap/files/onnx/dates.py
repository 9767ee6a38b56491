"""The parts of dates as parts of an ONNX graph: the arithmetic of `tables.dates.date_parts`, step by step on tensors.

Easy to get wrong: a whole number makes an int64 constant, which does not meet a double. All constants here are floats,
exact ones, and the steps are Python's in the same order, so that every part is the same to the last bit.
"""

from ...tables.dates import DAY, PARTS
from .graph import Tensor


def date_parts(seconds: Tensor, first: float) -> dict[str, Tensor]:
    """Return the parts of dates in seconds since 1970-01-01 UTC, by their names; see `tables.dates`."""
    day = _floor(seconds / DAY)
    from_march = day + 719_468.0
    era = _floor(from_march / 146_097.0)
    of_era = from_march - era * 146_097.0
    leaps = _floor(of_era / 1_460.0) - _floor(of_era / 36_524.0) + _floor(of_era / 146_096.0)
    year = _floor((of_era - leaps) / 365.0)
    of_year = of_era - (365.0 * year + _floor(year / 4.0) - _floor(year / 100.0))
    month = _floor((5.0 * of_year + 2.0) / 153.0)
    month = month + 3.0 - 12.0 * (month >= 10.0).as_float64()
    parts = (
        year + 400.0 * era + 1.0 - (month > 2.0).as_float64(),
        month,
        day + 3.0 - 7.0 * _floor((day + 3.0) / 7.0) + 1.0,
        (seconds - day * DAY) / 3_600.0,
        (seconds - first) / DAY,
    )
    return dict(zip(PARTS, parts, strict=True))


def _floor(values: Tensor) -> Tensor:
    return values.apply("Floor")
