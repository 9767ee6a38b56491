"""An ONNX graph that is written like array code: tensors have operators, and each operation becomes a node.

Easy to get wrong: members of a stack share scaling and states, and a graph would compute them again. So a node with the
same operator, inputs and attributes as an earlier one *is* that one, and equal arrays are stored once. And an input may
have any name that a column of a table has: all other names give way to it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Union

import numpy as np
from numpy.typing import NDArray
from onnx import NodeProto, TensorProto, helper, numpy_helper

Operand = Union["Tensor", NDArray[Any], float]


class Graph:
    """Nodes and constants, in the order in which they were asked for; none has the name of an input."""

    def __init__(self, inputs: Iterable[str] = ("X",)) -> None:
        self._inputs = frozenset(inputs)
        self.nodes: list[NodeProto] = []
        self.constants: list[TensorProto] = []
        self._known: dict[Any, str] = {}

    def constant(self, value: NDArray[Any] | float) -> "Tensor":
        """Return an array as a tensor; text becomes strings, whole numbers int64 and other numbers float64."""
        array = np.asarray(value)
        if array.dtype.kind in "iu":
            array = array.astype(np.int64)
        elif array.dtype.kind == "f":
            array = array.astype(np.float64)
        key = array.dtype.str, array.shape, tuple(array) if array.dtype.kind == "O" else array.tobytes()
        if key not in self._known:
            self._known[key] = self._free(f"constant_{len(self.constants)}")
            self.constants.append(numpy_helper.from_array(array, self._known[key]))
        return Tensor(self, self._known[key])

    def operand(self, value: Operand) -> "Tensor":
        """Return a tensor as it is, and anything else as a constant."""
        return value if isinstance(value, Tensor) else self.constant(value)

    def node(self, operator: str, *inputs: Operand, **attributes: Any) -> "Tensor":
        """Return the result of an operator, of the default ONNX domain or of that among the attributes."""
        names = [self.operand(value).name for value in inputs]
        key = operator, tuple(names), repr(sorted(attributes.items()))
        if key not in self._known:
            self._known[key] = self._free(f"{operator}_{len(self.nodes)}")
            self.nodes.append(
                helper.make_node(operator, names, [self._known[key]], name=self._known[key], **attributes)
            )
        return Tensor(self, self._known[key])

    def output(self, tensor: "Tensor", name: str) -> str:
        """Give a tensor a name by which a user of the graph asks for it, and return that name."""
        name = self._free(name)
        self.nodes.append(helper.make_node("Identity", [tensor.name], [name], name=name))
        return name

    def _free(self, name: str) -> str:
        """Return a name, with underscores behind it where an input is called so."""
        while name in self._inputs:
            name += "_"
        return name


@dataclass(frozen=True)
class Tensor:
    """A value that is known when the graph runs."""

    graph: Graph
    name: str

    # numpy must not take `array * tensor` apart element by element.
    __array_ufunc__ = None

    def apply(self, operator: str, *others: Operand, **attributes: Any) -> "Tensor":
        """Return an operator applied to this tensor and others."""
        return self.graph.node(operator, self, *others, **attributes)

    def __add__(self, other: Operand) -> "Tensor":
        return self.apply("Add", other)

    def __sub__(self, other: Operand) -> "Tensor":
        return self.apply("Sub", other)

    def __mul__(self, other: Operand) -> "Tensor":
        return self.apply("Mul", other)

    def __truediv__(self, other: Operand) -> "Tensor":
        return self.apply("Div", other)

    def __matmul__(self, other: Operand) -> "Tensor":
        return self.apply("MatMul", other)

    def __neg__(self) -> "Tensor":
        return self.apply("Neg")

    def __radd__(self, other: Operand) -> "Tensor":
        return self.graph.node("Add", other, self)

    def __rsub__(self, other: Operand) -> "Tensor":
        return self.graph.node("Sub", other, self)

    def __rmul__(self, other: Operand) -> "Tensor":
        return self.graph.node("Mul", other, self)

    def __ge__(self, other: Operand) -> "Tensor":
        return self.apply("GreaterOrEqual", other)

    def __gt__(self, other: Operand) -> "Tensor":
        return self.apply("Greater", other)

    def __getitem__(self, columns: tuple[slice, slice]) -> "Tensor":
        """Return consecutive columns."""
        return self.apply("Slice", np.array([columns[1].start]), np.array([columns[1].stop]), np.array([1]))

    def where(self, true: Operand, false: Operand) -> "Tensor":
        """Return `true` where this tensor holds, and `false` elsewhere."""
        return self.apply("Where", true, false)

    def columns(self, indices: NDArray[np.intp]) -> "Tensor":
        """Return these columns."""
        return self.apply("Gather", indices, axis=1)

    def as_float64(self) -> "Tensor":
        """Return the same numbers in double precision; true is 1."""
        return self.apply("Cast", to=TensorProto.DOUBLE)

    def repeated(self, value: NDArray[Any]) -> "Tensor":
        """Return an array as often as this tensor has rows, along a new first axis."""
        n_rows = self.apply("Shape").apply("Gather", np.array([0]))
        shape = n_rows.apply("Concat", np.array(value.shape, dtype=np.int64), axis=0)
        return self.graph.node("Expand", value[None], shape)


def hstack(tensors: list[Tensor], axis: int = 1) -> Tensor:
    """Return tensors side by side."""
    return tensors[0] if len(tensors) == 1 else tensors[0].apply("Concat", *tensors[1:], axis=axis)


def total(tensors: list[Tensor]) -> Tensor:
    """Return the sum of tensors."""
    return sum(tensors[1:], start=tensors[0])


def check_text(texts: Iterable[str], whose: str) -> None:
    """Raise for text that ONNX cannot hold: half of a surrogate pair has no UTF-8."""
    for text in texts:
        try:
            text.encode()
        except UnicodeEncodeError:
            raise ValueError(
                f"{whose} cannot be part of an ONNX file: {text!r} is not valid Unicode. Correct it and fit again."
            ) from None
