"""The paper's experiments, each of them a command: protocol, comparison systems, tables, figures and claims.

`registry` names the classifiers with their grids, `protocol` evaluates one fold, `runner` evaluates many and keeps what
it finds in `results`; `tables`, `figures` and `claims` read those. Needs the extra ``study``.
"""
