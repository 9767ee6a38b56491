"""Load mutated model files: each must be the model it was, or be refused with one sentence.

Damaged files (bits flipped, bytes lost or added, lengths and parts exchanged) keep their digests, so they are the same
model or none. Forged files (values, keys or arrays replaced) have all digests made anew, so they may be another model;
that must predict and explain without an error, with probabilities that are numbers and add up to 1. A crash, another
exception, more memory or more time than allowed is a failure.

Run: python benchmarks/fuzz_files.py [--files 10000] [--seed 0]
"""

import argparse
import faulthandler
import resource
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
from sklearn.datasets import load_iris
from tests.mutations import DAMAGE, FORGERY

import cogmap
from cogmap import LTCNClassifier, LTCNClassifierCV

MEMORY = 4 << 30
SECONDS = 10.0
MODELS = (
    LTCNClassifier(max_iter=3),
    LTCNClassifierCV(max_iter=3, terms=(None, 3)),
    LTCNClassifierCV(
        max_iter=2, inner=(np.eye(4) * 0.1, "slopes"), phi=[0.5, 0.9], class_weight={"a": 1, "b": 2, "c": 1}
    ),
    LTCNClassifier(max_iter=3, alpha=1.0, terms=3),
    LTCNClassifier.paper(max_iter=3),
)


def predictions(model, X):
    """Return what a model predicts, as bytes; probabilities must be numbers, and rows must have an explanation."""
    with np.errstate(all="ignore"):
        found = model.decision_function(X), model.predict_proba(X), model.trajectory(X), model.relevance()
        labels = model.predict(X).tolist()
        verdict = str(model.diagnose(X)), str(model.explain(X[:2])), model.concept_names_.tolist()
    if not np.allclose(found[1].sum(axis=1), 1):
        raise ArithmeticError(f"probabilities that add up to {found[1].sum(axis=1)[:3]}")
    return b"".join(part.tobytes() for part in found), labels, verdict


def outcome(mutated, content, path, expected, X):
    """Load one file and say what came of it; the same model predicts the same bits and is saved as the same file."""
    path.write_bytes(mutated)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        model = cogmap.load(path)
        alike = predictions(model, X) == expected
        return "same" if alike and model.save(path).read_bytes() == content else "another"
    except cogmap.ModelFileError as error:
        return "refused" if "\n" not in str(error) and len(str(error)) < 1000 else f"long sentence: {error}"
    except BaseException as error:  # a panic of the Rust library would be no Exception
        return f"{type(error).__name__}: {error}"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def stop(number, frame):
    """Turn the alarm into an error."""
    raise TimeoutError(f"more than {SECONDS:g} s")


def sound_files(path, X, y):
    """Return the content of each sound file with what its model predicts."""
    found = []
    for model in MODELS:
        model.fit(X[::3], np.array(["a", "b", "c"])[y[::3]])
        getattr(model, "cv_results_", {}).pop("mean_fit_time", None)  # a clock would make every run another one
        found.append((model.save(path).read_bytes(), predictions(model, X)))
    return found


def main():
    """Print a table of outcomes for each mutation, and what failed."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--files", type=int, default=10_000)
    arguments.add_argument("--seed", type=int, default=0)
    chosen = arguments.parse_args()
    faulthandler.enable()
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGALRM, stop)
    X, y = load_iris(return_X_y=True)
    rng, counts, failures, slowest = np.random.default_rng(chosen.seed), Counter(), [], 0.0
    operations = (*DAMAGE, *FORGERY)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mutated.cogmap"
        bases = sound_files(path, X, y)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        for i in range(chosen.files):
            operation = operations[i % len(operations)]
            content, expected = bases[int(rng.integers(len(bases)))]
            mutated = operation(rng, content)
            start = time.perf_counter()
            found = outcome(mutated, content, path, expected, X)
            slowest = max(slowest, time.perf_counter() - start)
            if found not in ("same", "refused") and not (found == "another" and operation in FORGERY):
                failures.append(f"file {i}, {operation.__name__}: {found}")
                found = "failed"
            counts[operation.__name__, found] += 1
    report(operations, counts, failures)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(f"\n{chosen.files} files, seed {chosen.seed}; slowest {slowest:.2f} s; memory grew by {grown:.0f} MB")
    sys.exit(bool(failures))


def report(operations, counts, failures):
    """Print the table."""
    columns = ("refused", "same", "another", "failed")
    print(f"{'mutation':<18}" + "".join(f"{column:>9}" for column in columns))
    for operation in operations:
        print(f"{operation.__name__:<18}" + "".join(f"{counts[operation.__name__, column]:>9}" for column in columns))
    total = [sum(count for (_, found), count in counts.items() if found == column) for column in columns]
    print(f"{'all':<18}" + "".join(f"{count:>9}" for count in total))
    for failure in failures[:20]:
        print(failure[:300])


if __name__ == "__main__":
    main()
