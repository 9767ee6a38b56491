"""What each constant of `cogmap.core.constants` buys: mean kappa and log loss for other values, all else as it is.

Run: COGMAP_DATA=… python benchmarks/constants.py [NAME …]

Eight of the paper's sets, three folds with a seed that no other benchmark uses, so that constants are not set on the
folds that are reported. Constants of the cases are measured with ``cases=True``, the others without; what matters for
few rows is measured on the small and wide synthetic sets.
"""

import os
import sys
from pkgutil import walk_packages

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from data import SMALL_WIDE, load
from sklearn.metrics import cohen_kappa_score, log_loss
from sklearn.model_selection import StratifiedKFold

import cogmap.core
from cogmap import LTCNClassifier
from cogmap.core import constants

NAMES = (
    "mfeat-fourier",
    "mfeat-morphological",
    "plant-shape",
    "segment",
    "vehicle",
    "vehicle1",
    "winequality-red",
    "yeast",
)
NETWORK = {
    "AMPLIFICATION": (1e6, 1e8, 3e10, 1e12),
    "NOVELTY": (1e-6, 1e-8, 1e-10, 1e-12),
    "MAX_RANK": (200, 400, 600),
    "BASIS_ROWS": ((1, 1), (2, 1), (100, 1)),
    "INNOVATIONS_PER_ROW": (0.2, 0.3, 0.6),
    "GATE_MULTIPLE": (1.5, 3.0, 10.0, 1e9),
    "PRIOR_EXPONENTS": ([1.0], [0.5], constants.PRIOR_EXPONENTS),
}
FEW = {
    "FEW_ROWS": (0, 6, 20),
    "RIDGE_ITERATIONS": ((), (0, 3), (0, 1, 2, 5, 10), tuple(range(20))),
    "RIDGE_DECAYS": ((1.0,), (1.0, 0.1), (1.0, 0.3, 0.1, 0.03)),
}
CASES = {
    "TRAJECTORY_SHARE": (0.3, 3.0, 30.0),
    "CASE_DECAY": (0.15, 0.3, 0.5),
    "CASE_RIDGES": ((0.1, 10.0), (1.0, 10.0), (10.0, 10.0)),
}


def set_constant(name, value):
    """Replace a constant wherever a module of the core has imported it."""
    for module in walk_packages(cogmap.core.__path__, "cogmap.core."):
        if hasattr(sys.modules.get(module.name), name):
            setattr(sys.modules[module.name], name, value)


def measured(model, names):
    """Return the means over datasets and folds of kappa, decided for it, and of log loss."""
    found = []
    for name in names:
        X, y = load(name)
        for train, test in StratifiedKFold(3, shuffle=True, random_state=7).split(X, y):
            model.fit(X[train], y[train])
            loss = log_loss(y[test], model.predict_proba(X[test]), labels=range(y.max() + 1))
            found.append((cohen_kappa_score(y[test], model.predict(X[test])), loss))
    return np.mean(found, axis=0)


def main():
    """Print one Markdown line a constant."""
    wanted = set(sys.argv[1:])
    print("| constant | mean kappa / log loss by value (* in use) |\n|---|---|")
    for group, names, cases in ((NETWORK, NAMES, False), (FEW, SMALL_WIDE, False), (CASES, NAMES, True)):
        for name, values in group.items():
            if wanted and name not in wanted:
                continue
            used, cells = getattr(constants, name), []
            for value in values:
                set_constant(name, np.asarray(value) if isinstance(value, list) else value)
                mark = "*" if np.array_equal(value, used) else ""
                text = f"{value:g}" if np.isscalar(value) else str(np.asarray(value).tolist())
                kappa, loss = measured(LTCNClassifier(cases=cases, decision_metric="kappa"), names)
                cells.append(f"{text}{mark}: {kappa:.4f} / {loss:.3f}")
            set_constant(name, used)
            print(f"| {name} | {', '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
