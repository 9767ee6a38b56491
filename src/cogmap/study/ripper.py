"""RIPPER: Weka's JRip as a scikit-learn classifier.

Weka learns the rules; they are then read out of it, so that prediction, pickling and reading need no Java. A row gets
the class distribution of the first rule that covers it; the last rule covers all.

Easy to get wrong: a process can start one Java machine only, and never a second one after it has ended. It is started
at the first fit and lives as long as the process; parallel work needs processes, not threads.
"""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core.types import Array
from .validated import ValidatedClassifier


@dataclass(frozen=True)
class Rule:
    """Conditions (feature, whether at least or at most, bound), and the training rows' class shares under the rule."""

    conditions: tuple[tuple[int, bool, float], ...]
    shares: tuple[float, ...]

    def covers(self, X: Array) -> NDArray[np.bool_]:
        """Say for each row whether it meets every condition."""
        covered = np.ones(len(X), dtype=bool)
        for feature, at_least, bound in self.conditions:
            covered &= X[:, feature] >= bound if at_least else X[:, feature] <= bound
        return covered

    def __str__(self) -> str:
        text = " and ".join(f"x{j} {'>=' if at_least else '<='} {bound:g}" for j, at_least, bound in self.conditions)
        return f"{text or 'otherwise'} => class {int(np.argmax(self.shares))}"


class RipperClassifier(ValidatedClassifier):
    """RIPPER rule list, learned by Weka's JRip.

    Parameters
    ----------
    folds : int, default=3
        One of so many folds is used for pruning (JRip's -F).
    min_weight : float, default=2.0
        Smallest weight of rows that a split must keep (-N).
    optimizations : int, default=2
        Optimisation runs (-O).
    seed : int, default=1
        Seed of Weka's random numbers (-S).

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Class labels.
    rules_ : list of Rule
        The rules, in order; the first that covers a row decides.
    """

    def __init__(self, folds: int = 3, min_weight: float = 2.0, optimizations: int = 2, seed: int = 1) -> None:
        self.folds = folds
        self.min_weight = min_weight
        self.optimizations = optimizations
        self.seed = seed

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn the rules; X of shape (n_samples, n_features)."""
        rows, codes = self._training(X, y)
        self.rules_ = learned_rules(trained_jrip(instances(rows, codes, len(self.classes_)), self._options()))
        return self

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the class of each row."""
        winner = self.predict_proba(X).argmax(axis=1)
        labels: NDArray[Any] = self.classes_[winner]
        return labels

    def predict_proba(self, X: ArrayLike) -> Array:
        """Return the class shares of the first rule that covers each row; shape (n_samples, n_classes)."""
        rows = self._rows(X)
        covers = np.array([rule.covers(rows) for rule in self.rules_])
        shares: Array = np.array([rule.shares for rule in self.rules_])[covers.argmax(axis=0)]
        return shares

    def _options(self) -> list[str]:
        return [
            *("-F", str(self.folds)),
            *("-N", str(self.min_weight)),
            *("-O", str(self.optimizations)),
            *("-S", str(self.seed)),
        ]


def java_missing() -> str | None:
    """Say what keeps JRip from running here, or nothing."""
    from importlib.util import find_spec

    if find_spec("weka") is None:
        return 'the package python-weka-wrapper3 is not installed: pip install "cogmap[study]"'
    if shutil.which("java") is None:
        return "there is no Java (11 or later) on the path"
    return None


def _java() -> Any:
    """Return jpype with the Java machine running and Weka on its class path."""
    if missing := java_missing():
        raise ImportError(f"RIPPER cannot run: {missing}.")
    import jpype
    import weka

    if not jpype.isJVMStarted():
        jars = sorted(str(jar) for folder in weka.__path__ for jar in Path(folder, "lib").glob("*.jar"))
        options = [
            # Weka looks for native libraries that it does not need, and would say so at length.
            f"-Djava.util.logging.config.file={os.devnull}",
            "-Dweka.packageManager.loadPackages=false",
            "-Djava.awt.headless=true",
            "-XX:+UseSerialGC",
            # Signals are Python's: a Java machine that ends at SIGTERM takes the process down with a crash report.
            "-Xrs",
        ]
        jpype.startJVM(*options, classpath=jars, convertStrings=True)
    return jpype


def instances(X: Array, codes: NDArray[np.intp], n_classes: int) -> Any:
    """Return Weka's Instances of rows and class codes, the class last."""
    jpype = _java()
    names, attributes = jpype.JClass("java.util.ArrayList")(), jpype.JClass("java.util.ArrayList")()
    for k in range(n_classes):
        names.add(str(k))
    attribute = jpype.JClass("weka.core.Attribute")
    for j in range(X.shape[1]):
        attributes.add(attribute(f"x{j}"))
    attributes.add(attribute("class", names))
    table = jpype.JClass("weka.core.Instances")("rows", attributes, len(X))
    table.setClassIndex(X.shape[1])
    dense, numbers = jpype.JClass("weka.core.DenseInstance"), jpype.JArray(jpype.JDouble)
    for row in np.column_stack([X, codes]):
        table.add(dense(1.0, numbers(row)))
    return table


def trained_jrip(table: Any, options: list[str]) -> Any:
    """Return Weka's JRip, trained."""
    jrip = _java().JClass("weka.classifiers.rules.JRip")()
    jrip.setOptions(options)
    jrip.buildClassifier(table)
    return jrip


def learned_rules(jrip: Any) -> list[Rule]:
    """Read the rules out of a trained JRip.

    Its classes are reordered inside by frequency, so the distributions are taken, which it keeps in the given order.
    """
    field = jrip.getClass().getDeclaredField("m_Distributions")
    field.setAccessible(True)
    return [
        Rule(
            tuple(
                (int(a.getAttr().index()), int(a.getAttrValue()) == 1, float(a.getSplitPoint()))
                for a in rule.getAntds()
            ),
            tuple(float(share) for share in shares),
        )
        for rule, shares in zip(jrip.getRuleset(), field.get(jrip), strict=True)
    ]
