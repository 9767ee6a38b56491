"""Sweeps of φ and T without tuning: which configurations to run, and their results as frames.

Easy to get wrong: the paper's figures use five outer folds and no search. So a configuration is a "grid" of its own in
the results, such as ``phi=0.8,max_iter=20,readout=final``, and its folds are those of every other result.
"""

from collections.abc import Sequence

import pandas as pd

from .datasets import PAPER
from .protocol import WHOLE, fixed

PHI = tuple(round(0.1 * i, 1) for i in range(11))
ITERATIONS = (1, 2, 3, 4, 5, 7, 10, 15, 20)
MAX_ITER = 20
CLASSIC = "FCM 1e-15"
INNER = {"LTCN": "regression", "LTCN slopes": "slopes"}
"""Inner weights of the two networks: as printed, and as in the authors' code."""

RELEVANCE_SETS = (
    *("bank", "cardiotocography-10-clean", "cardiotocography-3-clean", "mfeat-fourier", "mfeat-karhunen"),
    *("mfeat-morphological", "mfeat-zernike", "optdigits", "page-blocks", "pendigits", "plant-margin", "plant-shape"),
    *("plant-texture", "segment", "spambase", "vehicle", "waveform", "winequality-red", "winequality-white", "yeast"),
)
"""The paper's problems with 4 to 100 features, without the leak, and each file once."""

SELECTED = tuple(PAPER[number - 1] for number in (4, 6, 7, 11, 16, 17, 18, 21, 25, 27, 28, 30))
"""The twelve datasets of the paper's figure of φ against T."""


def configuration(phi: float, max_iter: int, readout: str = "trajectory") -> str:
    """Name a configuration as a grid of the results."""
    return f"phi={phi:g},max_iter={max_iter}" + ("" if readout == "trajectory" else f",readout={readout}")


def readout_grids(phis: Sequence[float] = PHI) -> list[str]:
    """Return the configurations of the first figure: both readouts for each φ, T = 20."""
    return [configuration(phi, MAX_ITER, readout) for readout in ("trajectory", "final") for phi in phis]


def classic_grids(phis: Sequence[float] = PHI) -> list[str]:
    """Return the configurations of the final state with a cut-off of 1e-15 (``FCM 1e-15``), with both inner weights."""
    return [f"{configuration(phi, MAX_ITER)},inner={inner}" for inner in INNER.values() for phi in phis]


def relevance_grid(max_iter: int | None, kind: str, which: str) -> str:
    """Name the run in which the quarter of the features that is "most" or "least" relevant by a kind is shuffled."""
    return ("" if max_iter is None else f"max_iter={max_iter},") + f"shuffle={which},by={kind}"


def relevance_grids(classifier: str) -> list[str]:
    """Return the runs with shuffled features: by Ω for T = 20 and 5, or by its own relevance for another network."""
    kinds = ((MAX_ITER, "paper"), (5, "paper")) if classifier in INNER else ((None, "model"),)
    return [relevance_grid(count, kind, which) for count, kind in kinds for which in ("most", "least")]


def map_grids(phis: Sequence[float] = PHI, iterations: Sequence[int] = ITERATIONS) -> list[str]:
    """Return the configurations of the second figure: φ × T."""
    return [configuration(phi, T) for phi in phis for T in iterations]


def swept(results: pd.DataFrame, classifier: str = "LTCN") -> pd.DataFrame:
    """Return a row for each dataset, φ, T, readout and fold of the sweeps of a classifier, with its kappa."""
    rows = results[
        results["grid"].str.startswith("phi=")
        & (results["classifier"] == classifier)
        & (results["fold"] != WHOLE)
        & (results["error"] == "")
    ]
    params = [fixed(grid) for grid in rows["grid"]]
    return pd.DataFrame(
        {
            "dataset": rows["dataset"].to_numpy(),
            "phi": [float(p["phi"]) for p in params],
            "max_iter": [int(p["max_iter"]) for p in params],
            "readout": [p.get("readout", "trajectory") for p in params],
            "fold": rows["fold"].to_numpy(),
            "kappa": rows["kappa"].to_numpy(),
        }
    )


def classic_kappas(results: pd.DataFrame, network: str) -> pd.DataFrame:
    """Return the mean kappa of the final state with a cut-off of 1e-15, dataset × φ; empty where it was not run."""
    rows = results[
        (results["classifier"] == CLASSIC)
        & results["grid"].str.endswith(f",inner={INNER.get(network)}")
        & (results["error"] == "")
    ]
    phi = rows["grid"].map(lambda grid: float(fixed(grid)["phi"])).rename("phi").astype(float)
    return rows["kappa"].groupby([rows["dataset"], phi]).mean().unstack().dropna()


def readout_curves(sweep: pd.DataFrame) -> pd.DataFrame:
    """Return the mean kappa by dataset, readout and φ at T = 20; index (dataset, phi), one column for each readout."""
    rows = sweep[sweep["max_iter"] == MAX_ITER]
    return rows.pivot_table(index=["dataset", "phi"], columns="readout", values="kappa", aggfunc="mean")


def phi_iteration_map(sweep: pd.DataFrame, dataset: str) -> pd.DataFrame:
    """Return the mean kappa of the recurrence-aware readout, φ × T, of one dataset; only φ with every T."""
    rows = sweep[(sweep["dataset"] == dataset) & (sweep["readout"] == "trajectory")]
    return rows.pivot_table(index="phi", columns="max_iter", values="kappa", aggfunc="mean").dropna()
