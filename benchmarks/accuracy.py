"""Accuracy, kappa, log loss and cost of cogmap and its peers on the same folds, all tuned inside the training fold.

Run:    COGMAP_DATA=… python benchmarks/accuracy.py run --jobs 16
Other:  python benchmarks/accuracy.py run --group other
Table:  python benchmarks/accuracy.py table
Cost:   COGMAP_DATA=… python benchmarks/accuracy.py cost --jobs 1

One row a (dataset, seed, fold, method) is appended to the results as soon as it is known; a second run continues.
Each fit uses one thread. Peers: scikit-learn, lightgbm and interpret-core (EBM), where they are installed.
"""

import argparse
import os
import signal
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from importlib.util import find_spec
from pathlib import Path

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np
import pandas as pd
from data import load, names
from scipy.stats import wilcoxon
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, cohen_kappa_score, log_loss
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC

from cogmap import LTCNClassifier, LTCNClassifierCV

RESULTS = Path(__file__).parent / "results" / "accuracy.csv"
COLUMNS = ["dataset", "seed", "fold", "method", "kappa", "accuracy", "log_loss", "seconds", "error"]
EBM_LIMIT = 60  # seconds a fold


FOLDS = StratifiedKFold(5, shuffle=True, random_state=0)


def tuned(estimator, grid):
    """Search a grid by five shuffled inner folds, because some files are sorted, on min-max scaled data."""
    name = type(estimator).__name__.lower()
    grid = {f"{name}__{key}": values for key, values in grid.items()}
    return GridSearchCV(make_pipeline(MinMaxScaler(), estimator), grid, cv=FOLDS)


def with_probabilities(model, X, y):
    """Return a fitted model that has probabilities: an SVM's are Platt's, from folds of the training rows."""
    if hasattr(model, "predict_proba"):
        return model
    folds = StratifiedKFold(min(5, np.bincount(y)[np.unique(y)].min()), shuffle=True, random_state=0)
    return CalibratedClassifierCV(model.best_estimator_, cv=folds, ensemble=False).fit(X, y)


def lightgbm():
    """LightGBM with two tree sizes."""
    from lightgbm import LGBMClassifier

    return tuned(LGBMClassifier(n_jobs=1, verbose=-1), {"num_leaves": [7, 31]})


def ebm():
    """InterpretML's explainable boosting machine as it comes."""
    from interpret.glassbox import ExplainableBoostingClassifier

    return ExplainableBoostingClassifier(n_jobs=1, random_state=0)


METHODS = {
    "LTCNClassifierCV": LTCNClassifierCV,
    "LTCNClassifier": LTCNClassifier,
    "LTCNClassifierCV kappa": lambda: LTCNClassifierCV(decision_metric="kappa"),
    "LTCNClassifier kappa": lambda: LTCNClassifier(decision_metric="kappa"),
    "LTCNClassifierCV without cases": lambda: LTCNClassifierCV(cases=False),
    "SVM": lambda: tuned(SVC(), {"C": [1, 10, 100]}),
    "random forest": lambda: RandomForestClassifier(500, random_state=0),
    "logistic regression": lambda: tuned(LogisticRegression(max_iter=2000), {"C": [1, 10, 100]}),
    "LightGBM": lightgbm,
    "EBM": ebm,
}
NEEDS = {"LightGBM": "lightgbm", "EBM": "interpret"}


class SlowFitError(Exception):
    """A fit took longer than its limit."""


def _alarm(*_):
    raise SlowFitError(f"more than {EBM_LIMIT} s")


def evaluate(dataset, seed, fold, method):
    """Fit and score one fold; return a row of results."""
    X, y = load(dataset)
    train, test = list(StratifiedKFold(5, shuffle=True, random_state=seed).split(X, y))[fold]
    row = dict.fromkeys(COLUMNS, "") | {"dataset": dataset, "seed": seed, "fold": fold, "method": method}
    try:
        if method == "EBM":
            signal.signal(signal.SIGALRM, _alarm)
            signal.alarm(EBM_LIMIT)
        model = METHODS[method]()
        start = time.perf_counter()
        model.fit(X[train], y[train])
        row["seconds"] = time.perf_counter() - start
        predicted = model.predict(X[test])
        row |= {"kappa": cohen_kappa_score(y[test], predicted), "accuracy": accuracy_score(y[test], predicted)}
        probability = with_probabilities(model, X[train], y[train]).predict_proba(X[test])
        row["log_loss"] = log_loss(y[test], probability, labels=range(y.max() + 1))
    except Exception as error:
        row["error"] = f"{type(error).__name__}: {error}".splitlines()[0]
    finally:
        signal.alarm(0)
    return row


