"""Raw tables: files of many kinds, what their columns mean, and the columns as numbers.

Read `table` (a file at once), `parts` (some rows at a time), `frames`, `columns` with `description` and `reading` (what
a column means), `tally` (the same from parts), `target` (the column of the classes).
"""

from .table import read_table

__all__ = ["read_table"]
