"""The paper's claims, each with a verdict computed from the results.

A claim states beforehand what would count as support; the verdict is "holds", "does not hold", or an error that names
the run which is missing. Each is put to ``LTCN``, with inner weights as printed, and to ``LTCN slopes``, with those of
the authors' code.
"""

from collections.abc import Callable
from typing import Any

import pandas as pd

from .claims_accuracy import black_boxes, both_steps, fastest, ripper, white_boxes
from .claims_reasoning import classic_worse, five_iterations, fixed_point, larger_phi, linearity
from .claims_relevance import relevance
from .sweeps import INNER
from .verdict import MissingResultsError, Verdict

CLAIMS: dict[str, Callable[[pd.DataFrame, str], Verdict]] = {
    "classic": classic_worse,
    "fixed-point": fixed_point,
    "larger-phi": larger_phi,
    "linearity": linearity,
    "five-iterations": five_iterations,
    "both-steps": both_steps,
    "black-boxes": black_boxes,
    "white-boxes": white_boxes,
    "ripper": ripper,
    "fastest": fastest,
    "relevance": relevance,
}
"""In the order of the paper's text."""


def claims_table(results: pd.DataFrame) -> pd.DataFrame:
    """Return verdict, figure and p of each claim and network; what cannot be decided says which run it needs."""
    rows: list[dict[str, Any]] = []
    for name, judge in CLAIMS.items():
        for network in INNER:
            row: dict[str, Any] = {"claim": name, "network": network}
            try:
                found = judge(results, network)
                row |= {"verdict": found.word, "figure": found.figure, "p": found.p}
            except MissingResultsError as error:
                row |= {"verdict": "not decided", "figure": str(error)}
            rows.append(row)
    return pd.DataFrame(rows)
