"""Raw tables: files of many kinds, what their columns mean, and the columns as numbers.

Reading: `parts` (a table in a file; a format is a class: `csv_parts`, `arrow_parts`, `workbooks`), with `contents` (its
bytes), `layout` and `lines` (of CSV) and `limits`; `table` (a file at once); `files` (blocks of numbers, for `stream`).
Meaning: `columns` (what a column means, and its numbers), `reading` with `amounts` and `dates` (what values are),
`tally` and `medians` (what is counted), `meaning` (what follows), `description` (of a whole table). Use: `frames`,
`new_rows`, `knowledge`, `target` (the column of the classes).
"""

from .table import read_table

__all__ = ["read_table"]
