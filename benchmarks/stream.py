"""Streamed fits: the contract on the paper's sets, and throughput and memory from Parquet and from a raw CSV file.

Contract:    COGMAP_DATA=… python benchmarks/stream.py contract
Throughput:  python benchmarks/stream.py parquet --rows 1000000 --features 20 [--tuned]
Raw CSV:     python benchmarks/stream.py csv --rows 100000
Predictions: python benchmarks/stream.py predict --rows 200000 2000000

`contract` fits every set at once and in blocks of 384 rows, and prints the largest change of any score of any row,
relative to the largest score. `parquet` writes a file, fits it streamed, and before and after that as many rows in
memory as `--memory` says; it prints rows per second of processor time, the peak of the resident memory, and the most
space that temporary files took, each fit in a process of its own. `csv` writes eight numbers, one of them with missing
values, a text and a flag, and has the command line fit them with `--memory 100MB`, untuned and tuned. `predict`
writes such files too, and has the command line predict, evaluate and explain their rows with one model.
"""

import argparse
import os
import stat
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np
from sklearn.base import clone

from cogmap import LTCNClassifier, LTCNClassifierCV, stream
from cogmap.core.fit import judges
from cogmap.core.sums import sources
from cogmap.intake import blocks as intake
from cogmap.intake.progress import Writer


def problem(rng, n, m):
    """Return rows and two classes."""
    X = rng.normal(size=(n, m))
    return X, (np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + rng.normal(size=n) > 0).astype(int)


def contract(_):
    """Compare fits at once, where all rows judge, with fits in blocks, where all do too."""
    from data import load, names

    sources.BLOCK_ROWS, judges.DECIDERS = 384, 10**9
    models = {
        "alpha='loo'": LTCNClassifier(),
        "alpha=1": LTCNClassifier(alpha=1.0),
        "tuned": LTCNClassifierCV(cases=False),
    }
    print("| dataset | rows | " + " | labels | ".join(models) + " | labels |\n" + "|---" * (2 + 2 * len(models)) + "|")
    for name in names():
        X, y = load(name)
        cells = []
        for model in models.values():
            fitted = []
            for most in (10**9, 50):
                intake.MOST_ROWS = most
                fitted.append(clone(model).fit(X, y)._scores(X))
            at_once, blocks = fitted
            change = np.abs(blocks - at_once).max() / np.abs(at_once).max()
            cells += [f"{change:.1e}", f"{(blocks.argmax(axis=1) != at_once.argmax(axis=1)).mean():.2%}"]
        print(f"| {name} | {len(y)} | " + " | ".join(cells) + " |", flush=True)


def write(path, n, m):
    """Write rows to Parquet, a million at a time."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng, writer = np.random.default_rng(0), None
    for start in range(0, n, 10**6):
        X, y = problem(rng, min(10**6, n - start), m)
        table = pa.table({f"x{j}": X[:, j] for j in range(m)} | {"y": y})
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table, row_group_size=2**17)
    writer.close()


def peak():
    """Return the peak of this process's memory in MB; `getrusage` would count the memory of the process before it."""
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


def chosen(tuned):
    """Return the classifier to fit."""
    return LTCNClassifierCV() if tuned else LTCNClassifier()


def streamed(path, tuned):
    """Fit a file, and print seconds and memory."""
    before, begun, passes, disk, write = peak(), time.process_time(), [], [], Writer()

    def watch(told):
        passes.append(told.number)
        disk.append(scratch())
        write(told)

    stream.fit(path, chosen(tuned), target="y", progress=watch)
    print(time.process_time() - begun, peak() - before, max(passes), max(disk))


def scratch():
    """Return how much this process's files without a name take, in MB."""
    total = 0
    for entry in Path("/proc/self/fd").iterdir():
        with suppress(OSError):  # the folder was open itself while it was listed
            found = os.fstat(int(entry.name))
            total += found.st_blocks * 512 if found.st_nlink == 0 and stat.S_ISREG(found.st_mode) else 0
    return total / 2**20


def in_memory(n, m, tuned):
    """Fit rows in memory, and print the seconds."""
    X, y = problem(np.random.default_rng(0), n, m)
    start = time.process_time()
    chosen(tuned).fit(X, y)
    print(time.process_time() - start)


