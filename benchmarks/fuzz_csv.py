"""Read malformed CSV files: each must load, or be refused by a cogmap error, soon.

Also describes every column of those that load, which must succeed or raise ValueError.

Run: python benchmarks/fuzz_csv.py [number of files, 2000 by default]
"""

import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.malformed import malformed

from cogmap import DataFileError
from cogmap.tables.description import describe
from cogmap.tables.table import read_table

LIMIT = 10  # seconds for one file


def outcome(path):
    """Read one file, and say what became of it."""
    try:
        frame = read_table(path).frame
    except DataFileError:
        return "refused"
    for name in frame:
        try:
            describe(frame[name], str(name), np.ones(len(frame)), declared=None, max_categories=20).encode(frame[name])
        except ValueError:
            return "loaded, a column refused"
    return "loaded"


def give_up(*_):
    """Turn a hang into an exception."""
    raise TimeoutError


def main():
    """Print how many files loaded and how many were refused; leave with an error at any other outcome."""
    n_files = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    signal.signal(signal.SIGALRM, give_up)
    counts, slowest = Counter(), 0.0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(n_files):
            content, suffix = malformed(np.random.default_rng(seed))
            path = Path(folder) / f"file{suffix}"
            path.write_bytes(content)
            start = time.perf_counter()
            signal.alarm(LIMIT)
            try:
                counts[outcome(path)] += 1
            except Exception as error:
                print(f"seed {seed}: {type(error).__name__}: {str(error)[:200]}")
                counts["FAILED"] += 1
            signal.alarm(0)
            slowest = max(slowest, time.perf_counter() - start)
            path.unlink()
    for name, count in counts.most_common():
        print(f"{name:<26} {count}")
    print(f"slowest file: {slowest:.2f} s")
    sys.exit(bool(counts["FAILED"]))


if __name__ == "__main__":
    main()
