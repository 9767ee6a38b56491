"""tanh(u), and tanh(u) − u without cancellation: by a fraction, by a series for small u, and in any library.

Easy to get wrong: what is done with a number may depend on that number alone, never on those that come with it.
"""

from typing import Any

import numpy as np

from ..types import Array

NUMERATOR = (44.0, 12870.0, 810810.0, 11486475.0)
DENOMINATOR = (45.0, 13860.0, 945945.0, 16216200.0, 34459425.0)
"""Lambert's continued fraction for tanh(u), cut at depth 9: tanh(u) − u = −u s N(s) / D(s), s = u², for s < 1.

All terms are positive, so nothing cancels.
"""

SERIES = (-1 / 3, 2 / 15, -17 / 315, 62 / 2835, -1382 / 155925, 21844 / 6081075)
"""Taylor's series of tanh(u) / u − 1 in s = u²; it converges for s < π² / 4."""

REACHES = tuple(np.pi**2 / 4 * 2.0 ** (-54 / (k + 1)) for k in range(len(SERIES)))
"""Largest s for which the first k + 1 terms of the series are all of tanh(u) − u but for its rounding."""


def tanh_minus_identity(xp: Any, u: Any, tanh_u: Any) -> Any:
    """Return tanh(u) − u to full relative precision; `tanh_u` is tanh(u)."""
    s = u * u
    near = _polynomial(s, *NUMERATOR) / _polynomial(s, *DENOMINATOR)
    return xp.where(s >= 1.0, tanh_u - u, near * s * -u)


def _polynomial(s: Any, first: float, *others: float) -> Any:
    value = s * first + others[0]
    for coefficient in others[1:]:
        value = value * s + coefficient
    return value


def n_terms(likely: float) -> int:
    """Return how many terms of the series |d| asks for; 0 where the series is longer than the fraction."""
    return next((k + 1 for k, reach in enumerate(REACHES) if likely * likely < reach), 0)


def tanh_parts(
    u: Array, terms: int = 0, sure: bool = False, room: tuple[Array, Array, Array] | None = None
) -> tuple[Array, Array]:
    """Return tanh(u), and tanh(u) − u to full relative precision, in the first two arrays of `room`.

    What is done with a number depends on that number alone, never on those that come with it: `terms` of the series, or
    the fraction, where that is precise; `sure` says that it is everywhere.
    """
    tanh, rest, s = room or tuple(np.empty_like(u) for _ in range(3))
    np.multiply(u, u, out=s)
    if terms:
        np.multiply(s, SERIES[terms - 1], out=tanh)
        for coefficient in SERIES[terms - 2 :: -1] if terms > 1 else ():
            tanh += coefficient
            tanh *= s
        np.multiply(tanh, u, out=rest)
    else:
        _fraction(s, u, tanh, rest)
    np.add(u, rest, out=tanh)
    limit = REACHES[terms - 1] if terms else 1.0
    if not sure and s.max(initial=0.0) >= limit:
        large = s >= limit
        given = u[large]
        tanh[large] = exact = np.tanh(given)
        rest[large] = tanh_minus_identity(np, given, exact)
    return tanh, rest


def _fraction(s: Array, u: Array, below: Array, rest: Array) -> None:
    """Write Lambert's fraction of tanh(u) − u into `rest`; `below` is memory."""
    np.multiply(s, -NUMERATOR[0], out=rest)
    np.multiply(s, DENOMINATOR[0], out=below)
    for value, (*middle, last), sign in ((rest, NUMERATOR[1:], -1.0), (below, DENOMINATOR[1:], 1.0)):
        for coefficient in middle:
            value += sign * coefficient
            value *= s
        value += sign * last
    rest /= below
    rest *= np.multiply(s, u, out=below)
