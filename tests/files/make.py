"""Write the model files of the current format that later versions must still read, and what they predict.

Run once for each format: python -m tests.files.make. Files of earlier formats stay as they are.
"""

import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_iris

from cogmap import LTCNClassifier, LTCNClassifierCV, TabularClassifier
from cogmap.files.model.document import FORMAT

MODELS = {
    "stack": LTCNClassifierCV(max_iter=3, terms=(None, 3)),
    "innovations": LTCNClassifier(max_iter=4, class_weight="balanced", decision_metric="kappa"),
    "increments": LTCNClassifier(max_iter=3, alpha=0.5, activation="tanh"),
    "tabular": TabularClassifier(LTCNClassifier(max_iter=2), drop=["sepal width"]),
    "states": LTCNClassifier.paper(max_iter=2, rule="kosko-memory"),
}


def main():
    """Write one file for each model, and one JSON file with their predictions."""
    warnings.simplefilter("ignore")
    table, y = load_iris(return_X_y=True)
    X = pd.DataFrame(table, columns=["sepal länge", "sepal width", "petal 長さ", "petal width"])
    labels = np.array(["setosa", "versicolor", "virginica"])[y]
    rows, expected = table[1::12], {}
    for name, model in MODELS.items():
        model.fit(X[::4], labels[::4]).save(Path(__file__).with_name(f"format-{FORMAT}-{name}.cogmap"))
        seen = X[1::12]
        expected[name] = {"scores": model.decision_function(seen).tolist(), "classes": model.predict(seen).tolist()}
    document = {"columns": list(X.columns), "rows": rows.tolist(), "expected": expected}
    Path(__file__).with_name(f"format-{FORMAT}.json").write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main()
