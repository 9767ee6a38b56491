"""How far importances of features can be trusted: three kinds of relevance beside other methods.

Run:    COGMAP_DATA=… python benchmarks/faithfulness.py run --jobs 2
Update: COGMAP_DATA=… python benchmarks/faithfulness.py update --methods paper model data permutation
Table:  COGMAP_DATA=… python benchmarks/faithfulness.py table

For each problem (`problems.py`), seed and method (`importances.py`):

- *truth*: Spearman's correlation of the importances with the truth. On real data the truth is drop-and-refit: how much
  the cross-validated log loss grows when the network is refitted without the feature.
- *stability*: mean Spearman correlation between the importances of three refits on bootstrap resamples.
- *deletion*: the area under the deletion curve, mean accuracy on held-out rows of networks that are refitted without
  the k most important features, k = 0 … n_features − 1. The lower, the more important were the features named first.

The last two need many refits and have the first three seeds.

The rows of a (problem, seed) are appended to the results as soon as they are known; a second run continues. An update
computes some methods anew, and the deletion of all: importances and stability of the other methods stay as they are.
"""

import argparse
import os
import sys
import time
import warnings
from concurrent.futures import ProcessPoolExecutor, as_completed
from importlib.util import find_spec
from itertools import combinations
from pathlib import Path

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np
import pandas as pd
from importances import METHODS, importances
from problems import REAL, SYNTHETIC, largest_correlation, rank_correlation, real_truths, split

from cogmap import LTCNClassifier
from cogmap.errors import NoInformationWarning

RESULTS = Path(__file__).parent / "results" / "faithfulness.csv"
COLUMNS = ["problem", "seed", "method", "importances", "stability", "deletion", "seconds"]
NEEDS = {"SHAP": "shap", "EBM": "interpret"}
N_RESAMPLES, N_REFITTED_SEEDS = 3, 3
REFERENCES = ("truth", "random order")
"""Orders that are deleted beside those of the methods: the best that is known, and none."""


def stability(method, rows, seed):
    """Return the mean rank correlation between importances of refits on resamples drawn within the classes."""
    X, y, X_test, y_test = rows
    rng = np.random.default_rng(seed)
    found = []
    for b in range(N_RESAMPLES):
        drawn = np.concatenate([rng.choice(own, len(own)) for own in (np.flatnonzero(y == k) for k in np.unique(y))])
        found.append(importances(method, X[drawn], y[drawn], X_test, y_test, seed=b))
    return np.mean([rank_correlation(one, other) for one, other in combinations(found, 2)])


def deletion(importance, rows, known):
    """Return the area under the deletion curve; `known` remembers the accuracy without a set of features."""
    X, y, X_test, y_test = rows
    order = np.argsort(-np.asarray(importance), kind="stable")
    found = []
    for k in range(len(order)):
        kept = np.sort(order[k:])
        if tuple(kept) not in known:
            with warnings.catch_warnings():
                # What is left in the end may say nothing about the classes.
                warnings.simplefilter("ignore", NoInformationWarning)
                known[tuple(kept)] = LTCNClassifier().fit(X[:, kept], y).score(X_test[:, kept], y_test)
        found.append(known[tuple(kept)])
    return np.mean(found)


def true_importances(problem):
    """Return the truth that answers how much a feature is used."""
    if problem in SYNTHETIC:
        return np.array(next(iter(SYNTHETIC[problem].truths.values())), dtype=float)
    return real_truths(problem).mean(axis=0)


def evaluate(problem, seed, methods):
    """Return the rows of results of one problem and seed."""
    rows, known, found = split(problem, seed), {}, []
    for method in (*methods, *REFERENCES):
        row = dict.fromkeys(COLUMNS, np.nan) | {"problem": problem, "seed": seed, "method": method}
        start = time.perf_counter()
        if method == "truth":
            importance = true_importances(problem)
        elif method == "random order":
            importance = np.random.default_rng(seed).random(rows[0].shape[1])
        else:
            importance = importances(method, *rows)
            row["seconds"] = time.perf_counter() - start
            row["stability"] = stability(method, rows, seed) if seed < N_REFITTED_SEEDS else np.nan
        row["importances"] = written(importance)
        row["deletion"] = deletion(importance, rows, known) if seed < N_REFITTED_SEEDS else np.nan
        found.append(row)
    if problem in REAL and seed == 0:
        for k, truth in enumerate(real_truths(problem)):
            kept = {"problem": problem, "seed": k, "method": "run of the truth", "importances": written(truth)}
            found.append(dict.fromkeys(COLUMNS, np.nan) | kept)
    return found


def run(arguments):
    """Evaluate what is not in the results yet."""
    for method in [m for m in NEEDS if find_spec(NEEDS[m]) is None]:
        sys.exit(f'{method} needs the package {NEEDS[method]}: pip install "shap" "interpret-core"')
    tasks = [(name, seed) for seed in range(arguments.seeds) for name in SYNTHETIC]
    tasks += [(name, seed) for seed in range(arguments.real_seeds) for name in REAL]
    done = set()
    if RESULTS.exists():
        known = pd.read_csv(RESULTS)
        done = set(known[known.method == "truth"][["problem", "seed"]].itertuples(index=False, name=None))
    tasks = [task for task in tasks if task not in done]
    RESULTS.parent.mkdir(exist_ok=True)
    with ProcessPoolExecutor(arguments.jobs) as pool, RESULTS.open("a") as file:
        if not done:
            file.write(",".join(COLUMNS) + "\n")
        futures = [pool.submit(evaluate, *task, METHODS) for task in tasks]
        for count, future in enumerate(as_completed(futures), 1):
            frame = pd.DataFrame(future.result())[COLUMNS]
            frame.to_csv(file, header=False, index=False, float_format="%.5g")
            file.flush()
            print(f"{count} of {len(tasks)}", file=sys.stderr, flush=True)


