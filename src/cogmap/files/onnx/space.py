"""An ONNX graph as a space: readouts written for arrays are recorded as operators of the graph.

`core.readout` asks a space for few operations. Those of a graph return tensors that are known when it runs; whatever
does not depend on the row, as the reference's own trajectory, is a numpy array here and a constant there.

Easy to get wrong: sigmoid stays ½ + ½ tanh(z/2): onnxruntime's Tanh is good to six units in the last place, its Sigmoid
to 1e-11. And a product with one number may not stand next to a matrix product: onnxruntime fuses the two and keeps the
number in single precision.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .graph import Operand, Tensor, hstack


class Operators:
    """The functions of an array namespace that readouts use, on tensors."""

    @staticmethod
    def tanh(x: Tensor) -> Tensor:
        """Return tanh x."""
        return x.apply("Tanh")

    @staticmethod
    def exp(x: Tensor) -> Tensor:
        """Return exp x."""
        return x.apply("Exp")

    @staticmethod
    def abs(x: Tensor) -> Tensor:
        """Return |x|."""
        return x.apply("Abs")

    @staticmethod
    def sqrt(x: Tensor) -> Tensor:
        """Return √x."""
        return x.apply("Sqrt")

    @staticmethod
    def clip(x: Tensor, low: float, high: float | None) -> Tensor:
        """Return x, but at least `low` and, where it is given, at most `high`."""
        least = x.apply("Max", low)
        return least if high is None else least.apply("Min", high)

    @staticmethod
    def where(condition: Tensor, true: Operand, false: Operand) -> Tensor:
        """Return `true` where the condition holds, and `false` elsewhere."""
        return condition.where(true, false)

    @staticmethod
    def sum(x: Tensor, axis: int, keepdims: bool) -> Tensor:
        """Return sums along an axis."""
        return x.apply("ReduceSum", np.array([axis]), keepdims=int(keepdims))

    @staticmethod
    def zeros_like(x: Tensor) -> float:
        """Return what counts as zeros of any shape."""
        return 0.0


class GraphSpace:
    """What `core.sums.space.Space` is to arrays, for the tensors of a graph."""

    xp = Operators
    numpy = cuda = False

    def put(self, array: Any) -> NDArray[Any]:
        """Return an array, which becomes a constant where it is used."""
        return np.asarray(array)

    def product(self, X: Tensor, W: NDArray[Any]) -> Tensor:
        """Return X W."""
        return X @ W

    def times_triangle(self, F: Tensor, T: NDArray[Any]) -> Tensor:
        """Return F T."""
        return F @ T

    def take(self, x: Tensor, at: NDArray[np.intp], axis: int) -> Tensor:
        """Return some entries along an axis."""
        return x.apply("Gather", at, axis=axis)

    def hstack(self, parts: Sequence[Tensor]) -> Tensor:
        """Return tensors side by side."""
        return hstack(list(parts))

    def ones(self, like: Tensor) -> Tensor:
        """Return a column of ones with as many rows as a tensor has."""
        return like.repeated(np.ones(1))

    def double(self, x: Tensor) -> Tensor:
        """Return numbers in double precision; true is 1."""
        return x.as_float64()
