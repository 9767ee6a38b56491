"""Whether every view of an explanation shows the same evidence, and whether that is what the probabilities say.

    python benchmarks/evidence.py

Ten rows each of three datasets: two classes, three classes, and a raw table with text and missing values (the one of
`python -m tests.people`). For each row and its predicted class, the evidence is log p less the log p of the other
class, or less the mean log p of all classes, from `predict_proba` alone. The table has the largest difference of

- text: the sum that `to_text` prints, which has two decimals;
- frame: the sum of the lines of `features_frame`, and of `to_frame` (concepts and iterations);
- JSON: the sum of what `cogmap explain --json` prints;
- waterfall: where the last bar of `WaterfallDisplay` ends, by feature and by iteration;
- shap: the sum of values and base values of `to_shap`;
- report: the sum of start and reasons of the rows that a report explains, against the model that did not see them.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("MPLBACKEND", "Agg")

import json
import re
import sys
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from click.testing import CliRunner
from matplotlib import pyplot as plt
from sklearn.datasets import load_breast_cancer, load_wine

from cogmap import LTCNClassifier, LTCNClassifierCV, TabularClassifier
from cogmap.cli import main as command
from cogmap.plots import WaterfallDisplay

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.people import people

N_ROWS = 10


def problems():
    """Yield name, unfitted model, columns and classes of each dataset."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    yield "breast cancer, 2 classes", LTCNClassifierCV(), X, np.array(["malignant", "benign"])[y]
    X, y = load_wine(return_X_y=True, as_frame=True)
    yield "wine, 3 classes", LTCNClassifier(), X, np.array(["barolo", "grignolino", "barbera"])[y]
    table = people()
    yield "people, a raw table", TabularClassifier(drop=["id"]), table.drop(columns="survived"), table["survived"]


def log_odds(probability, k):
    """Return the evidence for class k of each row, from probabilities alone."""
    log = np.log(probability)
    against = log[np.arange(len(k)), 1 - k] if log.shape[1] == 2 else log.mean(axis=1)
    return log[np.arange(len(k)), k] - against


def from_text(explanation):
    """Return the sums that are printed."""
    texts = [explanation.to_text(i) for i in range(len(explanation))]
    return np.array([float(re.search(r"is ([+-][\d.]+) in all", text).group(1)) for text in texts])


def from_frame(explanation, frame, column):
    """Return the sums of a frame's lines for the predicted classes."""
    total = frame.groupby(["row", "class"])[column].sum()
    return np.array([total[pair] for pair in zip(explanation.index, explanation.predicted, strict=True)])


def from_json(model, rows):
    """Return the sums of what the command prints."""
    with TemporaryDirectory() as folder:
        path = Path(folder)
        model.save(path / "a.cogmap")
        rows.to_csv(path / "rows.csv", index=False)
        chosen = [argument for i in range(len(rows)) for argument in ("--row", str(i))]
        result = CliRunner().invoke(
            command,
            ["explain", str(path / "a.cogmap"), str(path / "rows.csv"), *chosen, "--json"],
            catch_exceptions=False,
        )
    found = json.loads(result.stdout)
    return np.array([row["other_rows"] + sum(part["evidence"] for part in row["columns"]) for row in found])


def from_waterfall(explanation, by):
    """Return where the bars end."""
    shown = [
        WaterfallDisplay.from_explanation(explanation, i, label, by=by) for i, label in enumerate(explanation.predicted)
    ]
    plt.close("all")
    return np.array([display.steps()[-1].end for display in shown])


def from_shap(explanation, k):
    """Return the sums of shap's values for the predicted classes; of two classes it has the second alone."""
    found = explanation.to_shap()
    total = found.values.sum(axis=1) + found.base_values
    return np.where(k == 1, total, -total) if total.ndim == 1 else total[np.arange(len(k)), k]


def from_report(model, X, y):
    """Return the largest difference of the sums in a report from what the models that did not see its rows predict."""
    from cogmap.report.explained_rows import explained_rows
    from cogmap.report.subject import subject
    from cogmap.report.unseen import unseen

    about = subject(model, X, y)
    told = unseen(about, 5)
    worst = 0.0
    for row in explained_rows(about, told)["rows"]:
        judge = told.models[told.fold[row["position"]]]
        probability = judge.predict_proba(about.rows([row["position"]]))
        total = row["start"] + sum(reason["adds"] for reason in row["reasons"]) + row["others"]
        worst = max(worst, abs(total - log_odds(probability, told.predicted[[row["position"]]])[0]))
    return worst


def differences(model, X, y):
    """Return for each view of a fitted model its largest difference from the evidence of the probabilities."""
    rows = X.iloc[np.linspace(0, len(X) - 1, N_ROWS).astype(int)].reset_index(drop=True)
    explanation, probability = model.explain(rows), model.predict_proba(rows)
    k = np.searchsorted(model.classes_, explanation.predicted)
    expected = log_odds(probability, k)
    views = {
        "text": [from_text(explanation)],
        "frames": [
            from_frame(explanation, explanation.features_frame(), "evidence"),
            from_frame(explanation, explanation.to_frame(), "contribution"),
        ],
        "JSON": [from_json(model, rows)],
        "waterfalls": [from_waterfall(explanation, by) for by in ("feature", "iteration")],
        "shap": [from_shap(explanation, k)],
    }
    found = {name: max(np.abs(sums - expected).max() for sums in parts) for name, parts in views.items()}
    return found | {"report": from_report(model, X, y)}


def main():
    """Print a table in Markdown."""
    warnings.simplefilter("ignore")
    print("| dataset | text | frames | JSON | waterfalls | shap | report |\n|---|---|---|---|---|---|---|")
    for name, model, X, y in problems():
        found = differences(model.fit(X, y), X, y)
        cells = [f"{value:.4f}" if view == "text" else f"{value:.0e}" for view, value in found.items()]
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
