"""``cogmap demo``: fit, score, explain and draw a network on the wine data that scikit-learn embeds, in a minute."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from .console import NewFolder
from .output import emit, json_option, show, write_whole


@click.command()
@click.option(
    "--output",
    type=NewFolder(),
    default=Path("demo"),
    show_default=True,
    help="Folder for the pictures.",
)
@json_option
def demo(output: Path, as_json: bool) -> None:
    """Fit a network to a dataset that scikit-learn embeds, and draw what it learned."""
    facts = measure(output)
    if as_json:
        emit(facts)
    else:
        show("\n".join(lines(facts)))


def measure(output: Path) -> dict[str, Any]:
    """Return what the demo shows, by name; write two pictures into `output`."""
    import numpy as np
    from sklearn.datasets import load_wine
    from sklearn.metrics import accuracy_score, cohen_kappa_score
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    from ..estimators.classifier import LTCNClassifier
    from ..plots import CognitiveMapDisplay, TrajectoryDisplay

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


def lines(facts: dict[str, Any]) -> Iterator[str]:
    """Yield the lines to show of what was measured."""
    sizes = f"{facts['rows']} rows, {facts['features']} features, {facts['classes']} classes"
    yield f"{facts['data']}: {sizes}; five-fold cross-validation"
    yield f"accuracy {facts['accuracy']:.3f}   kappa {facts['kappa']:.3f}"
    yield ""
    yield "most relevant features (share of the relevance)"
    for name, share in list(facts["relevance"].items())[:5]:
        yield f"  {name:<30} {share:.3f}"
    yield ""
    yield f"reasoning:  comes to rest for {facts['settled']} of {facts['rows']} rows"
    yield f"map:        {facts['map']}"
    yield f"trajectory: {facts['trajectory']}"


def _save(figure: Any, path: Path) -> Path:
    """Write a figure under a temporary name, then move it into place."""
    write_whole(path, lambda unfinished: figure.savefig(unfinished, dpi=120))
    return path
