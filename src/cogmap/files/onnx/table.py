"""The columns of a raw table as inputs of an ONNX graph, and the numbers that the network reads of them.

One input of shape (rows, 1) for each column that has a concept, under the column's own name. Numbers, true and false as
1 and 0, and dates as seconds since 1970-01-01 UTC are NaN where missing; categories are text. What a category becomes
is a table with one line for each known value, one for any other and one for a missing value, which `Column.encode`
itself fills in; the graph looks the line up.

The look-up is LabelEncoder of the domain ``ai.onnx.ml``, version 2, the one operator here that is not of the default
domain. Equal compares text from opset 19 on only, and would need one comparison for each category; LabelEncoder runs
beside opset 13 and is a single hashed look-up, in every onnxruntime that has not been built without that domain.

Easy to get wrong: ONNX has no missing text. The empty text stands for it, unless it is a value of the column. And
seconds since 1970 have no room in float32, which would round them to two minutes: dates are always double.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...tables.columns import Column
from .dates import date_parts
from .graph import Graph, Tensor, check_text, hstack


@dataclass(frozen=True)
class Input:
    """What a graph takes under one name.

    Attributes
    ----------
    name : str
        Its name.
    type : {"double", "float", "string"}
        Type of its elements, as ONNX calls it.
    width : int
        Number of its columns.
    missing : str or None
        What stands for a missing value: "NaN", or this text; None where none may be missing.
    meaning : str
        What it holds, in a sentence.
    categories : tuple of str
        The texts that are known by name; all others count as one.
    """

    name: str
    type: str
    width: int
    missing: str | None
    meaning: str
    categories: tuple[str, ...] = ()


def table_inputs(columns: Sequence[Column], dtype: str = "float64") -> list[Input]:
    """Return the input of each column that is needed; numbers are of type `dtype`, "float32" or "float64"."""
    used = [column for column in columns if column.needed]
    for column in used:
        if not column.name:
            raise ValueError("A column with an empty name cannot be an input of an ONNX graph: name it and fit again.")
        check_text((column.name, *column.categories), f"Column {column.name!r}")
    return [_input(column, "float" if dtype == "float32" else "double") for column in used]


def encoded(graph: Graph, columns: Sequence[Column]) -> Tensor:
    """Return what `TabularClassifier.encode` does with the inputs of these columns, shape (rows, n_encoded)."""
    return hstack(
        [part for column in columns if column.needed for part in _encoded(column, Tensor(graph, column.name))]
    )


def is_text(column: Column) -> bool:
    """Say whether a column's values are text in the graph; one that is constant has no kind but its only value's."""
    return isinstance(column.fill, str)


def missing_text(column: Column) -> str:
    """Return what stands for a missing value: the empty text, or one that `fit` did not see in the column."""
    return _unused((*column.categories, *column.rare, column.fill), "missing")


def _input(column: Column, number: str) -> Input:
    """Describe the input of a column; `number` is the type of numbers."""
    if is_text(column):
        missing = missing_text(column)
        return Input(
            column.name, "string", 1, missing, f"{_meaning(column)}; {missing!r} where missing.", column.categories
        )
    kind = "double" if column.kind == "date" else number
    return Input(column.name, kind, 1, "NaN", f"{_meaning(column)}; NaN where missing.")


def _meaning(column: Column) -> str:
    """Say what is to be given of a column."""
    if column.kind == "constant":
        return "Anything: only whether it is missing counts"
    if column.kind == "category":
        return "Category as text, the number 1 as '1'"
    if column.kind == "date":
        return "Time of day in seconds" if column.format == "time" else "Date in seconds since 1970-01-01 UTC"
    if column.kind == "boolean":
        return "True as 1 and false as 0"
    return "Number, without the unit and the marks between digits that the table has" if column.format else "Number"


def _encoded(column: Column, values: Tensor) -> list[Tensor]:
    if is_text(column):
        return [_looked_up(column, values)]
    numbers = values.as_float64()
    absent = numbers.apply("IsNaN")
    parts = [] if column.kind == "constant" else [absent.where(float(column.fill or 0), numbers)]
    if column.kind == "date":
        every = date_parts(parts[0], column.first or 0.0)
        parts = [every[part] for part in column.parts]
    return parts + [absent.as_float64()] * column.missing


def _looked_up(column: Column, values: Tensor) -> Tensor:
    """Return the line of each value in the table of what all values become."""
    n_known = len(column.categories)
    place = values.apply(
        "LabelEncoder",
        domain="ai.onnx.ml",
        keys_strings=[*column.categories, missing_text(column)],
        values_int64s=[*range(n_known), n_known + 1],
        default_int64=n_known,
    )
    return values.graph.constant(_lines(column)).apply("Gather", place.apply("Squeeze", np.array([1])))


def _lines(column: Column) -> NDArray[np.float64]:
    """Return the encoded columns of each category, of any other text and of a missing value, in this order."""
    import pandas as pd

    other = _unused(column.categories, "other")
    return column.encode(pd.Series([*column.categories, other, None], dtype=object, name=column.name))


def _unused(texts: Collection[object], text: str) -> str:
    """Return the empty text, or the first of "text", "texttext", … that is not among these."""
    free = ""
    while free in texts:
        free += text
    return free
