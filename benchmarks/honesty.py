"""Whether scores from outside are as good as scores of new rows, where a metric has been learned.

Run:  COGMAP_MORE=… python benchmarks/honesty.py [--distance axes] [--min-rows 100] [--max-rows 1100]

Remembered rows are fitted to the first of five folds of every set. Three squared errors: of leave-one-out in the metric
that all rows taught; of leave-one-out in a metric that knows nothing of the row, which the stack is given; and of the
rows that were held out.
"""

import argparse
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from data import ROWS, SEEDS, load, names
from sklearn.model_selection import StratifiedKFold

from cogmap import LTCNClassifier
from cogmap.core.constants import CASE_PENALTIES
from cogmap.core.readout.terms import raw_scores
from cogmap.core.resemblance.cases import solve_dual
from cogmap.core.resemblance.distance import lower_kernel
from cogmap.core.resemblance.metric import Examples
from cogmap.core.resemblance.ways import ways
from cogmap.core.sums.space import NUMPY


def errors(name, distance):
    """Return the three errors of a set."""
    X, y = load(name)
    train, test = next(iter(StratifiedKFold(5, shuffle=True, random_state=SEEDS["more"]).split(X, y)))
    model = LTCNClassifier(max_iter=0).fit(X[train], y[train]).fitted_.networks[0]
    target, one = np.eye(y.max() + 1), np.ones(len(train))
    rows = Examples(model.concepts(X[train]), target[y[train]], one)
    (way,) = ways(rows, y[train], one, distance)  # rows are few
    fit = way.refined(y[train]).fit()
    cases = fit.readout.metric(rows.initial)
    penalty = CASE_PENALTIES[np.abs(CASE_PENALTIES - fit.alpha).argmin()]
    blind = solve_dual(lower_kernel(fit.readout.metric, cases), rows.target, one, one, penalty).outside
    held_out = raw_scores(fit.readout, NUMPY, model.network, model.concepts(X[test]))
    pairs = ((blind, y[train]), (fit.outside, y[train]), (held_out, y[test]))
    return [((scores - target[codes]) ** 2).sum(axis=1).mean() for scores, codes in pairs]


def main():
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--min-rows", type=int, default=100, help="sets of fewer rows are left out: ten held out say little"
    )
    parser.add_argument("--max-rows", type=int, default=1100, help="sets of more rows are left out")
    parser.add_argument("--distance", choices=["straight", "axes"], default="straight")
    arguments = parser.parse_args()
    print("| set | blind | from outside | held out |\n|---|---|---|---|")
    table = []
    for name in [name for name in names("more") if arguments.min_rows <= ROWS[name] <= arguments.max_rows]:
        table.append(errors(name, arguments.distance))
        print(f"| {name} | {' | '.join(f'{error:.3f}' for error in table[-1])} |", flush=True)
    print(f"| mean of {len(table)} | {' | '.join(f'{error:.4f}' for error in np.mean(table, axis=0))} |")


if __name__ == "__main__":
    main()
