"""What the model is: parameters, classes, columns, networks.

Easy to get wrong: a stack names its networks by their parameters, and leaves out those that it gives no weight; two
members may share one network.
"""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from ..core.curves.pairs import PairReadout
from ..core.fit.fitted import Fitted
from ..core.resemblance.regions import Remembering
from .subject import Subject


def overview(subject: Subject) -> dict[str, Any]:
    """Return what the model is, as plain data."""
    from .. import __version__

    network = subject.network
    counts = np.bincount(subject.codes, minlength=len(subject.classes))
    return {
        "library": f"cogmap {__version__}",
        "kind": type(network).__name__,
        "tabular": subject.is_tabular,
        "target": subject.target,
        "n_rows": len(subject.codes),
        "n_columns": len(subject.used_columns),
        "n_training_rows": round(float(network.class_count_.sum())),
        "classes": [
            {"name": name, "n_rows": int(count), "n_training_rows": round(float(trained))}
            for name, count, trained in zip(subject.classes, counts, network.class_count_, strict=True)
        ],
        "n_concepts": len(network.concept_names_),
        "n_iterations": network.fitted_.n_iter,
        "networks": _networks(subject.model.fitted_),
        "n_remembered": _remembered(subject.model.fitted_),
        "parameters": _parameters(network),
        "columns": _columns(subject.model),
    }


def _networks(fitted: Fitted) -> list[dict[str, Any]]:
    """Return each block: its name, size, nonlinearity, and weight in the stack."""
    networks = []
    for name, model in zip(fitted.network_names, fitted.networks, strict=True):
        own = [(member, weight) for member, weight in fitted.members if member.network is model.network]
        networks.append(
            {
                "name": name,
                "n_concepts": len(model.network.bias),
                "phi": float(model.network.phi),
                "activation": model.network.activation.name,
                "n_iterations": max(member.readout.n_iter for member, _ in own),
                "weight": float(sum(weight for _, weight in own)),
                "cases": any(isinstance(member.readout, Remembering) for member, _ in own),
                "pairs": sum(len(member.readout.pairs) for member, _ in own if isinstance(member.readout, PairReadout)),
                "curves": any(isinstance(member.readout, PairReadout) for member, _ in own),
            }
        )
    return networks


def _remembered(fitted: Fitted) -> int:
    return max((len(m.readout.cases) for m, _ in fitted.members if isinstance(m.readout, Remembering)), default=0)


def _parameters(network: BaseEstimator) -> list[dict[str, Any]]:
    """Return the parameters, and whether each has its default."""
    defaults = type(network)().get_params(deep=False)
    return [
        {"name": name, "value": _written(value), "default": _written(value) == _written(defaults[name])}
        for name, value in sorted(network.get_params(deep=False).items())
    ]


def _written(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"array of shape {value.shape}"
    if type(value).__name__ == "Knowledge":
        return f"{len(value)} statement{'s' * (len(value) != 1)}"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_written, value)) or "none"
    return value if isinstance(value, str) else repr(value)


def _columns(model: Any) -> list[dict[str, Any]]:
    """Return what each raw column became; nothing for a model that takes numbers."""
    return [
        {"name": c.name, "kind": c.kind, "concepts": list(c.concepts), "fill": c.fill_text, "note": c.note}
        for c in getattr(model, "columns_", ())
    ]
