"""ONNX against Python: how far the scores of an exported model lie from the classifier's own, and which is faster.

Run:    COGMAP_DATA=… python benchmarks/onnx_parity.py run --jobs 2
Table:  python benchmarks/onnx_parity.py table
Raw:    python benchmarks/onnx_parity.py raw

Models are fitted to one fold of each of the paper's datasets and score all its rows, those of the fold and the others.
A difference is the largest of any class score of any row, relative to the largest score; a label is *wrong* where it
differs although the row's two best scores are further apart than `BOUND` of the largest. Rows go in by `BATCH`, on one
thread on both sides. One row a (dataset, model) is appended to the results; a second run continues. "raw" fits a table
with text and missing values, the made-up passengers of the tests, and scores 100,000 others from their raw columns.
"""

import argparse
import os
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
import onnxruntime
import pandas as pd
from data import load, names
from sklearn.model_selection import StratifiedKFold
from tests.people import people

from cogmap import LTCNClassifier, LTCNClassifierCV, TabularClassifier

RESULTS = Path(__file__).parent / "results" / "onnx.csv"
COLUMNS = ["dataset", "model", "rows", "difference", "float32", "wrong", "python", "onnx", "python_alone", "onnx_alone",
           "megabytes", "seconds"]  # fmt: skip
MODELS = {"LTCNClassifier": LTCNClassifier, "LTCNClassifierCV": LTCNClassifierCV}
BOUND = 1e-6
BATCH = 1000
ALONE = 50


def session(model, folder, dtype):
    """Export a classifier and return a session on one thread, and the size of the file."""
    path = model.to_onnx(Path(folder) / f"{dtype}.onnx", dtype=dtype)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"]), path.stat().st_size


def scorer(model, folder, dtype):
    """Return the exported scores as a function of rows, and the size of the file."""
    found, size = session(model, folder, dtype)
    return lambda rows: found.run(["scores"], {"X": rows.astype(dtype)})[0], size


def batched(scores, rows):
    """Return the scores of all rows, and how many rows a second they took."""
    scores(rows[:BATCH])
    start = time.perf_counter()
    found = np.concatenate([scores(rows[i : i + BATCH]) for i in range(0, len(rows), BATCH)])
    return found, len(rows) / (time.perf_counter() - start)


def alone(scores, rows):
    """Return how many rows a second are scored one by one."""
    start = time.perf_counter()
    for i in range(ALONE):
        scores(rows[i : i + 1])
    return ALONE / (time.perf_counter() - start)


def difference(found, expected):
    """Return the largest difference, relative to the largest score, and the number of labels that are wrong."""
    size = np.abs(expected).max()
    second, first = np.sort(expected, axis=1)[:, -2:].T
    wrong = (found.argmax(axis=1) != expected.argmax(axis=1)) & (first - second > BOUND * size)
    return np.abs(found - expected).max() / size, int(wrong.sum())


def measure(dataset, name):
    """Return a row of results."""
    start = time.perf_counter()
    X, y = load(dataset)
    train = next(StratifiedKFold(5, shuffle=True, random_state=42).split(X, y))[0]
    model = MODELS[name]().fit(X[train], y[train])
    expected, python = batched(model._scores, X)
    with tempfile.TemporaryDirectory() as folder:
        scores, size = scorer(model, folder, "float64")
        found, onnx = batched(scores, X)
        onnx_alone = alone(scores, X)
        rounded, _ = batched(scorer(model, folder, "float32")[0], X)
    change, wrong = difference(found, expected)
    change32, wrong32 = difference(rounded, model._scores(X.astype(np.float32)))
    speeds = [python, onnx, alone(model._scores, X), onnx_alone]
    measured = [dataset, name, len(X), change, change32, wrong + wrong32, *speeds, size / 1e6]
    return dict(zip(COLUMNS, [*measured, time.perf_counter() - start], strict=True))


