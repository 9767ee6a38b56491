"""Learn what the columns of a raw table mean: of a table in memory, or in passes over parts of a file.

Both count the same things (`tally`), and the result is the same. A kind of column is written once: in `reading` (how it
is told), `tally` (what is counted) and `meaning` (what follows).

Easy to get wrong: a part of the rows may show another thing than all of them. A column that is known from the whole
table keeps its kind, and nothing about it is suspicious in a part.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from ..core.types import Array
from ..intake.progress import Meter
from .columns import Column
from .medians import medians
from .reading import Declared
from .tally import Numbers, Tally
from .unusable import usable

if TYPE_CHECKING:
    import pandas as pd


def describe_table(
    frame: "pd.DataFrame",
    weight: Array,
    declared: Sequence[tuple[str, Declared]],
    *,
    max_categories: int,
    drop_unusable: bool,
    known: Iterable[Column] = (),
) -> tuple[Column, ...]:
    """Learn what all columns of a table mean; raise one error for all that cannot be used, or drop them.

    Parameters
    ----------
    frame : DataFrame of shape (n, n_columns)
        The table.
    weight : array of shape (n,)
        How often each row counts.
    declared : sequence of (name, declared)
        The columns, and what the user says of them.
    max_categories : int
        As for `describe`.
    drop_unusable : bool
        Whether columns that cannot be used are dropped rather than refused.
    known : iterable of Column
        What columns are in a table of which these are some rows.
    """
    by_name = {column.name: column for column in known}
    describers = (
        partial(
            describe, frame[name], name, weight, declared=said, known=by_name.get(name), max_categories=max_categories
        )
        for name, said in declared
    )
    return usable(describers, drop=drop_unusable, declared=declared)


def describe(
    values: "pd.Series",
    name: str,
    weight: Array,
    *,
    declared: Declared,
    max_categories: int,
    known: Column | None = None,
) -> Column:
    """Learn what a column means from its values, each counted `weight` times.

    Parameters
    ----------
    values : Series of shape (n,)
        The column.
    name : str
        Its name.
    weight : array of shape (n,)
        How often each value counts.
    declared : {"number", "category", "dropped"} or None
        What the user says of it; then nothing about it is suspicious.
    max_categories : int
        Most concepts that a category may have, those of missing values aside; rarer values share "… = other".
    known : Column, default=None
        What the column is in a table of which these are some rows; then its kind and format are known.
    """
    tally = Tally(name, declared, known, held=Numbers())
    tally.add(values, weight)
    tally.settle()
    if tally.to_measure:
        tally.measure(values, weight)
    return tally.column(max_categories)


def learn_columns(
    parts: Callable[[], "Iterable[pd.DataFrame]"],
    declared: Sequence[tuple[str, Declared]],
    most: int,
    meter: Meter,
    *,
    drop_unusable: bool = False,
) -> tuple[Column, ...]:
    """Learn what columns mean in passes over parts of their rows.

    Parameters
    ----------
    parts : callable
        Starts a pass over the rows.
    declared : sequence of (name, declared)
        The columns, and what the user says of them.
    most : int
        Most concepts that a category may have.
    meter : Meter
        Counts the passes; knows the number of rows after the first.
    drop_unusable : bool, default=False
        Whether columns that cannot be used are dropped rather than refused.
    """
    tallies = [Tally(name, said) for name, said in declared]

    def looked(at: list[Tally], look: Callable[[Tally, "pd.Series"], None]) -> Iterator[tuple[int, int]]:
        for part in parts():
            for tally in at:
                look(tally, part[tally.name])
            yield len(part), len(part)

    meter.n_rows = sum(meter.counted(looked(tallies, Tally.add)))
    for tally in tallies:
        tally.settle()
    if to_measure := [tally for tally in tallies if tally.to_measure]:
        sum(meter.counted(looked(to_measure, Tally.measure)))
    middles = medians([tally for tally in tallies if tally.kind in ("number", "date")], parts, meter)
    describers = (partial(tally.column, most, middles.get(tally.name)) for tally in tallies)
    return usable(describers, drop=drop_unusable, declared=declared)
