"""Rows in blocks, and sums over them: all that training needs to know of rows that it does not hold.

Import `Space` and `NUMPY` from `space`, `Rows` from `rows`, `Source` from `sources`, `Statistic` from `statistics`.
Read `space` (where arrays are), `rows`, `statistics` (what can be merged), `sources` (blocks that are passed over),
`factor` (means, scatter and regressions), `sampling` (rows that stand for all); then `threads` (blocks side by side),
`tiles` (predictions in blocks of one shape), `lapack` (factors while other threads work) and `kernels` (for CUDA).
"""
