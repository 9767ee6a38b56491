"""What members and constants of the default stack buy: each variant less the stack as it is, on the same folds.

Run: COGMAP_DATA=… COGMAP_MORE=… python benchmarks/members.py [--datasets A,B] [--folds 2] [--max-rows 6000]
         [--variants "weights of least squares,24 knots"]
"""

import argparse
import os
import sys
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from data import HALVES, MORE, PAPER, SEEDS, half, load
from sklearn.metrics import accuracy_score, cohen_kappa_score, log_loss
from sklearn.model_selection import StratifiedKFold

from cogmap import LTCNClassifierCV
from cogmap.core.decision import decision
from cogmap.core.fit import pairs
from cogmap.core.readout import dual
from cogmap.core.resemblance import metric, regions, ways
from cogmap.estimators import grid, stacking, tuned


def squared(members):
    """Return the weights of the least squared error."""
    return stacking.least_squares([member.scores for member in members])


def turned(rows, distance):
    """Return the kind of metrics whose directions are any."""
    return [metric.Kind(True, distance) if distance == "axes" else metric.Kind(False)]


def walked(*given, cut_up=ways._cut_up):
    """Return rows in regions with a penalty that they choose themselves."""
    return cut_up(*given).penalised()


VARIANTS = {
    "weights of least squares": (tuned, "stack_weights", squared),
    "no correction of the decision": (decision, "CORRECTED_CLASSES", 2),
    "a larger ridge of the correction": (decision, "CORRECTION_RIDGES", (100.0, 0.01)),
    "metrics of directions of any kind": (metric, "_kinds", turned),
    "no distances along axes": (tuned, "CASES", {"straight": True}),
    "metrics taught by straight distances": (metric, "SQUARE_ROWS", float("inf")),
    "metrics taught by squares, of few rows too": (metric, "SQUARE_ROWS", 0),
    "straight distances as they are": (ways, "HEARD", ways.HEARD | {"squared": ("straight",)}),
    "straight distances squared": (ways, "HEARD", ways.HEARD | {"squared": ("squared",)}),
    "distances of one size": (ways, "UNITS", (1.0,)),
    "gradients of more rows along axes": (metric, "AXES_ROWS", 400),
    "curves by least squares": (pairs, "ODDS_ROWS", float("inf")),
    "a knot for no value": (pairs, "VALUES", 0),
    "24 knots": (pairs, "CURVE_KNOTS", pairs.CURVE_KNOTS[3:]),
    "regions of half as many rows": (regions.cut_boxes, "__defaults__", (1500,)),
    "regions of twice as many rows": (regions.cut_boxes, "__defaults__", (6000,)),
    "metrics of single concepts": (metric, "METRIC_CONCEPTS", 0),
    "three rounds of a metric": (metric, "METRIC_ROUNDS", 3),
    "four rounds of a metric": (metric, "METRIC_ROUNDS", 4),
    "more folds of a metric": (metric, "METRIC_FOLDS", {400: 5, 800: 3, 6000: 2}),
    "penalties of remembered rows by another walk": (ways, "_cut_up", walked),
    "remembered rows that save little too": (ways, "LOOK", -1.0),
    "more iterations of a ridge": (dual, "RIDGE_ITERATIONS", (0, 1, 2, 5, 10)),
    "four decays of a ridge": (dual, "RIDGE_DECAYS", (1.0, 0.3, 0.1, 0.03)),
    "terms for all networks": (tuned, "combinations", lambda grids, **_: grid.combinations(grids, sparing=False)),
    "fewer folds of a metric": (metric, "METRIC_FOLDS", {400: 3, 6000: 2}),
    "all folds choose a metric": (metric, "METRIC_JUDGES", 6000),
    "more gradients of a metric": (metric, "METRIC_GRADIENTS", {1600: 10_000}),
}


def scores(X, y, train, test):
    """Return accuracy, kappa, log loss and processor seconds of one fold."""
    start = time.process_time()
    model = LTCNClassifierCV(n_jobs=1).fit(X[train], y[train])
    seconds, P = time.process_time() - start, np.clip(model.predict_proba(X[test]), 1e-9, 1)
    predicted = model.classes_[P.argmax(axis=1)]
    found = accuracy_score(y[test], predicted), cohen_kappa_score(y[test], predicted)
    return np.array([*found, log_loss(y[test], P, labels=range(y.max() + 1)), seconds])


def main():
    """Print a line for each variant and set, and the means."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets")
    parser.add_argument("--folds", type=int, default=2)
    parser.add_argument("--max-rows", type=int, default=6000)
    parser.add_argument("--variants", help="comma-separated names; default all")
    given = parser.parse_args()
    sizes = PAPER | MORE
    names = given.datasets.split(",") if given.datasets else [n for n in sizes if sizes[n] <= given.max_rows]
    gains = {variant: [] for variant in (given.variants.split(",") if given.variants else VARIANTS)}
    for what, asked, known in (("variant", gains, VARIANTS), ("dataset", names, sizes)):
        if unknown := set(asked) - set(known):
            sys.exit(f"There is no {what} {min(unknown)!r}; there are {', '.join(known)}.")
    for name in names:
        X, y = load(name)
        seed = SEEDS["paper" if name in PAPER else "more"]
        folds = list(StratifiedKFold(5, shuffle=True, random_state=seed).split(X, y))[: given.folds]
        base = np.mean([scores(X, y, *fold) for fold in folds], axis=0)
        for variant in gains:
            home, constant, value = VARIANTS[variant]
            kept = getattr(home, constant)
            setattr(home, constant, value)
            found = np.mean([scores(X, y, *fold) for fold in folds], axis=0)
            setattr(home, constant, kept)
            gains[variant].append([*(found - base)[:3], found[3] / base[3]])
            print(name, variant, *np.round(gains[variant][-1], 4), sep="  ", flush=True)
    halves = np.array([half(name) for name in names])
    for which in ("all", *HALVES):
        here = [which in ("all", own) for own in halves]
        print(f"means of {sum(here)} sets ({which}): accuracy, kappa, log loss, and times the cost")
        for variant, rows in gains.items() if any(here) else ():
            print(f"{variant:<36}", *np.round(np.mean(np.array(rows)[here], axis=0), 4))


if __name__ == "__main__":
    main()
