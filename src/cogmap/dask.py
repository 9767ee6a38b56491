"""Fit to Dask collections: every pass is a task for each partition, and a tree that joins what they return.

Tasks are pure functions of a partition, so a worker that dies costs time and changes no bit. The fitted classifier is
an ordinary one; `to_local` returns it. How the passes run is in `intake.dask`.
"""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from .estimators.base import NetworkClassifier
from .estimators.classifier import LTCNClassifier
from .estimators.fitting import check_network, fit_supply
from .intake.checks import module
from .intake.dask import DaskSupply

__all__ = ["DaskLTCNClassifier"]


class DaskLTCNClassifier(BaseEstimator):
    """An `LTCNClassifier`, or an `LTCNClassifierCV`, that is fitted to Dask arrays or dataframes.

    Parameters
    ----------
    classifier : LTCNClassifier or LTCNClassifierCV, default=None
        The parameters; by default ``LTCNClassifier()``.
    client : dask.distributed.Client, default=None
        Where to compute; by default the scheduler that Dask would take.

    Attributes
    ----------
    local_ : LTCNClassifier or LTCNClassifierCV
        The fitted classifier.
    classes_, n_features_in_, n_iter_, …
        All that `local_` has.

    Examples
    --------
    >>> import dask.array as da  # doctest: +SKIP
    >>> from cogmap.dask import DaskLTCNClassifier  # doctest: +SKIP
    >>> X = da.random.default_rng(0).normal(size=(300, 3), chunks=(100, 3))  # doctest: +SKIP
    >>> clf = DaskLTCNClassifier().fit(X, (X[:, 0] > 0).astype(int))  # doctest: +SKIP
    >>> clf.predict(X).compute().shape  # doctest: +SKIP
    (300,)
    >>> clf.to_local().classes_.tolist()  # doctest: +SKIP
    [0, 1]
    """

    def __init__(self, classifier: NetworkClassifier | None = None, client: Any = None) -> None:
        self.classifier = classifier
        self.client = client

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to rows.

        Parameters
        ----------
        X : dask array or dataframe of shape (n_samples, n_features)
            Numbers, without missing values.
        y : dask array or series of shape (n_samples,)
            Class labels, with the partitions of X.
        sample_weight : dask array or series of shape (n_samples,), default=None
            How often each row counts.

        Returns
        -------
        DaskLTCNClassifier
            This estimator.
        """
        chosen = LTCNClassifier() if self.classifier is None else clone(self.classifier)
        check_network(chosen, "DaskLTCNClassifier fits")
        self.local_ = fit_supply(chosen, DaskSupply.of(X, y, sample_weight, self.client))
        return self

    def predict(self, X: Any) -> Any:
        """Return the class of each row, lazily, as an array or series."""
        return self._mapped(X, "predict", self.to_local().classes_.dtype, None)

    def predict_proba(self, X: Any) -> Any:
        """Return class probabilities, lazily, as an array or a dataframe with a column for each class."""
        return self._mapped(X, "predict_proba", np.dtype(float), self.to_local().classes_)

    def decision_function(self, X: Any) -> Any:
        """Return the scores of `LTCNClassifier.decision_function`, lazily."""
        classes = self.to_local().classes_
        return self._mapped(X, "decision_function", np.dtype(float), classes if len(classes) > 2 else None)

    def to_local(self) -> NetworkClassifier:
        """Return the fitted classifier, which knows nothing of Dask."""
        check_is_fitted(self)
        return self.local_

    def __getattr__(self, name: str) -> Any:
        """Return a fitted attribute of the local classifier."""
        if name.endswith("_") and not name.endswith("__") and "local_" in self.__dict__:
            return getattr(self.local_, name)
        raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}.")

    def _mapped(self, X: Any, method: str, dtype: np.dtype[Any], classes: Any) -> Any:
        """Apply a method of the local classifier to every partition; `classes` are columns of the result, or None."""
        local = self.to_local()
        if hasattr(X, "columns"):
            pandas = module("pandas", "dask")
            meta = pandas.Series([], dtype=dtype) if classes is None else pandas.DataFrame(columns=classes, dtype=dtype)
            return X.map_partitions(_frame, local, method, classes, meta=meta)
        rows = X.rechunk({1: -1})
        if classes is None:
            return rows.map_blocks(_array, local, method, drop_axis=1, dtype=dtype)
        return rows.map_blocks(_array, local, method, chunks=(rows.chunks[0], (len(classes),)), dtype=dtype)


def _array(X: Any, local: NetworkClassifier, method: str) -> Any:
    return getattr(local, method)(X)


def _frame(X: Any, local: NetworkClassifier, method: str, classes: Any) -> Any:
    pandas = module("pandas", "dask")
    if len(X) == 0:
        empty = np.empty((0,) if classes is None else (0, len(classes)))
        values = empty.astype(local.classes_.dtype) if method == "predict" else empty
    else:
        values = getattr(local, method)(X)
    if classes is None:
        return pandas.Series(values, index=X.index)
    return pandas.DataFrame(values, index=X.index, columns=classes)
