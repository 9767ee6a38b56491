"""The main job in one minute: fit, score, explain and draw a network on the wine data that scikit-learn embeds."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_wine
from sklearn.metrics import accuracy_score, cohen_kappa_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from .classifier import LTCNClassifier
from .plots import CognitiveMapDisplay, TrajectoryDisplay


def run(output: Path) -> Iterator[str]:
    """Yield the lines to show; write two pictures into `output`."""
    data = load_wine(as_frame=True)
    X, y = data.data, np.asarray(data.target_names)[data.target]
    model = LTCNClassifier()
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    predicted = cross_val_predict(model, X, y, cv=folds)
    yield f"wine: {len(X)} rows, {X.shape[1]} features, {len(data.target_names)} classes; five-fold cross-validation"
    yield f"accuracy {accuracy_score(y, predicted):.3f}   kappa {cohen_kappa_score(y, predicted):.3f}"
    model.fit(X, y)
    yield ""
    yield "most relevant features (share of the relevance)"
    importances = model.feature_importances_
    for i in np.argsort(-importances)[:5]:
        yield f"  {X.columns[i]:<30} {importances[i]:.3f}"
    yield ""
    yield f"reasoning: {model.diagnose(X)}"
    output.mkdir(parents=True, exist_ok=True)
    yield f"map:        {_save(CognitiveMapDisplay.from_estimator(model).figure_, output / 'map.png')}"
    yield f"trajectory: {_save(TrajectoryDisplay.from_estimator(model, X, y).figure_, output / 'trajectory.png')}"


def _save(figure: Any, path: Path) -> Path:
    """Write a figure under a temporary name, then move it into place."""
    unfinished = path.with_suffix(".part.png")
    figure.savefig(unfinished, dpi=120)
    unfinished.replace(path)
    return path
