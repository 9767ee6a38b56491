"""What experts state about columns of a raw table, as statements about the concepts that these become.

A statement about "colour" holds for each of "colour = red", "colour = blue" and so on; one about "age" for the number.
That a column is irrelevant holds for all its concepts, "age is missing" among them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ..knowledge import Knowledge
from ..knowledge.statement import Statement
from .columns import Column


def by_concept(knowledge: Knowledge, columns: Sequence[Column]) -> Knowledge:
    """Return the same knowledge in names of concepts; names that are no column's stay as they are."""
    known = {column.name: column for column in columns}
    return Knowledge(part for statement in knowledge for part in _parts(statement, known))


def _parts(statement: Statement, columns: dict[str, Column]) -> Iterator[Statement]:
    if statement.kind == "irrelevant":
        column = columns.get(statement.source)
        for name in (column and column.concepts) or (statement.source,):
            yield replace(statement, source=name)
        return
    for source in _meant(statement.source, columns):
        if statement.target is None:
            yield replace(statement, source=source)
            continue
        for target in _meant(statement.target, columns):
            if source != target or source == statement.source:
                yield replace(statement, source=source, target=target)


def _meant(name: str, columns: dict[str, Column]) -> tuple[str, ...]:
    """Return the concepts that a name stands for: its column's values, or the name itself."""
    column = columns.get(name)
    if column is None or name in column.concepts:
        return (name,)
    values = column.concepts[: len(column.concepts) - column.missing]
    return values or column.concepts or (name,)