def updated(problem, seed, methods, kept):
    """Return the rows of one problem and seed, with some methods anew and the others' importances from `kept`."""
    found = {row["method"]: row for row in evaluate(problem, seed, methods) if row["method"] != "run of the truth"}
    rows, known = split(problem, seed), {}
    for row in kept.to_dict("records"):
        if row["method"] not in found and row["method"] != "run of the truth":
            if seed < N_REFITTED_SEEDS:
                row["deletion"] = deletion(numbers(row["importances"]), rows, known)
            found[row["method"]] = row
    return [found[method] for method in (*METHODS, *REFERENCES) if method in found]


def update(arguments):
    """Compute methods anew for all problems and seeds in the results."""
    results = pd.read_csv(RESULTS)
    keys = results[results.method == "truth"][["problem", "seed"]].itertuples(index=False, name=None)
    tasks = [(problem, seed) for problem, seed in keys]
    parts = [results[(results.problem == problem) & (results.seed == seed)] for problem, seed in tasks]
    found = []
    with ProcessPoolExecutor(arguments.jobs) as pool:
        futures = [
            pool.submit(updated, *task, arguments.methods, part) for task, part in zip(tasks, parts, strict=True)
        ]
        for count, future in enumerate(futures, 1):
            found += future.result()
            print(f"{count} of {len(tasks)}", file=sys.stderr, flush=True)
    for problem in [name for name in REAL if name in set(results.problem)]:
        for k, truth in enumerate(real_truths(problem)):
            kept = {"problem": problem, "seed": k, "method": "run of the truth", "importances": written(truth)}
            found.append(dict.fromkeys(COLUMNS, np.nan) | kept)
    pd.DataFrame(found)[COLUMNS].to_csv(RESULTS, index=False, float_format="%.5g")


def written(importance):
    """Return importances as they are kept in the results."""
    return " ".join(f"{value:.6g}" for value in importance)


def numbers(text):
    """Return the importances that are kept in the results.

    >>> numbers(written([1.0, 0.5]))
    array([1. , 0.5])
    """
    return np.array(text.split(), dtype=float)


def truths_of(problem):
    """Return name and truth for each question about a problem."""
    return {f"{problem}, {question}".strip(", "): truth for question, truth in SYNTHETIC[problem].truths.items()}


def correlations(results):
    """Return one line a problem (and question): seeds, maximum, and the mean correlation of each method."""
    lines = {}
    for problem in [name for name in (*SYNTHETIC, *REAL) if name in set(results.problem)]:
        part = results[results.problem == problem]
        if problem in SYNTHETIC:
            truths = truths_of(problem)
        else:
            runs = [numbers(text) for text in part[part.method == "run of the truth"].importances]
            truths = {problem: np.mean(runs, axis=0)}
        for name, truth in truths.items():
            best = largest_correlation(truth) if problem in SYNTHETIC else rank_correlation(*runs)
            line = {"seeds": part[part.method == "truth"].shape[0], "maximum": best}
            for method in METHODS:
                found = part[part.method == method].importances
                line[method] = np.mean([rank_correlation(numbers(text), truth) for text in found])
            lines[name] = line
    return pd.DataFrame(lines).T


def means(results, value, methods):
    """Return the mean of a column of the results for each problem and method."""
    order = [name for name in (*SYNTHETIC, *REAL) if name in set(results.problem)]
    wanted = results[results.method.isin(methods)]
    return wanted.groupby(["problem", "method"])[value].mean().unstack().loc[order, list(methods)]


def markdown(table, first):
    """Return a frame as a Markdown table.

    >>> print(markdown(pd.DataFrame({"seeds": [20.0], "data": [0.94]}, index=["collinear"]), "problem"))
    | problem | seeds | data |
    |---|---|---|
    | collinear | 20 | .940 |
    """
    lines = [f"| {first} | " + " | ".join(table.columns) + " |", "|---" * (table.shape[1] + 1) + "|"]
    for name, row in table.iterrows():
        cells = [f"{value:.0f}" if column == "seeds" else f"{value:.3f}" for column, value in row.items()]
        cells = [cell.replace("0.", ".", 1) if cell.startswith(("0.", "-0.")) else cell for cell in cells]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def table(_):
    """Print the tables of what is in the results."""
    results = pd.read_csv(RESULTS)
    print("Mean Spearman correlation with the truth; for real data, the maximum is that of two runs of the truth\n")
    print(markdown(correlations(results), "problem"))
    print("\nStability: mean Spearman correlation between refits on resamples\n")
    print(markdown(means(results, "stability", METHODS), "problem"))
    print("\nDeletion: area under the accuracy without the most important features; lower is better\n")
    print(markdown(means(results, "deletion", (*METHODS, *REFERENCES)), "problem"))
    print("\nSeconds for the importances, the fit included\n")
    print(markdown(means(results, "seconds", METHODS), "problem"))


def main():
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["run", "update", "table"])
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS, help="methods that update computes")
    parser.add_argument("--seeds", type=int, default=20, help="seeds of the synthetic problems")
    parser.add_argument("--real-seeds", type=int, default=3, help="halves of the real data")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    {"run": run, "update": update, "table": table}[arguments.command](arguments)


if __name__ == "__main__":
    main()
