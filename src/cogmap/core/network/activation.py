"""The activation f of a concept, its inverse and its derivative.

Both activations of the paper are one function: f(z) = offset + scale · tanh(slope · z). Sigmoid is
½ + ½ tanh(z/2). Writing them so lets every later identity be derived once.

Easy to get wrong: f⁻¹ is infinite at the ends of the range, where min-max scaled data always has values.
`inverse` therefore clips to `EPSILON` inside the range first (the paper's "inverse-friendly" values).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..types import Array

EPSILON = 1e-2
"""Distance from the ends of the range to which `inverse` clips, as a share of the range.

Mean kappa on nine sets rises with it up to 1e-2 and is flat beyond (`benchmarks/epsilon.py`); this is the smallest
margin on the plateau, and so the one that changes the data least.
"""


@dataclass(frozen=True)
class Activation:
    """f(z) = offset + scale · tanh(slope · z)."""

    name: str
    offset: float
    scale: float
    slope: float

    def __call__(self, z: Array) -> Array:
        """Return f(z)."""
        bent: Array = self.bend(self.slope * z)
        return bent

    def bend(self, z: Any, xp: Any = np) -> Any:
        """Return f(z / slope), for arguments that the slope is in already; `xp` is the namespace of z."""
        return self.offset + self.scale * xp.tanh(z)

    def derivative(self, z: Array) -> Array:
        """Return f′(z) = scale · slope · (1 − tanh²), without cancellation where tanh is near ±1."""
        th = np.tanh(self.slope * z)
        slope: Array = self.lipschitz * (1 - th) * (1 + th)
        return slope

    def inverse(self, y: Array, xp: Any = np) -> Array:
        """Return f⁻¹ of y, clipped to the inside of the range first; `xp` is the namespace of y."""
        margin = EPSILON * (self.high - self.low)
        y = xp.clip(y, self.low + margin, self.high - margin)
        z: Array = xp.atanh((y - self.offset) / self.scale) / self.slope
        return z

    @property
    def ends(self) -> tuple[float, float]:
        """f⁻¹ of 0 and of 1: what a readout aims at for other classes and for a row's own."""
        zero, one = self.inverse(np.array([0.0, 1.0])).tolist()
        return zero, one

    @property
    def low(self) -> float:
        """Infimum of f."""
        return self.offset - self.scale

    @property
    def high(self) -> float:
        """Supremum of f."""
        return self.offset + self.scale

    @property
    def lipschitz(self) -> float:
        """Largest derivative of f: ¼ for sigmoid, 1 for tanh."""
        return self.scale * self.slope


@dataclass(frozen=True)
class Step(Activation):
    """The limit of an infinite slope: the sign of z, or 0 for negative z where the range begins with 0."""

    def bend(self, z: Any, xp: Any = np) -> Any:
        """Return f(z)."""
        return xp.clip(xp.sign(z), self.low, self.high)

    def derivative(self, z: Array) -> Array:
        """Return 0, the derivative wherever there is one."""
        return np.zeros_like(z)

    @property
    def lipschitz(self) -> float:
        """Infinity: a step."""
        return float("inf")


ACTIVATIONS = {
    "sigmoid": Activation("sigmoid", offset=0.5, scale=0.5, slope=0.5),
    "tanh": Activation("tanh", offset=0.0, scale=1.0, slope=1.0),
}

STEPS = {
    "bivalent": Step("bivalent", offset=0.5, scale=0.5, slope=1.0),
    "trivalent": Step("trivalent", offset=0.0, scale=1.0, slope=1.0),
}
"""Activations of the classic maps: 0 or 1, and −1, 0 or 1. They have no inverse, so no network learns with them."""
