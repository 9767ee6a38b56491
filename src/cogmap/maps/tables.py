"""Maps as CSV: a list of edges, or a matrix with a row and a column for each concept (as Mental Modeler writes it).

Neither form says how a map reasons. A bias is an edge without a source in the list, and a row "bias" in the matrix;
a concept without edges is a source without a target.

Easy to get wrong: rows of a matrix are sources, columns are targets.
"""

import csv
import io
import math
from collections.abc import Callable, Sequence

import numpy as np

from ..tables.layout import DELIMITERS, NUMBER, best_delimiter, csv_rows, has_decimal_comma
from .cognitive_map import CognitiveMap

SOURCES, TARGETS = ("source", "from"), ("target", "to")
WEIGHTS = ("weight", "value", "strength")
"""How the columns of a list of edges may be called, in any case."""

BIAS = "bias"

Rows = list[list[str]]
Reader = Callable[[str, str], float]


def to_edge_list(cognitive_map: CognitiveMap) -> str:
    """Return a map as lines of source, target and weight."""
    linked = {name for edge in cognitive_map.edges for name in edge[:2]}
    lines: list[Sequence[object]] = [("source", "target", "weight"), *cognitive_map.edges]
    lines += [("", name, float(b)) for name, b in zip(cognitive_map.names, cognitive_map.bias, strict=True) if b]
    linked |= {name for name, b in zip(cognitive_map.names, cognitive_map.bias, strict=True) if b}
    lines += [(name, "", "") for name in cognitive_map.names if name not in linked]
    return _csv(lines)


def to_matrix(cognitive_map: CognitiveMap) -> str:
    """Return a map as a matrix: a row for each source, a column for each target."""
    lines: list[Sequence[object]] = [("", *cognitive_map.names)]
    lines += [(name, *row) for name, row in zip(cognitive_map.names, cognitive_map.weights.tolist(), strict=True)]
    if cognitive_map.bias.any():
        if BIAS in cognitive_map.names:
            raise ValueError("A matrix has its bias in a row 'bias', and a concept has that name: write another form.")
        lines.append((BIAS, *cognitive_map.bias.tolist()))
    return _csv(lines)


def _csv(lines: Sequence[Sequence[object]]) -> str:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(lines)
    return text.getvalue()


def from_csv(content: str) -> CognitiveMap:
    """Read a map from a list of edges or a matrix, whichever it is."""
    tables = {delimiter: _rows(content, delimiter) for delimiter in DELIMITERS}
    if not any(tables.values()):
        raise ValueError("the file is empty.")
    # A name may hold other delimiters; by the wrong one, hardly a table is a map. A comma may be a decimal mark, but
    # then the rows differ in length.
    for delimiter in sorted(tables, key=",".__ne__):
        rows = tables[delimiter]
        if len(rows[0]) > 1 and len({len(row) for row in rows}) == 1:
            found = _map_of(rows, _reader(delimiter != "," and has_decimal_comma(rows)))
            if found is not None:
                return found
    raise ValueError(_neither(tables[best_delimiter(tables)]))


def _map_of(rows: Rows, number: Reader) -> CognitiveMap | None:
    """Return the map that rows of equal length are, or None where they are none."""
    head = [cell.casefold() for cell in rows[0]]
    if _is_matrix(rows):
        return _matrix(rows[0][1:], [row[0] for row in rows[1:]], [row[1:] for row in rows[1:]], number)
    if any(end in head for end in SOURCES) and any(end in head for end in TARGETS):
        columns = [_column(head, known) for known in (SOURCES, TARGETS, WEIGHTS)]
        return _edge_list([[row[k] for k in columns] for row in rows[1:]], 2, number)
    if len(head) == 3 and all(_is_number(row[2]) and not _is_number(row[0]) for row in rows):
        return _edge_list(rows, 1, number)
    if len(rows) == len(head) and all(_is_number(cell) for row in rows for cell in row):
        names = [f"C{k}" for k in range(1, len(rows) + 1)]
        return _matrix(names, names, rows, number)
    if len(rows) == len(head) + 1 and not any(_is_number(cell) for cell in head):
        return _matrix(rows[0], rows[0], rows[1:], number)
    return None


