"""GAM: pygam's logistic additive model as a scikit-learn classifier of two classes.

Easy to get wrong: pygam takes targets 0 and 1 only, its ``fit_splines=False`` alone raises, and a spline of a column
with one or two values is not determined. Terms are therefore written out, one for each feature: a spline, or a line.
"""

import io
from contextlib import redirect_stdout
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core.types import Array
from .validated import ValidatedClassifier


class GAMClassifier(ValidatedClassifier):
    """Logistic generalised additive model (pygam).

    Parameters
    ----------
    n_splines : int, default=10
        Splines of each feature.
    fit_splines : bool, default=True
        Splines; otherwise a line for each feature.

    Attributes
    ----------
    classes_ : array of shape (2,)
        Class labels.
    gam_ : pygam.LogisticGAM
        The model of the features that vary.
    """

    two_classes_only = True

    def __init__(self, n_splines: int = 10, fit_splines: bool = True) -> None:
        self.n_splines = n_splines
        self.fit_splines = fit_splines

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Fit by penalised iteratively reweighted least squares; X of shape (n_samples, n_features)."""
        try:
            from pygam import LogisticGAM
        except ImportError as error:
            raise ImportError('GAM needs pygam: pip install "cogmap[study]".') from error
        rows, codes = self._training(X, y)
        self._varies = np.ptp(rows, axis=0) > 0
        if not self._varies.any():
            raise ValueError("All columns of X are constant: a GAM needs one that varies.")
        kept = rows[:, self._varies]
        # pygam prints that it did not converge.
        with redirect_stdout(io.StringIO()):
            self.gam_ = LogisticGAM(self._terms(kept), verbose=False).fit(kept, codes)
        return self

    def _terms(self, X: Array) -> Any:
        from pygam import l, s
        from pygam.terms import TermList

        many = [self.fit_splines and len(np.unique(column)) > 2 for column in X.T]
        return TermList(*(s(j, n_splines=self.n_splines) if spline else l(j) for j, spline in enumerate(many)))

    def predict_proba(self, X: ArrayLike) -> Array:
        """Return class probabilities; shape (n_samples, 2)."""
        positive = np.asarray(self.gam_.predict_mu(self._rows(X)[:, self._varies]))
        return np.column_stack([1 - positive, positive])

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the class of each row."""
        winner = self.predict_proba(X).argmax(axis=1)
        labels: NDArray[Any] = self.classes_[winner]
        return labels
