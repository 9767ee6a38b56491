"""The classifiers of the study: how to make each one, its grids (the paper's, the authors', a small one), its needs.

To add one, write an `Entry` into `ENTRIES`. A grid is a dict, or a function of the training set's `Shape` where the
paper's depends on it. The paper prints ranges ("0.01 to 100"); a grid takes a few points of each with both ends. EBM
as it comes takes most of a minute on 150 rows of three classes; its small grid has fewer bags, rounds and pairs.

Easy to get wrong: the paper's "max_depth = sqrt, log2, auto" of decision trees can only mean `max_features`, of which
"auto" was the square root; and it tunes nothing of logistic regression. Its LTCN tunes activation and φ; which T its
tables used it does not say. The authors' notebook has T = 5, 10 and 15, and φ from .5 on: that is the grid "authors".
"paper" has every φ with T = 5 and 20: with 20 alone, and as many columns as rows, the pseudoinverse overfits
(plant-shape: kappa .02 against .43).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifierCV
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from ..estimators.classifier import LTCNClassifier
from ..estimators.tuned import LTCNClassifierCV
from .ablation import FinalStateClassifier, RandomInnerClassifier, RandomOuterClassifier
from .boosting import LightGBMClassifier
from .frcn import FRCNClassifier
from .gam import GAMClassifier
from .hyrs import HybridRuleSetClassifier
from .ripper import RipperClassifier, java_missing


class Shape(NamedTuple):
    """Size of a training set."""

    n_rows: int
    n_features: int
    n_classes: int


Grid = Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]]
"""What scikit-learn's `ParameterGrid` takes."""


@dataclass(frozen=True)
class Entry:
    """One classifier of the study.

    Attributes
    ----------
    name : str
        Its name in tables and on the command line.
    make : callable
        Shape of the training set → unfitted estimator.
    paper, small : dict, or callable from Shape to dict
        The paper's grid, and one for a quick look. Empty: nothing is tuned.
    authors : dict or None
        The grid of the authors' notebook, which has one for their network only.
    group : {"paper", "binary", "beyond", "ablation", "classic"}
        The paper's table of all classifiers, its binary table, not in the paper, its ablation, its classic readout.
    package : str or None
        The package that it needs beyond scikit-learn.
    java : bool
        Whether it needs Java.
    rounding : bool
        Whether rounding can decide its classes, so that another machine need not find the same.
    """

    name: str
    make: Callable[[Shape], Any]
    paper: Grid | Callable[[Shape], Grid] = field(default_factory=dict)
    small: Grid | Callable[[Shape], Grid] = field(default_factory=dict)
    authors: Grid | None = None
    group: str = "paper"
    package: str | None = None
    java: bool = False
    rounding: bool = False

    @property
    def binary(self) -> bool:
        """Whether it takes two classes only."""
        return self.group == "binary"

    def grid(self, which: str, shape: Shape) -> Grid:
        """Return the grid ``"paper"``, ``"small"`` or ``"authors"`` for a training set."""
        grid = {"paper": self.paper, "small": self.small, "authors": self.authors}[which]
        if grid is None:
            raise ValueError(f"The authors' notebook has no grid for {self.name}: use --grid paper or small.")
        return grid(shape) if callable(grid) else grid

    def missing(self) -> str | None:
        """Say what keeps it from running on this machine, or nothing."""
        if self.package and find_spec(self.package) is None:
            return f'the package {self.package} is not installed: pip install "cogmap[study]"'
        return java_missing() if self.java else None


GRIDS = ("small", "paper", "authors")
"""Grids that are searched; any other is one configuration."""

PHI = [round(0.1 * i, 1) for i in range(11)]
ITERATIONS = [5, 20]
SMALL: dict[str, Sequence[Any]] = {"phi": [0.5, 0.8, 1.0], "max_iter": ITERATIONS}
PAPER: dict[str, Sequence[Any]] = {"activation": ["sigmoid", "tanh"], "phi": PHI, "max_iter": ITERATIONS}
AUTHORS = PAPER | {"phi": PHI[5:10], "max_iter": [5, 10, 15]}


def _forest_grid(shape: Shape) -> Grid:
    depths = [2, 4, 6, 8, 10, int(np.sqrt(shape.n_rows))]
    return {"n_estimators": [10, 50, 100], "criterion": ["gini", "entropy"], "max_depth": depths}


def _som_grid(sides: list[int], rates: list[float], iterations: list[int]) -> Grid:
    """Square maps, with as many supervised as unsupervised iterations."""
    return [
        {
            "n_rows": [side],
            "n_columns": [side],
            "learning_rate_start": rates,
            "n_iter_unsupervised": [n],
            "n_iter_supervised": [n],
        }
        for side in sides
        for n in iterations
    ]


def _som(shape: Shape) -> Any:
    from susi import SOMClassifier

    return SOMClassifier(random_state=0)


def _ebm(shape: Shape) -> Any:
    from interpret.glassbox import ExplainableBoostingClassifier

    return ExplainableBoostingClassifier(n_jobs=1, random_state=0)


