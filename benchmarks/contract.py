"""The numerical contract, measured: how far scores and labels move when nothing that should matter has changed.

Run:    COGMAP_DATA=… python benchmarks/contract.py run --jobs 2
Table:  python benchmarks/contract.py table

One fold of each of the paper's datasets is fitted and its test rows are scored; then again after each perturbation. A
change is the largest of any class score of any test row, relative to the largest score before. One row a (dataset,
model, perturbation) is appended to the results once the model's perturbations are done; a second run continues. The
promise is `BOUND`, and 0 for float32 input, which is computed in float64. BLAS has one thread, but for the perturbation
that is a second.
"""

import argparse
import os
import sys
import time
import warnings
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

# The most that a library loaded with this setting is sure to have; `threads` sets how many are in use.
for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "2"

import numpy as np
import pandas as pd
from data import load, names
from sklearn.model_selection import StratifiedKFold
from threadpoolctl import threadpool_info, threadpool_limits

from cogmap import IllConditionedWarning, LTCNClassifier, LTCNClassifierCV

RESULTS = Path(__file__).parent / "results" / "contract.csv"
COLUMNS = ["dataset", "model", "perturbation", "change", "labels", "seconds", "error"]
BOUND = 1e-6
PSEUDOINVERSE = "pseudoinverse"
MODELS = {
    "LTCNClassifierCV": LTCNClassifierCV,
    "LTCNClassifier": LTCNClassifier,
    PSEUDOINVERSE: lambda: LTCNClassifier.paper(inner="slopes"),
}
MOST_COLUMNS = 2500  # of the states that the pseudoinverse reads: beyond, its singular values take too long


class Fold:
    """One fold of a dataset, and one model fitted to it: what perturbations are compared with."""

    def __init__(self, dataset, model):
        X, y = load(dataset)
        train, test = next(StratifiedKFold(5, shuffle=True, random_state=42).split(X, y))
        self.X, self.y, self.test = X[train], y[train], X[test]
        self.random = np.random.default_rng(0)
        self.create = MODELS[model]
        self.model = self.create().fit(self.X, self.y)
        self.scores = self.model._scores(self.test)

    def fitted(self, X, y, **weights):
        """Return the scores of the test rows by a model that is fitted to other rows."""
        return self.create().fit(X, y, **weights)._scores(self.test)

    def batches(self, size, n_rows=None):
        """Return the scores of the first test rows, so many at a time."""
        rows = self.test[:n_rows]
        return np.concatenate([self.model._scores(rows[i : i + size]) for i in range(0, len(rows), size)])


def threads(number):
    """Limit BLAS to so many threads; fail where there are fewer."""
    limits = threadpool_limits(number, user_api="blas")
    found = [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]
    if set(found) != {number}:
        raise RuntimeError(f"BLAS has {found} threads and not {number}")
    return limits


def permuted(fold):
    """Fit to the training rows in two other orders."""
    for _ in range(2):
        order = fold.random.permutation(len(fold.y))
        yield fold.scores, fold.fitted(fold.X[order], fold.y[order])


def alone(fold):
    """Score each of the first 50 test rows by itself."""
    yield fold.scores[:50], fold.batches(1, 50)


def batches_of_37(fold):
    """Score 37 test rows at a time."""
    yield fold.scores, fold.batches(37)


def batches_of_1000(fold):
    """Score 1000 test rows at a time; where there are fewer, all at once."""
    yield fold.scores, fold.batches(1000)


def two_threads(fold):
    """Fit and score with two BLAS threads."""
    with threads(2):
        scores = fold.fitted(fold.X, fold.y)
    yield fold.scores, scores


def float32(fold):
    """Score the test rows rounded to float32, given as such and as float64."""
    rounded = fold.test.astype(np.float32)
    yield fold.model._scores(rounded.astype(np.float64)), fold.model._scores(rounded)


def weighted(fold):
    """Fit with weight 2 for a random half of the training rows, and with that half repeated."""
    twice = fold.random.permutation(len(fold.y)) < len(fold.y) // 2
    repeated = np.repeat(np.arange(len(fold.y)), 1 + twice)
    yield fold.fitted(fold.X, fold.y, sample_weight=1.0 + twice), fold.fitted(fold.X[repeated], fold.y[repeated])


def noise(fold):
    """Move every value of the test rows by 1e-12 of itself, up or down."""
    yield fold.scores, fold.model._scores(fold.test * (1 + fold.random.choice([-1e-12, 1e-12], fold.test.shape)))


def one_ulp(fold):
    """Move every value of the test rows to the next number, up or down."""
    towards = fold.random.choice([-np.inf, np.inf], fold.test.shape)
    yield fold.scores, fold.model._scores(np.nextafter(fold.test, towards))


PERTURBATIONS = {
    "training rows permuted": permuted,
    "one test row alone": alone,
    "batches of 37": batches_of_37,
    "batches of 1000": batches_of_1000,
    "two BLAS threads": two_threads,
    "weight 2 / row repeated": weighted,
    "float32 / as float64": float32,
    "1e-12 noise on test rows": noise,
    "one ulp on test rows": one_ulp,
}


