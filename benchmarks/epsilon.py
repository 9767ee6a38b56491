"""Set the `EPSILON` of `core.network.activation`: kappa of regression weights for several clipping margins.

Run: COGMAP_DATA=… python benchmarks/epsilon.py
"""

import warnings

import numpy as np
from data import load
from sklearn.metrics import cohen_kappa_score, make_scorer
from sklearn.model_selection import StratifiedKFold, cross_val_score

from cogmap import IllConditionedWarning, LTCNClassifier
from cogmap.core.network import activation

NAMES = ("banana", "bank", "mfeat-zernike", "page-blocks", "segment", "vehicle", "vehicle1", "waveform", "yeast")
MARGINS = (1e-6, 1e-4, 1e-3, 1e-2, 3e-2, 1e-1)


def main():
    """Print mean kappa for each margin."""
    warnings.simplefilter("ignore", IllConditionedWarning)
    folds = StratifiedKFold(5, shuffle=True, random_state=42)
    print("margin   kappa by iterations: 2       5")
    for margin in MARGINS:
        activation.EPSILON = margin
        kappa = {
            T: [
                cross_val_score(
                    LTCNClassifier.paper(max_iter=T), *load(name), cv=folds, scoring=make_scorer(cohen_kappa_score)
                ).mean()
                for name in NAMES
            ]
            for T in (2, 5)
        }
        print(f"{margin:.0e}                       {np.mean(kappa[2]):.3f}   {np.mean(kappa[5]):.3f}", flush=True)


if __name__ == "__main__":
    main()
