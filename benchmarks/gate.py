"""The gate's multiple on many datasets: accuracy, kappa, log loss, and how often answers of over 99 % are wrong.

Run: python benchmarks/gate.py FOLDER [FOLDER …] [--jobs 16] [--seeds 42,0,1] [--most-rows 5000]

Every NAME.csv.gz of the folders (no header, class last), five folds, one network and the stack; one thread a fit.
"""

import argparse
import os
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np
import pandas as pd
from constants import set_constant
from sklearn.metrics import cohen_kappa_score, log_loss
from sklearn.model_selection import StratifiedKFold

from cogmap import LTCNClassifier, LTCNClassifierCV, NoInformationWarning
from cogmap.study.datasets import load

METHODS = {"LTCNClassifier": LTCNClassifier, "LTCNClassifierCV": LTCNClassifierCV}


def measured(multiple, path, method, seed):
    """Return the mean over five folds of a dataset, and what became of answers of over 99 %."""
    warnings.simplefilter("ignore", NoInformationWarning)
    set_constant("GATE_MULTIPLE", multiple)
    found = load(path.name.removesuffix(".csv.gz"), path.parent).without_rare(5)
    X, y, rows = found.X, found.y, []
    for train, test in StratifiedKFold(5, shuffle=True, random_state=seed).split(X, y):
        model = METHODS[method](decision_metric="kappa").fit(X[train], y[train])
        probability = model.predict_proba(X[test])
        likely, sure = probability.argmax(axis=1), probability.max(axis=1) > 0.99
        rows.append(
            {
                "accuracy": (likely == y[test]).mean(),
                "kappa": cohen_kappa_score(y[test], model.predict(X[test])),
                "log loss": log_loss(y[test], probability, labels=range(y.max() + 1)),
                "sure": 5 * sure.sum(),
                "sure and wrong": 5 * (likely != y[test])[sure].sum(),
            }
        )
    return {"multiple": multiple, "folder": path.parent.name, "seed": seed, "method": method} | dict(
        pd.DataFrame(rows).mean()
    )


def main():
    """Print one Markdown line a folder, seed, method and multiple."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--seeds", default="42")
    parser.add_argument("--multiples", default="3,10")
    parser.add_argument("--most-rows", type=int, default=5000)
    arguments = parser.parse_args()
    paths = [path for folder in arguments.folders for path in sorted(folder.glob("*.csv.gz"))]
    paths = [path for path in paths if len(pd.read_csv(path, header=None, usecols=[0])) <= arguments.most_rows]
    tasks = [
        (multiple, path, method, seed)
        for multiple in map(float, arguments.multiples.split(","))
        for seed in map(int, arguments.seeds.split(","))
        for method in METHODS
        for path in paths
    ]
    with ProcessPoolExecutor(arguments.jobs) as pool:
        results = pd.DataFrame(pool.map(measured, *zip(*tasks, strict=True)))
    groups = results.groupby(["folder", "seed", "method", "multiple"])
    table = groups[["accuracy", "kappa", "log loss"]].mean().round(4)
    table = table.join(groups[["sure", "sure and wrong"]].sum().astype(np.int64)).reset_index()
    print("| " + " | ".join(table.columns) + " |\n" + "|---" * table.shape[1] + "|")
    for line in table.itertuples(index=False):
        print("| " + " | ".join(map(str, line)) + " |")


if __name__ == "__main__":
    main()
