"""Fit to Dask collections: every pass is a task for each partition, and a tree that joins what they return.

Tasks are pure functions of a partition, so a worker that dies costs time and changes no bit. The fitted classifier is
an ordinary one; `to_local` returns it.

Easy to get wrong: the bits of a matrix product depend on the number of BLAS threads. Dask gives its worker processes
one each; a fit in this process has the same bits if it has one too.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Self, TypeVar

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from .core.sums.rows import Rows
from .core.sums.sources import KEPT_BYTES, cut
from .core.sums.statistics import Census, Run, S, Source
from .estimators.classifier import LTCNClassifier
from .intake.blocks import Columns, Encoder, RawBlock, begin, census, fit_at_once, n_blocks
from .intake.checks import module

B = TypeVar("B")
D = TypeVar("D")


class DaskLTCNClassifier(BaseEstimator):
    """An `LTCNClassifier` that is fitted to Dask arrays or dataframes.

    Parameters
    ----------
    classifier : LTCNClassifier, default=None
        The parameters; by default ``LTCNClassifier()``.
    client : dask.distributed.Client, default=None
        Where to compute; by default the scheduler that Dask would take.

    Attributes
    ----------
    local_ : LTCNClassifier
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

    def __init__(self, classifier: LTCNClassifier | None = None, client: Any = None) -> None:
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
        chosen = LTCNClassifier() if self.classifier is None else self.classifier
        if not isinstance(chosen, LTCNClassifier):
            raise TypeError(f"DaskLTCNClassifier fits an LTCNClassifier, not {type(chosen).__name__}.")
        fitted = clone(chosen)
        columns = _columns(X)
        delayed = module("dask", "dask").delayed
        parts = [delayed(_checked)(columns, *part) for part in _partitions(X, y, sample_weight)]
        counts = _computed(self.client, [delayed(_counted)(part) for part in parts])
        starts = np.cumsum([0, *(n_blocks(n) for n, _ in counts)])[:-1].tolist()
        counted = Run.from_parts(found for _, found in counts if found is not None).total
        encoder, known = begin(fitted, columns, counted)
        found = fit_at_once(fitted, encoder, counted, known, lambda: _computed(self.client, parts))
        if found is not None:
            self.local_ = found
            return self
        send = delayed(encoder)
        blocks = [delayed(_encoded)(send, part) for part in parts]
        source: Source[Rows] = DaskBlocks(blocks, starts, counted.n_rows, self.client)
        self.local_ = fitted._fit_source(source, known, None)
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

    def to_local(self) -> LTCNClassifier:
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


def _array(X: Any, local: LTCNClassifier, method: str) -> Any:
    return getattr(local, method)(X)


def _frame(X: Any, local: LTCNClassifier, method: str, classes: Any) -> Any:
    pandas = module("pandas", "dask")
    if len(X) == 0:
        empty = np.empty((0,) if classes is None else (0, len(classes)))
        found = empty.astype(local.classes_.dtype) if method == "predict" else empty
    else:
        found = getattr(local, method)(X)
    if classes is None:
        return pandas.Series(found, index=X.index)
    return pandas.DataFrame(found, index=X.index, columns=classes)


def _computed(client: Any, what: Any) -> Any:
    if client is not None:
        return client.compute(what, sync=True)
    return module("dask", "dask").compute(what)[0]


def _columns(X: Any) -> Columns:
    if hasattr(X, "columns"):
        return Columns(len(X.columns), tuple(map(str, X.columns)))
    if getattr(X, "ndim", 0) != 2 or not hasattr(X, "to_delayed"):
        raise TypeError(f"X must be a dask array with rows and columns or a dask dataframe, not {type(X).__name__}.")
    return Columns(int(X.shape[1]), None)


def _partitions(X: Any, y: Any, sample_weight: Any) -> list[tuple[Any, ...]]:
    """Return the partitions of rows, classes and weights as delayed objects, side by side."""
    given = [X if hasattr(X, "columns") else X.rechunk({1: -1}), y]
    given += [] if sample_weight is None else [sample_weight]
    parts = [np.ravel(np.array(part.to_delayed(), dtype=object)).tolist() for part in given]
    if len({len(part) for part in parts}) > 1:
        raise ValueError(
            f"X has {len(parts[0])} partitions and y or sample_weight {[len(part) for part in parts[1:]]}: "
            "give them the same partitions."
        )
    return list(zip(*parts, strict=True))


def _checked(columns: Columns, X: Any, y: Any, weight: Any = None) -> RawBlock:
    return columns.check(X, y, weight)


def _counted(block: RawBlock) -> tuple[int, Census | None]:
    return len(block.X), census(block) if len(block.X) else None


def _encoded(encoder: Encoder, block: RawBlock) -> list[Rows]:
    return list(cut([encoder(block)]))


@dataclass(frozen=True)
class DaskBlocks(Source[B], Generic[B]):
    """Lists of blocks, one for each partition, as delayed objects; the index of each list's first block."""

    parts: Sequence[Any]
    starts: Sequence[int]
    n_rows: int
    client: Any

    def reduce(self, from_block: Callable[[B], S]) -> S:
        """Return the statistic of all blocks, joined along a tree of partitions."""
        delayed = module("dask", "dask").delayed
        # What earlier passes found goes to each worker once, not with every task.
        function = delayed(_Constant(from_block), pure=False)
        runs = [delayed(_run)(function, part, start) for part, start in zip(self.parts, self.starts, strict=True)]
        while len(runs) > 1:
            pairs = [runs[i : i + 2] for i in range(0, len(runs), 2)]
            runs = [delayed(_joined)(*pair) if len(pair) == 2 else pair[0] for pair in pairs]
        found: Run[S] = _computed(self.client, runs[0])
        return found.total

    def map(self, function: Callable[[B], D], width: int) -> "Source[D]":
        """Return the function of every block, kept on the workers where it is small."""
        dask = module("dask", "dask")
        send = dask.delayed(_Constant(function), pure=False)
        parts = [dask.delayed(_mapped)(send, part) for part in self.parts]
        if self.n_rows * width * 8 <= KEPT_BYTES:
            parts = list(dask.persist(*parts) if self.client is None else self.client.persist(parts))
        return DaskBlocks(parts, self.starts, self.n_rows, self.client)


@dataclass(frozen=True)
class _Constant(Generic[D]):
    """A function as a value: Dask would call a bare one, or look into it."""

    value: Callable[..., D]


def _run(function: _Constant[S], blocks: list[Any], start: int) -> Run[S]:
    return Run.from_parts(map(function.value, blocks), start)


def _joined(one: Run[S], other: Run[S]) -> Run[S]:
    return one.merge(other)


def _mapped(function: _Constant[D], blocks: list[Any]) -> list[D]:
    return [function.value(block) for block in blocks]
