"""Feature effects of models whose effects are known: accumulated local effects and partial dependence beside the truth.

Each model's evidence is a known function of two features, of which the second goes along with the first, and the truth
is how it moves with the first where rows are: the integral of the mean slope. Prints the largest distance of each curve
from the truth, both without their means, as a share of how far the truth moves, or of 1 where it does not.

Run it as ``python benchmarks/effects.py``; it takes some seconds.
"""

import time

import numpy as np
from sklearn.inspection import partial_dependence
from sklearn.linear_model import LogisticRegression

from cogmap import LTCNClassifier
from cogmap.effects.effects import feature_effect, pair_effect

N_ROWS, NOISE, N_SEEDS = 1000, 0.1, 10

PROBLEMS = {
    "a sum: sin 3a + b": (lambda a, b: np.sin(3 * a) + b, lambda a: np.sin(3 * a)),
    "the second alone: 2b": (lambda a, b: 2 * b, lambda a: 0 * a),
    "a product: 4ab": (lambda a, b: 4 * a * b, lambda a: 2 * a**2),
    "2b, and 9 where a and b differ by more than 1": (
        lambda a, b: np.where(np.abs(a - b) > 1, 9.0, 2 * b),
        lambda a: 0 * a,
    ),
}
"""For each problem the evidence, and the truth for the first feature."""


class Known(LogisticRegression):
    """A classifier of two classes whose evidence is a known function of the columns."""

    def __init__(self, evidence):
        super().__init__()
        self.evidence = evidence
        self.classes_ = np.array([0, 1])
        self.coef_ = np.zeros((1, 2))

    def predict_proba(self, X):
        """Return the probabilities of both classes."""
        second = 1 / (1 + np.exp(-self.evidence(*np.asarray(X).T)))
        return np.stack([1 - second, second], axis=1)


def rows_of(seed):
    """Return rows in which the second feature goes along with the first."""
    rng = np.random.default_rng(seed)
    first = rng.uniform(-1, 1, N_ROWS)
    return np.stack([first, first + NOISE * rng.normal(size=N_ROWS)], axis=1)


def dependence(model, X, points):
    """Return scikit-learn's partial dependence of the evidence on the first feature."""
    model.decision_function = lambda rows: model.evidence(*np.asarray(rows).T)
    found = partial_dependence(
        model, X, [0], custom_values={0: points}, kind="average", response_method="decision_function"
    )
    return found["average"][0]


def distance(curve, truth):
    """Return the largest distance of a curve from the truth, without their means, as a share of the truth's range."""
    apart = (curve - curve.mean()) - (truth - truth.mean())
    return float(np.abs(apart).max() / (np.ptp(truth) or 1.0))


def main():
    """Print both tables."""
    print("| evidence | accumulated local effects | partial dependence |")
    print("|---|---|---|")
    for name, (evidence, truth) in PROBLEMS.items():
        found = []
        for seed in range(N_SEEDS):
            model, X = Known(evidence), rows_of(seed)
            effect = feature_effect(model, X, "x0", kind="evidence")
            true = truth(effect.values)
            found.append((distance(effect.effect[:, 0], true), distance(dependence(model, X, effect.values), true)))
        local, partial = np.max(found, axis=0)
        print(f"| {name} | {local:.2g} | {partial:.2g} |")
    model, X = Known(PROBLEMS["a product: 4ab"][0]), rows_of(0)
    pair = pair_effect(model, X, ("x0", "x1"), kind="evidence")
    a, b = np.meshgrid(*pair.values, indexing="ij")
    known = ~np.isnan(pair.effect[..., 0])
    print(f"\nMap of 4ab, largest distance: {distance(pair.effect[known, 0], (4 * a * b)[known]):.2g}")
    print(f"Pairs of values near which there are rows: {known.sum()} of {known.size}")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 30))
    network = LTCNClassifier().fit(X, X[:, 0] + X[:, 1] * X[:, 2] > 0)
    start = time.process_time()
    feature_effect(network, X, "x0")
    middle = time.process_time()
    pair_effect(network, X, ("x1", "x2"))
    print(f"5,000 rows of 30 features: {middle - start:.2f} s for one, {time.process_time() - middle:.2f} s for two")


if __name__ == "__main__":
    main()
