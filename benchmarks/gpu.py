"""Rows on a device: time of fit and predict, share of the device's float64 matrix rate, and the CPU's scores.

Speed:     python benchmarks/gpu.py --device cuda [--rows 10000000] [--features 100] [--alpha 1.0] [--passes]
Contract:  COGMAP_DATA=… python benchmarks/gpu.py --device cuda --contract

Needs torch; ``--device cpu`` with few rows tries it where there is no GPU. Rows are made on the device. The fit before
the measured one, on 50,000 of the rows, has kernels compiled and libraries loaded.

Operations counted are those of the matrix products over all rows as plain products of two matrices: reasoning, and for
a number as alpha the Gram matrix of all increments; for ``loo`` the map to innovations and their Gram matrix. Symmetric
and triangular products leave out up to 40 % of theirs, so the share of the matrix rate says how fast the work is done,
not how busy the device is.

`--contract` fits the paper's sets on the device and by numpy, block by block as if 100 rows were many, and prints the
largest difference of any score relative to the largest score.
"""

import argparse
import contextlib
import os
import time
from functools import partial
from types import FunctionType

os.environ["SCIPY_ARRAY_API"] = "1"

import numpy as np
import sklearn
import torch

from cogmap import LTCNClassifier
from cogmap.core.sums.sources import Blocks
from cogmap.core.sums.space import NUMPY
from cogmap.intake import blocks as intake
from cogmap.intake.arrays import space_of


def problem(n, m, n_classes, device):
    """Return correlated rows whose class is the largest of some functions of a few features, and noise."""
    generator = torch.Generator(device=device).manual_seed(0)
    options = {"generator": generator, "dtype": torch.float64, "device": device}
    mixing = 0.3 * torch.randn(m, m, **options)
    mixing.diagonal().add_(1.0)
    X = torch.randn(n, m, **options) @ mixing
    first, second, third = np.random.default_rng(0).integers(0, m, (3, n_classes)).tolist()
    scores = torch.sin(X[:, first] / 3) + X[:, second] * X[:, third] / 30 + torch.randn(n, n_classes, **options) / 4
    return X, scores.argmax(dim=1)


def seconds(device, function):
    """Return how long a function takes on the device, and what it returns."""
    wait(device)
    start = time.perf_counter()
    found = function()
    wait(device)
    return time.perf_counter() - start, found


def wait(device):
    """Wait until the device has done its work."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def matrix_rate(device, size):
    """Return the float64 operations in a second of a product of square matrices."""
    A = torch.randn(size, size, dtype=torch.float64, device=device)
    return 2 * size**3 / min(seconds(device, lambda: A @ A)[0] for _ in range(6))


def operations(n, m, n_iter, alpha, rank):
    """Return the operations of the matrix products of a fit, see the head of this file."""
    products = 2 * rank**2 if alpha == "loo" else (m * (n_iter + 1)) ** 2
    return 2 * n * ((2 * n_iter - 1) * m**2 + products)


@contextlib.contextmanager
def reported(device):
    """Print what each pass takes, and yield it by name; waiting for the device between passes costs a little."""
    original, times = Blocks.reduce, {}

    def reduce(self, work):
        names = [
            getattr(part, "func", part).__qualname__
            for part in (work, *getattr(work, "args", ()))
            if isinstance(part, (partial, FunctionType))
        ]
        name = names[-1]
        took, statistic = seconds(device, lambda: original(self, work))
        print(f"  {took:8.3f} s  {' '.join(names)}")
        times[name] = took
        return statistic

    Blocks.reduce = reduce
    yield times
    Blocks.reduce = original


def all_scores(model, X):
    """Return the score of every class."""
    return model.fitted_.scores(X, space_of(X) or NUMPY)


def difference(model, X, y):
    """Return how far scores of fits on the device and by numpy differ, relative to the largest, and labels that do."""
    there = all_scores(model.fit(X, y), X).cpu().numpy()
    rows = X.cpu().numpy()
    here = all_scores(model.fit(rows, y.cpu().numpy()), rows)
    labels = (there.argmax(axis=1) != here.argmax(axis=1)).sum()
    return np.abs(there - here).max() / np.abs(here).max(), labels


def contract(device):
    """Compare the device with numpy on the paper's sets."""
    from data import load, names

    intake.MOST_ROWS = 100
    found = {"loo": [], 1.0: []}
    for name in names():
        X, y = (torch.asarray(np.array(part), device=device) for part in load(name))
        for alpha, all_sets in found.items():
            all_sets.append(difference(LTCNClassifier(alpha=alpha), X, y))
        print(name, tuple(X.shape), *(f"{sets[-1][0]:.1e}" for sets in found.values()), flush=True)
    for alpha, all_sets in found.items():
        change, labels = zip(*all_sets, strict=True)
        print(f"alpha={alpha}: at most {max(change):.1e}, median {np.median(change):.1e}, {sum(labels)} labels differ")


def main():
    """Read the command line, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--features", type=int, default=100)
    parser.add_argument("--classes", type=int, default=2)
    parser.add_argument("--iterations", type=int, default=10)
    parser.add_argument("--alpha", default="loo", help="'loo' or a positive number")
    parser.add_argument("--scaling", default="halfway")
    parser.add_argument("--subsample", type=int, default=100_000, help="rows of the comparison with numpy; 0 for none")
    parser.add_argument("--matrix", type=int, default=8192, help="size of the matrices that the device's rate is of")
    parser.add_argument("--passes", action="store_true", help="also print what each pass takes")
    parser.add_argument("--contract", action="store_true", help="compare with numpy on the paper's sets instead")
    given = parser.parse_args()
    if given.contract:
        with sklearn.config_context(array_api_dispatch=True):
            contract(torch.device(given.device))
        return
    device, alpha = torch.device(given.device), "loo" if given.alpha == "loo" else float(given.alpha)
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else f"CPU, {torch.get_num_threads()} threads"
    print(f"{name}, torch {torch.__version__}, {given.rows} × {given.features}, {given.classes} classes, alpha={alpha}")
    X, y = problem(given.rows, given.features, given.classes, device)
    model = LTCNClassifier(alpha=alpha, max_iter=given.iterations, scaling=given.scaling)
    with sklearn.config_context(array_api_dispatch=True):
        few = slice(0, 50_000)
        model.fit(X[few], y[few])
        rate = matrix_rate(device, given.matrix)
        if device.type == "cuda":
            torch.cuda.reset_peak_memory_stats(device)
        with reported(device) if given.passes else contextlib.nullcontext({}) as times:
            fit, _ = seconds(device, lambda: model.fit(X, y))
        predict, _ = seconds(device, lambda: model.predict(X))
        done = operations(given.rows, given.features, given.iterations, alpha, model.rank_)
        print(f"fit {fit:.2f} s, predict {predict:.2f} s, n_iter_ {model.n_iter_}, rank_ {model.rank_}")
        for what, took in [("fit", fit), *((name, took) for name, took in times.items() if name == "summed")]:
            print(f"{what}: {done / took / 1e12:.3g} TFLOP/s of {rate / 1e12:.3g}: {100 * done / took / rate:.0f} %")
        if device.type == "cuda":
            print(f"most memory at once {torch.cuda.max_memory_allocated(device) / 2**30:.1f} GiB, rows included")
        if given.subsample:
            some = slice(0, given.subsample)
            change, labels = difference(model, X[some], y[some])
            print(f"largest difference to numpy on {given.subsample} rows: {change:.1e}, {labels} labels differ")


if __name__ == "__main__":
    main()
