"""Columns that cannot be used: all of them in one message, or left out.

Easy to get wrong: what a user has said about a column is not overruled. One that is listed as numeric and is none is an
error, also where unusable columns are to be dropped.
"""

from collections.abc import Callable, Iterable

from ..errors import UnusableColumnError
from .columns import Column
from .reading import Declared


def usable(
    describers: Iterable[Callable[[], Column]], *, drop: bool, declared: Iterable[tuple[str, Declared]]
) -> tuple[Column, ...]:
    """Return the columns; raise one error for all that cannot be used, or drop them.

    Parameters
    ----------
    describers : iterable of callables
        Each returns what a column means, or raises a ValueError that says what is wrong with it.
    drop : bool
        Whether columns that cannot be used are dropped.
    declared : iterable of (name, declared)
        Columns, and what a user has said of them; those of which something was said are not dropped.
    """
    columns: list[Column] = []
    errors: list[ValueError] = []
    said = {name for name, kind in declared if kind is not None}
    for describe in describers:
        try:
            columns.append(describe())
        except ValueError as error:
            if drop and isinstance(error, UnusableColumnError) and error.name not in said:
                columns.append(Column(error.name, "dropped", remark=error.reason))
            else:
                errors.append(error)
    if len(errors) == 1:
        raise errors[0]
    if errors:
        lines = "\n".join(f"  {error}" for error in errors)
        raise ValueError(
            f"{len(errors)} columns cannot be used as they are:\n{lines}\n"
            "Columns that are no features can be dropped all at once: drop_unusable=True, or --drop-unusable."
        )
    return tuple(columns)
