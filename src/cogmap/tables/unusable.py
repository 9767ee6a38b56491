"""Columns that cannot be used: all of them in one message, or left out.

Easy to get wrong: what a user has said about a column is not overruled. One that is listed as numeric and is none is an
error, also where unusable columns are to be dropped.
"""

from collections.abc import Callable, Collection, Iterable

from ..errors import UnusableColumnError
from .columns import Column

Attempt = Column | ValueError


def attempted(describe: Callable[[], Column]) -> Attempt:
    """Return what a column means, or why it cannot be used."""
    try:
        return describe()
    except ValueError as error:
        return error


def usable(attempts: Iterable[Attempt], *, drop: bool, declared: Collection[str] = ()) -> tuple[Column, ...]:
    """Return the columns; raise one error for all that cannot be used, or drop them.

    Parameters
    ----------
    attempts : iterable of Column or ValueError
        Each column, or what is wrong with it.
    drop : bool
        Whether columns that cannot be used are dropped.
    declared : collection of str
        Columns of which a user has said what they are; they are not dropped.
    """
    columns: list[Column] = []
    errors: list[ValueError] = []
    for one in attempts:
        if isinstance(one, Column):
            columns.append(one)
        elif drop and isinstance(one, UnusableColumnError) and one.name not in declared:
            columns.append(Column(one.name, "dropped", remark=one.reason))
        else:
            errors.append(one)
    if len(errors) == 1:
        raise errors[0]
    if errors:
        lines = "\n".join(f"  {error}" for error in errors)
        raise ValueError(
            f"{len(errors)} columns cannot be used as they are:\n{lines}\n"
            "Columns that are no features can be dropped all at once: drop_unusable=True, or --drop-unusable."
        )
    return tuple(columns)