def _neither(rows: Rows) -> str:
    """Say why a table is no map."""
    for number, row in enumerate(rows, start=1):
        if len(row) != len(rows[0]):
            return f"row {number} has {len(row)} values where the first has {len(rows[0])}: correct it."
    down, across = [row[0] for row in rows[1:]], rows[0][1:]
    odd = [name for name in (*down, *across) if (name in down) != (name in across) and name != BIAS]
    reason = f" ({odd[0]!r} is in one of them only)" if odd else ""
    return (
        "this is neither a list of edges (columns source, target and weight) nor a matrix whose first row and first "
        f"column name the same concepts{reason}: correct it."
    )


def _rows(content: str, delimiter: str) -> Rows:
    """Return the rows that are not blank, of cells without white space around them."""
    try:
        rows = csv_rows(io.StringIO(content, newline=""), delimiter, strict=False)
        return [[cell.strip() for cell in row] for row in rows if any(cell.strip() for cell in row)]
    except csv.Error as error:
        raise ValueError(f"this is not valid CSV, {error}: is a quote left open?") from error


def _is_matrix(rows: Rows) -> bool:
    """Whether the first row and the first column name the same concepts."""
    across, down = rows[0][1:], [row[0] for row in rows[1:]]
    if rows[0][0].casefold() in SOURCES or not all(across):
        return False
    return bool(across) and (set(across) == set(down) or set(across) == set(down) - {BIAS})


def _matrix(targets: list[str], sources: list[str], cells: Rows, number: Reader) -> CognitiveMap:
    values = {
        source: [
            number(cell, f"{source} → {target}") if cell else 0.0 for target, cell in zip(targets, row, strict=True)
        ]
        for source, row in zip(sources, cells, strict=True)
    }
    if len(values) < len(sources):
        twice = next(name for name in sources if sources.count(name) > 1)
        raise ValueError(f"two rows are called {twice!r}: rename one of them.")
    bias = values.pop(BIAS) if BIAS in values and BIAS not in targets else None
    return CognitiveMap(targets, np.array([values[name] for name in targets]), bias)


def _edge_list(rows: Rows, first: int, number: Reader) -> CognitiveMap:
    edges: list[tuple[str, str, float]] = []
    names: dict[str, None] = {}
    bias: dict[str, float] = {}
    for line, (source, target, weight) in enumerate(rows, start=first):
        names |= dict.fromkeys(name for name in (source, target) if name)
        if source and target:
            edges.append((source, target, number(weight, f"row {line}, {source} → {target}")))
        elif target and target not in bias:
            bias[target] = number(weight, f"row {line}, the bias of {target}")
        elif target or weight:
            raise ValueError(f"row {line} has no source and target, or a second bias of one concept: correct it.")
    cognitive_map = CognitiveMap.from_edges(edges, names)
    return CognitiveMap(
        cognitive_map.names, cognitive_map.weights, [bias.get(name, 0.0) for name in cognitive_map.names]
    )


def _column(head: list[str], known: tuple[str, ...]) -> int:
    found = [head.index(name) for name in known if name in head]
    if not found:
        raise ValueError(f"there is no column {known[0]!r}: name the columns source, target and weight.")
    return found[0]


def _is_number(cell: str) -> bool:
    return not cell or bool(NUMBER.fullmatch(cell))


def _reader(decimal_comma: bool) -> Reader:
    """Return a function from a cell, and the words for where it is, to a number."""

    def number(cell: str, where: str) -> float:
        try:
            value = float(cell.replace(",", ".") if decimal_comma else cell)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise ValueError(f"{where} has the weight {cell!r}: give a finite number.")
        return value

    return number
