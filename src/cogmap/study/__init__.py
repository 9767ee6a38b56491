"""The paper's experiments, each of them a command: protocol, comparison systems, tables, figures and claims.

Read `datasets`, `registry` (the classifiers with their grids), `protocol` (evaluates one fold), `runner` (many of them,
kept in `results`); `tables`, `figures` and `claims` read those. Needs the extra ``study``.
"""
