"""How soon a workbench answers while a slider moves: one call of the seam, from payload to JSON.

Times are of the processor as well as of the clock, since a busy machine slows the latter; the median and the 95th
percentile of 40 calls, each with another value of another column.

Run: OPENBLAS_NUM_THREADS=1 python benchmarks/workbench.py
"""

import json
import time

import numpy as np
import pandas as pd
from sklearn.datasets import make_classification

from cogmap import LTCNClassifier, LTCNClassifierCV, TabularClassifier
from cogmap.workbench import Workbench

N_ROWS, CALLS = 1_000, 40


def problem(n_columns):
    """Return a table of numbers and its classes."""
    X, y = make_classification(N_ROWS, n_columns, n_informative=15, n_classes=3, random_state=0)
    return pd.DataFrame(X, columns=[f"column {j}" for j in range(n_columns)]), pd.Series(y, name="class")


def measured(bench, name, payload):
    """Return processor and clock times of calls in ms."""
    times = []
    for k in range(CALLS + 3):
        control = bench.sheet.controls[k % len(bench.sheet.controls)]
        moved = {control.name: control.low + (k % 7) / 7 * (control.high - control.low)}
        begun = time.process_time(), time.perf_counter()
        json.dumps(bench.call(name, {**payload, "values": moved, "row": k}))
        times.append((time.process_time() - begun[0], time.perf_counter() - begun[1]))
    return 1000 * np.array(times[3:])


def main():
    """Print a line for each model and call."""
    print(f"{'model':<34} {'call':<26} {'processor ms':>16} {'clock ms':>16}")
    plain, tabular, stack = LTCNClassifier(), TabularClassifier(LTCNClassifier()), LTCNClassifierCV()
    for n_columns, model in ((50, plain), (50, tabular), (50, stack), (200, plain)):
        X, y = problem(n_columns)
        bench = Workbench(model.fit(X, y), X, y, refit=False)
        label = f"{type(model).__name__}, {n_columns} columns"
        for name, payload in (("what_if", {}), ("what_if", {"parts": ["trajectory"]}), ("changes", {})):
            times = measured(bench, name, payload)
            middle, most = np.median(times, axis=0), np.quantile(times, 0.95, axis=0)
            shown = f"{name} {', '.join(payload.get('parts', []))}".strip()
            print(f"{label:<34} {shown:<26} {middle[0]:7.0f} {most[0]:8.0f} {middle[1]:7.0f} {most[1]:8.0f}")


if __name__ == "__main__":
    main()
