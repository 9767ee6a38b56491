"""Inner weights of 5,000 rows and 500 concepts: all at once, against the authors' package and one lstsq a concept.

Run: python benchmarks/inner_weights.py  (needs the package ``ltcn``, which the group ``test`` installs)
"""

import time

import numpy as np
from ltcn.LTCN import LTCN

from cogmap.core.network.activation import ACTIVATIONS
from cogmap.core.network.inner import Regressors, regression, slopes
from cogmap.core.sums.factor import Factor

N_ROWS, N_CONCEPTS, SAMPLE = 5_000, 500, 10


def timed(function, repeat=1):
    """Return the result and the shortest of `repeat` times."""
    best = np.inf
    for _ in range(repeat):
        start = time.perf_counter()
        result = function()
        best = min(best, time.perf_counter() - start)
    return result, best


def one_regression(X, target, i):
    """Regress concept i on the others: the naive computation."""
    others = np.delete(np.arange(X.shape[1]), i)
    L = np.c_[X[:, others], np.ones(len(X))]
    return others, np.linalg.lstsq(L, target[:, i], rcond=None)[0][:-1]


def show(name, ours, peer, theirs, error):
    """Print one line."""
    print(f"{name:<24} {ours:8.3f} s   {peer:<17} {theirs:8.1f} s   ratio {theirs / ours:6.0f}   error {error:.1e}")


def main():
    """Print one line a method."""
    rng = np.random.default_rng(0)
    X = np.clip(0.5 + 0.15 * rng.normal(size=(N_ROWS, N_CONCEPTS)), 0, 1)
    ones, sigmoid = np.ones(N_ROWS), ACTIVATIONS["sigmoid"]
    print(f"{N_ROWS} rows, {N_CONCEPTS} concepts")

    (W, _), ours = timed(lambda: slopes(Factor.from_block(ones, X).centred), repeat=5)
    theirs_W, theirs = timed(lambda: LTCN().build_matrix(X))
    error = np.abs(W - theirs_W).max() / np.abs(theirs_W).max()
    show("slopes", ours, "authors' package", theirs, error)

    target = sigmoid.inverse(X)
    (W, _), ours = timed(
        lambda: regression(Regressors.from_factor(Factor.from_block(ones, X, target), N_CONCEPTS)), repeat=3
    )
    naive, one = timed(lambda: [one_regression(X, target, i) for i in range(SAMPLE)])
    separate = one / SAMPLE * N_CONCEPTS
    error = max(np.abs(W[others, i] - w).max() / np.abs(w).max() for i, (others, w) in enumerate(naive))
    show(f"regressions ({SAMPLE} timed)", ours, "separate lstsq", separate, error)


if __name__ == "__main__":
    main()