ENTRIES = (
    Entry(
        "SVM",
        lambda shape: SVC(random_state=0),
        paper={
            "kernel": ["linear", "poly", "rbf", "sigmoid"],
            "C": [0.01, 0.1, 1, 10, 100],
            "gamma": ["scale", "auto"],
        },
        small={"C": [1, 10, 100]},
    ),
    Entry("LR", lambda shape: LogisticRegression(max_iter=1000)),
    Entry(
        "DT",
        lambda shape: DecisionTreeClassifier(random_state=0),
        paper={
            "criterion": ["gini", "entropy"],
            "splitter": ["best", "random"],
            "max_features": ["sqrt", "log2"],
        },
        small={"criterion": ["gini", "entropy"], "max_features": ["sqrt", None]},
    ),
    Entry(
        "RF",
        lambda shape: RandomForestClassifier(random_state=0),
        paper=_forest_grid,
        small=lambda shape: {"max_depth": [10, int(np.sqrt(shape.n_rows))]},
    ),
    Entry(
        "MLP",
        lambda shape: MLPClassifier((int((shape.n_features + shape.n_classes) / 2),), random_state=0),
        paper={
            "activation": ["identity", "logistic", "tanh", "relu"],
            "solver": ["lbfgs", "sgd", "adam"],
            "alpha": [0.01, 0.1, 0.5],
            "learning_rate": ["constant", "invscaling", "adaptive"],
        },
        small={"activation": ["tanh", "relu"], "solver": ["lbfgs"], "alpha": [0.01, 0.5]},
        rounding=True,
    ),
    Entry(
        "RIPPER",
        lambda shape: RipperClassifier(),
        paper={"folds": [2, 5, 10], "optimizations": [2, 5, 10], "min_weight": [1.0, 5.0, 10.0]},
        small={"folds": [3, 10]},
        package="weka",
        java=True,
    ),
    Entry(
        "SOM",
        _som,
        paper=_som_grid([10, 50, 100], [0.5, 0.9], [100, 1000, 10000]),
        small=_som_grid([10, 20], [0.5], [1000]),
        package="susi",
    ),
    Entry(
        "FRCN",
        lambda shape: FRCNClassifier(),
        paper={
            "implicator": ["lukasiewicz", "godel"],
            "t_norm": ["lukasiewicz", "product"],
            "distance": ["HEOM", "HMOM"],
        },
        small={"distance": ["HEOM", "HMOM"]},
    ),
    Entry(
        "LightGBM",
        lambda shape: LightGBMClassifier(),
        paper={"validation_fraction": [0.1, 0.2], "min_child_samples": [10, 20]},
        small={"min_child_samples": [10, 20]},
        package="lightgbm",
    ),
    Entry(
        "LTCN",
        lambda shape: LTCNClassifier.paper(),
        paper=PAPER,
        small=SMALL,
        authors=AUTHORS,
        rounding=True,
    ),
    Entry(
        "GAM",
        lambda shape: GAMClassifier(),
        paper={"n_splines": [5, 6, 7, 8, 9, 10], "fit_splines": [True, False]},
        small={"n_splines": [5], "fit_splines": [True, False]},
        group="binary",
        package="pygam",
    ),
    Entry(
        "HyRS",
        lambda shape: HybridRuleSetClassifier(),
        paper={"max_length": [3, 5], "support": [5, 10], "n_rules": [1000, 5000]},
        small={"max_length": [3, 5]},
        group="binary",
    ),
    Entry(
        "LTCN slopes",
        lambda shape: LTCNClassifier.paper(inner="slopes"),
        paper=PAPER,
        small=SMALL,
        authors=AUTHORS,
        group="beyond",
        rounding=True,
    ),
    Entry("LTCNClassifier", lambda shape: LTCNClassifier(decision_metric="kappa"), group="beyond"),
    Entry("LTCNClassifierCV", lambda shape: LTCNClassifierCV(decision_metric="kappa"), group="beyond"),
    Entry(
        "FCM final state",
        lambda shape: LTCNClassifier.paper(readout="final"),
        paper=PAPER,
        small=SMALL,
        authors=AUTHORS,
        group="beyond",
    ),
    Entry("FCM 1e-15", lambda shape: FinalStateClassifier(), PAPER, SMALL, AUTHORS, group="classic", rounding=True),
    Entry("RidgeClassifierCV", lambda shape: RidgeClassifierCV(alphas=np.logspace(-4, 3, 8)), group="beyond"),
    Entry(
        "HistGradientBoosting",
        lambda shape: HistGradientBoostingClassifier(early_stopping=True, random_state=0),
        group="beyond",
    ),
    Entry(
        "EBM",
        _ebm,
        small={"outer_bags": [4], "max_rounds": [2000], "interactions": [5]},
        group="beyond",
        package="interpret",
    ),
    Entry(
        "random inner weights",
        lambda shape: RandomInnerClassifier(),
        paper={"phi": PHI, "max_iter": ITERATIONS},
        small=SMALL,
        authors=AUTHORS,
        group="ablation",
        rounding=True,
    ),
    Entry(
        "random outer weights",
        lambda shape: RandomOuterClassifier(),
        paper={"phi": PHI, "max_iter": ITERATIONS},
        small=SMALL,
        authors=AUTHORS,
        group="ablation",
    ),
)
REGISTRY = {entry.name: entry for entry in ENTRIES}


def find(name: str) -> Entry:
    """Return an entry by name, whatever the case."""
    for entry in ENTRIES:
        if entry.name.casefold() == name.casefold():
            return entry
    raise ValueError(f"There is no classifier {name!r}: use one of {', '.join(REGISTRY)}.")
