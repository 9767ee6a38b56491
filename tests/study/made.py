"""Results made up for tests: kappas are given, and everything else follows from them."""

import numpy as np
import pandas as pd

from cogmap.study.protocol import COLUMNS

NUMBERS = ("kappa", "accuracy", "fit_seconds", "cpu_seconds", "search_seconds")


def rows(dataset, classifier, kappa, *, grid="small", seconds=1.0, error=""):
    """Return five folds around a kappa, and the time on the whole dataset."""
    key = {"dataset": dataset, "classifier": classifier, "grid": grid, "inner": 3, "scale": "fold", "seed": 42}
    scores = {"accuracy": kappa, "fit_seconds": seconds, "cpu_seconds": seconds, "search_seconds": 0.0, "error": error}
    folds = [key | scores | {"fold": str(i), "kappa": kappa + 0.01 * (i - 2), "params": "{}"} for i in range(5)]
    whole = key | scores | {"fold": "all", "kappa": np.nan, "params": "{}"}
    return [*folds, whole]


def frame(*parts):
    """Return the rows as the results file would be read."""
    table = pd.DataFrame([row for part in parts for row in part], columns=list(COLUMNS))
    return table.astype(dict.fromkeys(NUMBERS, float))
