"""Fitted estimators from files: `cogmap.load`.

`files.model` reads a file as plain values and checks all that it can without the estimators' classes; here they become
an estimator again, which judges its parameters itself.
"""

import os
from typing import Any

from ..errors import ModelFileError
from ..files.model import Content, read, refusals
from .base import NetworkClassifier
from .classifier import LTCNClassifier
from .tabular import TabularClassifier
from .tuned import LTCNClassifierCV

CLASSES: dict[str, Any] = {
    "LTCNClassifier": LTCNClassifier,
    "LTCNClassifierCV": LTCNClassifierCV,
    "TabularClassifier": TabularClassifier,
}
"""The classes of the estimators that a file may hold."""


def load(path: str | os.PathLike[str]) -> Any:
    """Return the fitted estimator that a file holds; nothing in the file is executed.

    Parameters
    ----------
    path : path-like
        Name of a file that `save` wrote.

    Returns
    -------
    LTCNClassifier, LTCNClassifierCV or TabularClassifier
        The estimator; it predicts to the last bit as it did when it was saved, on a machine of the same kind.

    Raises
    ------
    ModelFileError
        If the file is damaged, from a newer version, or no model file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.datasets import load_iris
    >>> import cogmap
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = cogmap.LTCNClassifier().fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     again = cogmap.load(clf.save(Path(folder) / "iris.cogmap"))
    >>> bool((again.decision_function(X) == clf.decision_function(X)).all())
    True
    """
    content = read(path)
    with refusals(path):
        return restored(content)


def restored(content: Content) -> Any:
    """Return the estimator of a file's content; a parameter that the file lacks has its default."""
    make = CLASSES[content.name]
    if wrong := sorted(set(content.parameters) - set(make().get_params(deep=False))):
        raise ModelFileError(f"{content.path}.parameters has the unknown key {wrong[0][:80]!r}.")
    estimator = make(**_estimators(content.parameters))
    for name, value in _estimators(content.attributes).items():
        setattr(estimator, name, value)
    if isinstance(estimator, NetworkClassifier) and content.attributes:
        estimator.check_stored()
    return estimator


def _estimators(values: dict[str, Any]) -> dict[str, Any]:
    """Return values with estimators in the place of their contents."""
    return {name: restored(value) if isinstance(value, Content) else value for name, value in values.items()}