def alone(*arguments):
    """Return what this file prints in a process of its own."""
    command = [sys.executable, __file__, *map(str, arguments)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return [float(word) for word in done.stdout.split()]


def parquet(arguments):
    """Compare a streamed fit with one in memory, per row."""
    known, tuned = min(arguments.memory, arguments.rows), ["--tuned"] if arguments.tuned else []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        write(path, arguments.rows, arguments.features)
        (before,) = alone("memory", known, arguments.features, *tuned)
        seconds, extra, passes, disk = alone("streamed", path, *tuned)
        (after,) = alone("memory", known, arguments.features, *tuned)
    reference = (before + after) / 2
    ratio = (seconds / arguments.rows) / (reference / known)
    print("| rows | features | passes | rows / s | extra memory | disk | in memory, rows / s | time per row |")
    print("|---|---|---|---|---|---|---|---|")
    print(
        f"| {arguments.rows} | {arguments.features} | {passes:.0f} | {arguments.rows / seconds:.0f} | {extra:.0f} MB | "
        f"{disk:.0f} MB | {known / reference:.0f} ({known} rows) | {ratio:.2f} |"
    )


def write_csv(path, n):
    """Write a raw table, 100,000 rows at a time."""
    import pandas as pd

    rng = np.random.default_rng(0)
    for start in range(0, n, 10**5):
        X, y = problem(rng, min(10**5, n - start), 8)
        table = pd.DataFrame(X, columns=[f"x{j}" for j in range(8)])
        table.loc[rng.random(len(y)) < 0.05, "x7"] = np.nan
        table["town"], table["new"] = rng.choice(["Ghent", "Hasselt", "Tilburg"], len(y)), rng.random(len(y)) < 0.5
        table["y"] = np.where(y, "yes", "no")
        table.to_csv(path, mode="a", index=False, header=start == 0)


def cogmap(*arguments):
    """Run a command in a process of its own; return its seconds of processor time and its peak memory in MB.

    It reads its peak itself: `wait4` would count the memory of this process.
    """
    code = (
        "import sys; from cogmap.cli import main; main(sys.argv[1:], standalone_mode=False); "
        "sys.stderr.write(open('/proc/self/status').read().split('VmHWM:')[1].split()[0])"
    )
    pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    before = os.times()
    told = subprocess.run([sys.executable, "-c", code, *map(str, arguments)], check=True, text=True, **pipes).stderr
    after = os.times()
    seconds = after.children_user + after.children_system - before.children_user - before.children_system
    return seconds, int(told.split()[-1]) / 1024


def predict(arguments):
    """Predict, evaluate and explain files of several sizes with one model."""
    print("| rows | file | command | seconds | peak of the process |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        few, model, result = (Path(folder) / name for name in ("few.csv", "few.cogmap", "predicted.csv"))
        write_csv(few, 20_000)
        cogmap("fit", few, "--target", "y", "--no-tune", "--model", model)
        for n in arguments.rows:
            path = Path(folder) / f"{n}.csv"
            write_csv(path, n)
            commands = {
                "predict --proba --keep x0": ("predict", model, path, "--proba", "--keep", "x0", "-o", result),
                "evaluate": ("evaluate", model, path),
                "explain --row 1000": ("explain", model, path, "--row", 1000),
            }
            for name, command in commands.items():
                seconds, most = cogmap(*command)
                size = path.stat().st_size / 1e6
                print(f"| {n} | {size:.0f} MB | `{name}` | {seconds:.1f} | {most:.0f} MB |", flush=True)
            path.unlink()


def csv(arguments):
    """Fit a raw table from the command line: one network, and several that are compared."""
    print("| rows | file | option | seconds | peak of the process |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        path, model = Path(folder) / "rows.csv", Path(folder) / "rows.cogmap"
        write_csv(path, arguments.rows)
        size = path.stat().st_size / 1e6
        for option in ("--no-tune", "--tune"):
            seconds, most = cogmap("fit", path, "--target", "y", option, "--memory", "100MB", "--model", model)
            print(f"| {arguments.rows} | {size:.0f} MB | `{option}` | {seconds:.1f} | {most:.0f} MB |", flush=True)


def main():
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("contract").set_defaults(run=contract)
    one = commands.add_parser("parquet")
    one.add_argument("--rows", type=int, default=10**6)
    one.add_argument("--features", type=int, default=20)
    one.add_argument("--memory", type=int, default=200_000)
    one.add_argument("--tuned", action="store_true")
    one.set_defaults(run=parquet)
    one = commands.add_parser("csv")
    one.add_argument("--rows", type=int, default=10**5)
    one.set_defaults(run=csv)
    one = commands.add_parser("predict")
    one.add_argument("--rows", type=int, nargs="+", default=[200_000, 2_000_000])
    one.set_defaults(run=predict)
    part = commands.add_parser("streamed")
    part.add_argument("path")
    part.add_argument("--tuned", action="store_true")
    part.set_defaults(run=lambda given: streamed(given.path, given.tuned))
    part = commands.add_parser("memory")
    part.add_argument("rows", type=int)
    part.add_argument("features", type=int)
    part.add_argument("--tuned", action="store_true")
    part.set_defaults(run=lambda given: in_memory(given.rows, given.features, given.tuned))
    arguments = parser.parse_args()
    arguments.run(arguments)


if __name__ == "__main__":
    main()