def run(arguments):
    """Evaluate what is not in the results yet; small datasets first."""
    done = set()
    if RESULTS.exists():
        done = set(pd.read_csv(RESULTS)[["dataset", "seed", "fold", "method"]].itertuples(index=False, name=None))
    methods = [m for m in METHODS if m in arguments.methods.split(",")] if arguments.methods else list(METHODS)
    for method in [m for m in methods if m in NEEDS and find_spec(NEEDS[m]) is None]:
        print(f"{method} is left out: the package {NEEDS[method]} is not installed", file=sys.stderr)
        methods.remove(method)
    seeds = [int(seed) for seed in arguments.seeds.split(",")]
    datasets = sorted(names(arguments.group), key=lambda name: load(name)[0].size)
    tasks = [(d, s, f, m) for s in seeds for m in methods for d in datasets for f in range(5)]
    tasks = [task for task in tasks if task not in done]
    RESULTS.parent.mkdir(exist_ok=True)
    with ProcessPoolExecutor(arguments.jobs) as pool, RESULTS.open("a") as file:
        if not done:
            file.write(",".join(COLUMNS) + "\n")
        futures = [pool.submit(evaluate, *task) for task in tasks]
        for count, future in enumerate(as_completed(futures), 1):
            row = future.result()
            pd.DataFrame([row])[COLUMNS].to_csv(file, header=False, index=False, float_format="%.5g")
            file.flush()
            if count % 25 == 0 or count == len(tasks):
                print(f"{count} of {len(tasks)}", file=sys.stderr, flush=True)


def table(arguments):
    """Print means, ranks and tests of what is in the results."""
    results = pd.read_csv(RESULTS)
    results = results[results.dataset.isin(names(arguments.group))]
    for seed, part in results.groupby("seed"):
        print(f"\n{arguments.group}, seed {seed}\n\n{summary(part)}\n\n{gaps(part)}")


def by_dataset(part, value):
    """Return a table of dataset × method; datasets on which a method did not finish every fold are empty."""
    grouped = part.groupby(["dataset", "method"])[value]
    return grouped.mean().where(part.groupby(["dataset", "method"]).kappa.count() == 5).unstack()


def summary(part):
    """Return one Markdown line a method, over the datasets that it finished; ours on the same datasets beside it."""
    accuracy, kappa, loss = (by_dataset(part, value) for value in ("accuracy", "kappa", "log_loss"))
    shown = [method for method in accuracy if not method.endswith("kappa")]
    rank = accuracy[shown].dropna(axis=1).rank(axis=1, ascending=False)
    lines = ["| method | sets | accuracy | CV's there | kappa | log loss | mean rank | Wilcoxon p |", "|---" * 8 + "|"]
    for method in accuracy.mean().sort_values(ascending=False).index:
        there = accuracy[method].dropna().index
        ours = accuracy.loc[there, "LTCNClassifierCV"]
        p = "" if "CV" in method or there.empty else f"{wilcoxon(ours, accuracy.loc[there, method]).pvalue:.1e}"
        means = " | ".join(f"{column.mean():.4f}" for column in (accuracy[method], ours, kappa[method], loss[method]))
        ranked = f"{rank[method].mean():.2f}" if method in rank else ""
        lines.append(f"| {method} | {len(there)} | {means} | {ranked} | {p} |")
    return "\n".join(lines)


def gaps(part):
    """Return the datasets where the default is .03 or more below the best of SVM and random forest."""
    accuracy = by_dataset(part, "accuracy")
    gap = accuracy[["SVM", "random forest"]].max(axis=1) - accuracy["LTCNClassifierCV"]
    worst = ", ".join(f"{name} {value:.3f}" for name, value in gap.nlargest(4).items())
    return (
        f"Accuracy more than .03 below the best of SVM and random forest: {(gap > 0.03).sum()} sets. Largest: {worst}."
    )


def cost(arguments):
    """Time the first fold of every dataset, one fit after the other in each job; print means and ratios.

    Many jobs at once slow matrix products more than trees: use few for ratios that hold.
    """
    methods = arguments.methods.split(",") if arguments.methods else ["LTCNClassifierCV", "LTCNClassifier", "SVM"]
    with ProcessPoolExecutor(arguments.jobs) as pool:
        tasks = [(name, 42, 0, method) for name in names(arguments.group) for method in methods]
        rows = pd.DataFrame(pool.map(evaluate, *zip(*tasks, strict=True)))
    seconds = rows[rows.error == ""].pivot_table(index="dataset", columns="method", values="seconds", aggfunc="mean")
    print("| method | sets | s a fit | cost / CV there | cost / single there |\n" + "|---" * 5 + "|")
    for method in methods:
        there = seconds.dropna(subset=[method]).astype(float).mean()
        print(
            f"| {method} | {seconds[method].notna().sum()} | {there[method]:.3f} "
            f"| {there[method] / there['LTCNClassifierCV']:.2f} | {there[method] / there['LTCNClassifier']:.1f} |"
        )


def main():
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["run", "table", "cost"])
    parser.add_argument("--group", choices=["paper", "other"], default="paper")
    parser.add_argument("--methods", help="comma-separated; default all")
    parser.add_argument("--seeds", default="42")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    {"run": run, "table": table, "cost": cost}[arguments.command](arguments)


if __name__ == "__main__":
    main()
