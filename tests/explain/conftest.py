"""Models of every kind, and explanations by them."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine

from cogmap import LTCNClassifier, LTCNClassifierCV

NAMES = np.array(["barolo", "grignolino", "barbera"])
MODELS = {
    "shrunken": LTCNClassifier(),
    "tanh": LTCNClassifier(activation="tanh"),
    "ridge": LTCNClassifier(alpha=1.0),
    "minimum norm": LTCNClassifier(alpha=0.0, max_iter=2, inner="regression"),
    "final": LTCNClassifier(readout="final", max_iter=2),
    "argmax": LTCNClassifier(decision="argmax"),
    "terms": LTCNClassifier(terms=3),
    "cases": LTCNClassifier(cases=True),
    "no iteration": LTCNClassifier(max_iter=0),
    "kosko": LTCNClassifier(rule="kosko-memory"),
    "stack": LTCNClassifierCV(),
    "stack with terms": LTCNClassifierCV(terms=(None, 3), activation=("sigmoid", "tanh"), inner="slopes", cases=False),
}


ROWS = slice(1, None, 16)
"""Rows that are explained; every second one is fitted to."""


@pytest.fixture(scope="session")
def wine():
    X, y = load_wine(return_X_y=True, as_frame=True)
    return X.assign(constant=1.5), NAMES[y]


@pytest.fixture(scope="session", params=MODELS)
def explained(request, wine):
    X, y = wine
    model = clone(MODELS[request.param]).fit(X[::2], y[::2])
    return model, model.explain(X[ROWS])