def run(arguments):
    """Measure what is not in the results yet; slow ones last."""
    done = set()
    if RESULTS.exists():
        done = set(pd.read_csv(RESULTS)[["dataset", "model"]].itertuples(index=False, name=None))
    sizes = {dataset: load(dataset)[0].shape for dataset in names()}
    tasks = [(d, m) for m in MODELS for d in sorted(sizes, key=lambda d: np.prod(sizes[d])) if (d, m) not in done]
    RESULTS.parent.mkdir(exist_ok=True)
    with ProcessPoolExecutor(arguments.jobs) as pool, RESULTS.open("a") as file:
        if not done:
            file.write(",".join(COLUMNS) + "\n")
        futures = {pool.submit(measure, *task): task for task in tasks}
        for count, future in enumerate(as_completed(futures), 1):
            pd.DataFrame([future.result()])[COLUMNS].to_csv(file, header=False, index=False, float_format="%.4g")
            file.flush()
            print(f"{count} of {len(tasks)}: {', '.join(futures[future])}", file=sys.stderr, flush=True)


def table(_):
    """Print one line a dataset and model, and what breaks the promise."""
    results = pd.read_csv(RESULTS).sort_values(["model", "dataset"])
    heads = "dataset | model | rows | difference | float32 | wrong labels | speed by 1000 rows | speed by 1 row | MB"
    print(f"| {heads} |\n" + "|---" * 9 + "|")
    for row in results.itertuples():
        print(
            f"| {row.dataset} | {row.model} | {row.rows} | {row.difference:.1e} | {row.float32:.1e} | {row.wrong} "
            f"| {row.onnx / row.python:.1f} | {row.onnx_alone / row.python_alone:.1f} | {row.megabytes:.1f} |"
        )
    for name, part in results.groupby("model"):
        worst = part[["difference", "float32"]].max(axis=1)
        batch, one = (part.onnx / part.python).median(), (part.onnx_alone / part.python_alone).median()
        print(
            f"\n{name}: {len(part)} sets, worst difference {worst.max():.1e}, {(worst > BOUND).sum()} sets beyond "
            f"{BOUND:.0e}, {part.wrong.sum()} wrong labels of {2 * part.rows.sum()}; median speed, Python being 1: "
            f"{batch:.1f} by {BATCH} rows, {one:.1f} row by row"
        )


def raw(_):
    """Print how far scores of a raw table lie from Python's, and how fast both are."""
    table, rows = people(2000).drop(columns="id"), people(100_000, seed=1).drop(columns=["id", "survived"])
    for name, model in MODELS.items():
        clf = TabularClassifier(model()).fit(table.drop(columns="survived"), table["survived"])
        with tempfile.TemporaryDirectory() as folder:
            graph, size = session(clf, folder, "float64")
        given, place = inputs(rows, {i.name: i.type for i in graph.get_inputs()}), np.arange(len(rows))

        def exported(at, graph=graph, given=given):
            return graph.run(["scores"], {column: values[at] for column, values in given.items()})[0]

        def own(at, clf=clf):
            return clf.classifier_._scores(clf.encode(rows.iloc[at]))

        (found, onnx), (expected, python) = batched(exported, place), batched(own, place)
        change, wrong = difference(found, expected)
        print(
            f"{name}: {len(rows)} rows of {len(given)} raw columns, difference {change:.1e}, {wrong} wrong labels; "
            f"speed, Python being 1: {onnx / python:.1f} by {BATCH} rows, "
            f"{alone(exported, place) / alone(own, place):.1f} row by row; {size / 1e6:.2f} MB"
        )


def inputs(frame, types):
    """Return the columns of a table as inputs of an ONNX graph."""
    text = {name: frame[[name]].astype(object).fillna("").to_numpy() for name in types if "string" in types[name]}
    return text | {name: frame[[name]].to_numpy(dtype=float) for name in types if name not in text}


def main():
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["run", "table", "raw"])
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    {"run": run, "table": table, "raw": raw}[arguments.command](arguments)


if __name__ == "__main__":
    main()
