"""Rows in blocks, and sums over them: all that training needs to know of rows that it does not hold.

Read `rows`, `statistics` (what can be merged), `sources` (where blocks come from), `sampling`, `blocks`.
"""
