"""How much faster a local explanation is than `shap.KernelExplainer` on the same model.

    COGMAP_DATA=… python benchmarks/explain_speed.py

100 rows of the phishing data: the split over concepts and iterations and the attribution to features, against
KernelExplainer with 100 background rows and its default number of samples. KernelExplainer takes the same time for
every row, so it is timed on a few rows, and scaled. Times are those of the processor, with one thread, so that the
ratio does not depend on what else the machine does.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import time
import warnings

import data
import numpy as np
import pandas as pd
import shap

from cogmap import LTCNClassifier

N_ROWS, N_TIMED, N_BACKGROUND = 100, 2, 100


def main():
    """Print both times and their ratio."""
    table = pd.read_csv(data.folder() / "phishing.csv.gz").drop(columns="id")
    X, y = table.drop(columns="CLASS_LABEL").to_numpy(float), table["CLASS_LABEL"].to_numpy()
    rng = np.random.default_rng(0)
    order = rng.permutation(len(X))
    model = LTCNClassifier().fit(X[order[N_ROWS:]], y[order[N_ROWS:]])
    rows, background = X[order[:N_ROWS]], X[order[-N_BACKGROUND:]]

    start = time.process_time()
    explanation = model.explain(rows)
    contributions, attributions = explanation.contributions(model.classes_[1]), explanation.attributions
    ours = time.process_time() - start
    shape = f"{contributions.shape[1]} states, {attributions.shape[1]} features"
    print(f"cogmap: {N_ROWS} rows, {shape} in {ours:.2f} s: {ours / N_ROWS:.3f} s a row")

    explainer = shap.KernelExplainer(model.decision_function, background)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.process_time()
        explainer.shap_values(rows[:N_TIMED], silent=True)
        theirs = (time.process_time() - start) / N_TIMED
    print(f"shap.KernelExplainer: {theirs:.2f} s a row, timed on {N_TIMED} rows; {theirs * N_ROWS:.0f} s for {N_ROWS}")
    print(f"ratio {theirs * N_ROWS / ours:.0f}")


if __name__ == "__main__":
    main()
