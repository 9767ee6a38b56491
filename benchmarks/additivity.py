"""How far explanations add up: the largest errors on the paper's datasets, for sigmoid and tanh.

    COGMAP_DATA=… python benchmarks/additivity.py [dataset …]

For each dataset networks are fitted to at most 1,000 rows: the default readout, which uses as many of 20 iterations as
serve, and a ridge that uses all 20. 10 of these rows and 10 others are explained for all classes.

- split: concepts × iterations + base against the evidence, relative to the largest term of that row and class (1e-10).
- features: what features add and other rows have against the evidence, relative to the largest evidence (1e-12).
- probabilities: the evidence against that which follows from the logarithms of `predict_proba`, absolutely (1e-9).
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import sys
import time
from itertools import product

import data
import numpy as np

from cogmap import LTCNClassifier


def split_error(explanation):
    """Return the largest error of the split, relative to the largest term of its row and class."""
    worst = 0.0
    for k, label in enumerate(explanation.classes):
        terms = explanation.contributions(label)
        largest = np.maximum(np.abs(terms).max(axis=(1, 2)), np.abs(explanation.base[k]))
        total = explanation.base[k] + explanation.cases[:, k] + terms.sum(axis=(1, 2))
        worst = max(worst, (np.abs(total - explanation.evidence[:, k]) / largest).max())
    return worst


def feature_error(explanation):
    """Return the largest error of the attribution to features, relative to the largest evidence."""
    total = explanation.attributions.sum(axis=1) + explanation.baseline_scores
    return np.abs(total - explanation.evidence).max() / np.abs(explanation.evidence).max()


def probability_error(explanation, probability):
    """Return the largest difference of the evidence from that of the probabilities, where none is below 1e-300."""
    with np.errstate(divide="ignore", invalid="ignore"):
        log = np.log(probability)
        expected = log - (log[:, ::-1] if log.shape[1] == 2 else log.mean(axis=1, keepdims=True))
    possible = probability.min(axis=1) > 1e-300
    return np.abs(explanation.evidence - expected)[possible].max(initial=0.0)


def main():
    """Print a line for each dataset and activation, then the largest errors."""
    worst = np.zeros(3)
    print(f"{'dataset':<22} {'activation':<10} alpha classes  T    split  features  probabilities  stopped  seconds")
    for name in sys.argv[1:] or data.names():
        X, y = data.load(name)
        order = np.random.default_rng(0).permutation(len(X))
        n_train = min(1000, len(X) - 100)
        train, rows = order[:n_train], order[n_train - 10 : n_train + 10]
        for activation, alpha in product(("sigmoid", "tanh"), ("loo", 1.0)):
            tol = 0.0 if alpha == 1.0 else 1e-12
            model = LTCNClassifier(activation=activation, max_iter=20, alpha=alpha, tol=tol).fit(X[train], y[train])
            start = time.perf_counter()
            explanation = model.explain(X[rows])
            probability = model.predict_proba(X[rows])
            errors = [split_error(explanation), feature_error(explanation), probability_error(explanation, probability)]
            errors = np.array(errors)
            worst = np.maximum(worst, errors)
            stopped = (explanation.stopped_at >= 0).mean()
            seconds = time.perf_counter() - start
            print(f"{name:<22} {activation:<10} {alpha!s:<5} {len(model.classes_):7d} {model.n_iter_:2d}", end="  ")
            print(f"{errors[0]:.1e}   {errors[1]:.1e}   {errors[2]:.1e}  {stopped:7.2f}  {seconds:7.2f}", flush=True)
    print(f"largest: split {worst[0]:.1e}, features {worst[1]:.1e}, probabilities {worst[2]:.1e}")


if __name__ == "__main__":
    main()
