"""What users give: checked, counted, encoded for the core, wherever it is.

Read `checks` and `labels` (what may be wrong), `arrays` (other libraries than numpy), `blocks` (rows some at a time),
`spill` and `progress` (long fits), `memory` (how much there is).
"""