def measure(dataset, model, perturbations):
    """Fit one model to one dataset; return a row of results for each perturbation."""
    warnings.simplefilter("ignore", IllConditionedWarning)
    with threads(1):
        fold = Fold(dataset, model)
        return [measure_one(fold, dataset, model, perturbation) for perturbation in perturbations]


def measure_one(fold, dataset, model, perturbation):
    """Return a row of results."""
    row = dict.fromkeys(COLUMNS, "") | {"dataset": dataset, "model": model, "perturbation": perturbation}
    fold.random = np.random.default_rng(0)
    start = time.perf_counter()
    try:
        pairs = list(PERTURBATIONS[perturbation](fold))
        row["change"] = max(np.abs(after - before).max() / np.abs(before).max() for before, after in pairs)
        row["labels"] = max((after.argmax(axis=1) != before.argmax(axis=1)).mean() for before, after in pairs)
    except Exception as error:
        row["error"] = f"{type(error).__name__}: {error}".splitlines()[0]
    row["seconds"] = time.perf_counter() - start
    return row


def skipped(dataset, model):
    """Say whether a model is too slow for a dataset."""
    n_columns = load(dataset)[0].shape[1] * (LTCNClassifier().max_iter + 1)
    return model == PSEUDOINVERSE and n_columns > MOST_COLUMNS


def asked(model):
    """Return the perturbations of a model; one ulp is for the default's portability between machines."""
    return [name for name in PERTURBATIONS if name != "one ulp on test rows" or model == "LTCNClassifier"]


def run(arguments):
    """Measure what is not in the results yet; slow datasets first."""
    done = set()
    if RESULTS.exists():
        done = set(pd.read_csv(RESULTS)[["dataset", "model", "perturbation"]].itertuples(index=False, name=None))
    datasets = sorted(names(), key=lambda name: -load(name)[0].size)
    tasks = []
    for model in MODELS:
        for dataset in [d for d in datasets if not skipped(d, model)]:
            missing = [p for p in asked(model) if (dataset, model, p) not in done]
            tasks.extend([(dataset, model, missing)] if missing else [])
    RESULTS.parent.mkdir(exist_ok=True)
    with ProcessPoolExecutor(arguments.jobs) as pool, RESULTS.open("a") as file:
        if not done:
            file.write(",".join(COLUMNS) + "\n")
        futures = {pool.submit(measure, *task): task for task in tasks}
        for count, future in enumerate(as_completed(futures), 1):
            pd.DataFrame(future.result())[COLUMNS].to_csv(file, header=False, index=False, float_format="%.6g")
            file.flush()
            dataset, model, _ = futures[future]
            print(f"{count} of {len(tasks)}: {dataset}, {model}", file=sys.stderr, flush=True)


def table(_):
    """Print one line a perturbation, then what breaks the promise."""
    results = pd.read_csv(RESULTS)
    models = [model for model in MODELS if model in set(results.model)]
    heads = [f"{model}: {head}" for model in models for head in ("worst", "median", f"sets > {BOUND:.0e}", "labels")]
    print("| perturbation | " + " | ".join(heads) + " |\n" + "|---" * (len(heads) + 1) + "|")
    for perturbation in PERTURBATIONS:
        part = results[results.perturbation == perturbation]
        cells = [cell for model in models for cell in summary(part[part.model == model])]
        print(f"| {perturbation} | " + " | ".join(cells) + " |")
    print(f"\n{legend(results, models)}\n\n{violations(results)}")


def summary(part):
    """Return worst and median change, the number of datasets above the bound, and the worst share of labels."""
    if part.empty:
        return ["", "", "", ""]
    above = f"{(part.change > BOUND).sum()} of {part.change.count()}"
    return [f"{part.change.max():.1e}", f"{part.change.median():.1e}", above, f"{part.labels.max():.2%}"]


def legend(results, models):
    """Say what the columns are, and what is left out."""
    lines = [
        "Change: largest of any class score of any test row, relative to the largest score before; "
        "worst and median over the datasets. Labels: worst share of the test rows whose class changes."
    ]
    for model in models:
        left_out = sorted(set(results.dataset) - set(results.dataset[results.model == model]))
        if left_out:
            why = f"its states have more than {MOST_COLUMNS} columns" if model == PSEUDOINVERSE else "not measured yet"
            lines.append(f"Without {model}, {why}: {', '.join(left_out)}.")
    failed = results[results.error.notna()]
    lines += [f"Failed: {row.dataset}, {row.model}, {row.perturbation}: {row.error}" for row in failed.itertuples()]
    return "\n".join(lines)


def violations(results):
    """List what our two models do not keep: the bound, and equality for float32."""
    ours = results[results.model != PSEUDOINVERSE]
    bound = np.where(ours.perturbation == "float32 / as float64", 0.0, BOUND)
    broken = ours[ours.change > bound].sort_values("change", ascending=False)
    if broken.empty:
        return "LTCNClassifier and LTCNClassifierCV keep the promise everywhere."
    lines = ["| above the promise | model | perturbation | change | labels |", "|---" * 5 + "|"]
    lines += [
        f"| {row.dataset} | {row.model} | {row.perturbation} | {row.change:.1e} | {row.labels:.2%} |"
        for row in broken.itertuples()
    ]
    return "\n".join(lines)


def main():
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["run", "table"])
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    {"run": run, "table": table}[arguments.command](arguments)


if __name__ == "__main__":
    main()
