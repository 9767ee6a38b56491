"""The main job in one minute: fit, score, explain and draw a network on the wine data that scikit-learn embeds."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_wine
from sklearn.metrics import accuracy_score, cohen_kappa_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from ..estimators.classifier import LTCNClassifier
from ..plots import CognitiveMapDisplay, TrajectoryDisplay
from ..writing import whole


def measure(output: Path) -> dict[str, Any]:
    """Return what the demo shows, by name; write two pictures into `output`."""
    data = load_wine(as_frame=True)
    X, y = data.data, np.asarray(data.target_names)[data.target]
    model = LTCNClassifier()
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    predicted = cross_val_predict(model, X, y, cv=folds)
    model.fit(X, y)
    order, dynamics = np.argsort(-model.feature_importances_), model.diagnose(X)
    output.mkdir(parents=True, exist_ok=True)
    return {
        "data": "wine",
        "rows": len(X),
        "features": X.shape[1],
        "classes": len(data.target_names),
        "accuracy": float(accuracy_score(y, predicted)),
        "kappa": float(cohen_kappa_score(y, predicted)),
        "relevance": {str(X.columns[i]): float(model.feature_importances_[i]) for i in order},
        "reasoning": str(dynamics),
        "settled": int((dynamics.period == 1).sum()),
        "map": str(_save(CognitiveMapDisplay.from_estimator(model).figure_, output / "map.png")),
        "trajectory": str(_save(TrajectoryDisplay.from_estimator(model, X, y).figure_, output / "trajectory.png")),
    }


def lines(found: dict[str, Any]) -> Iterator[str]:
    """Yield the lines to show of what was measured."""
    sizes = f"{found['rows']} rows, {found['features']} features, {found['classes']} classes"
    yield f"{found['data']}: {sizes}; five-fold cross-validation"
    yield f"accuracy {found['accuracy']:.3f}   kappa {found['kappa']:.3f}"
    yield ""
    yield "most relevant features (share of the relevance)"
    for name, share in list(found["relevance"].items())[:5]:
        yield f"  {name:<30} {share:.3f}"
    yield ""
    yield f"reasoning:  comes to rest for {found['settled']} of {found['rows']} rows"
    yield f"map:        {found['map']}"
    yield f"trajectory: {found['trajectory']}"


def _save(figure: Any, path: Path) -> Path:
    """Write a figure under a temporary name, then move it into place."""
    with whole(path) as unfinished:
        figure.savefig(unfinished, dpi=120)
    return path
