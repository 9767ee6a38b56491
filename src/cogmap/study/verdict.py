"""What a claim of the paper comes to: the verdict, the figure that decided and its p; and what all claims share."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

LEVEL = 0.05
FEWEST = 10
"""Fewest datasets of a test whose failure to find a difference says something."""
NOTABLE = 0.01
"""Smallest difference of kappa that is called one."""
CLOSE = 0.02
"""Methods within this kappa of the best are the most accurate ones."""
FAR = 0.05
"""Difference of kappa from which on a method is called far better."""


class MissingResultsError(ValueError):
    """The results do not hold what a figure or a claim needs."""


@dataclass(frozen=True)
class Verdict:
    """A claim, whether the data support it, the figure that decided, its p-value, and the numbers behind it."""

    claim: str
    holds: bool
    figure: str
    p: float
    evidence: str

    @property
    def word(self) -> str:
        """The verdict in words."""
        return "holds" if self.holds else "does not hold"

    def __str__(self) -> str:
        return f"{self.word}: {self.claim}\n  {self.figure}, p = {self.p:.2g}\n  {self.evidence}"


def wilcoxon(difference: ArrayLike, alternative: Literal["two-sided", "greater"] = "two-sided") -> float:
    """Return the p-value of Wilcoxon's signed-rank test over datasets; 1 where nothing differs."""
    values = np.asarray(difference, dtype=np.float64)
    return float(stats.wilcoxon(values, alternative=alternative).pvalue) if np.any(values) else 1.0


def enough(kappa: pd.DataFrame) -> pd.DataFrame:
    """Return the table if it has datasets enough for a test."""
    if len(kappa) < FEWEST:
        raise MissingResultsError(
            f"Only {len(kappa)} datasets are finished, and the test needs {FEWEST}: run `cogmap study run` on more."
        )
    return kappa
