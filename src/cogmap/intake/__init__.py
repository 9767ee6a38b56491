"""What users give: checked, counted, encoded for the core, wherever it is.

A fit is given a `Supply`: features, a census, the rows at once if they are few, and the rows as a source for passes.
Read `checks` and `labels` (what may be wrong), `blocks` (rows, checked and counted), `encoding` (rows for the core),
`supply` (rows in memory, and what all supplies have in common); then `device`, `stream`, `dask` and `spark` (rows that
are elsewhere) with `arrays`, `spill` and `progress`; `memory` (how much there is).
"""
