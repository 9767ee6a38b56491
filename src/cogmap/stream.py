"""Fit to rows that need not be in memory: any re-iterable source of blocks, or Parquet, Arrow and CSV files.

The rows are passed over a fixed number of times (`core.fit.fit`), and what is held in memory does not depend on
their number: what later passes need of each row goes to a temporary file (`intake.spill`). The result is an ordinary
fitted classifier: bit for bit the one that `fit` returns for the same rows in the same order, in whatever blocks they
came, if their weights are whole numbers.

Easy to get wrong: a generator can be passed over once only. Give a list, a function that starts anew, or a path.
"""

import os
from collections.abc import Callable, Iterable
from typing import Any, Literal

from sklearn.base import clone

from .estimators.base import NetworkClassifier
from .estimators.classifier import LTCNClassifier
from .estimators.fitting import check_network, fit_supply
from .intake.progress import Meter, Progress, reporter
from .intake.stream import StreamSupply, scratch_space, starter
from .tables.files import table_blocks

__all__ = ["fit"]

Readable = str | os.PathLike[str] | Iterable[tuple[Any, ...]] | Callable[[], Iterable[tuple[Any, ...]]]


def fit(
    source: Readable,
    classifier: NetworkClassifier | None = None,
    *,
    target: str | None = None,
    weight: str | None = None,
    block_rows: int = 65536,
    progress: Callable[[Progress], None] | bool | None = None,
    scratch: str | os.PathLike[str] | Literal[False] | None = None,
) -> NetworkClassifier:
    """Fit a classifier to blocks of rows in several passes.

    Parameters
    ----------
    source : path, pyarrow dataset, re-iterable or callable
        A Parquet file, Arrow file, CSV file or a folder of them; or anything that can be iterated over several times
        (or a function that returns an iterator) and yields ``(X, y)`` or ``(X, y, sample_weight)``, always the same.
    classifier : LTCNClassifier or LTCNClassifierCV, default=None
        The parameters; it is cloned. By default ``LTCNClassifier()``.
    target : str, default=None
        Column of the classes; for files only. All other columns are features.
    weight : str, default=None
        Column of the weights; for files only.
    block_rows : int, default=65536
        Rows to read at a time from files.
    progress : callable, bool or None, default=None
        Called with a `Progress` about once a second; True writes to stderr, None does so if that is a terminal.
    scratch : path, False or None, default=None
        Folder for temporary files, which hold what later passes need of each row: about 8 bytes for each feature and
        again for each concept of each network that is fitted. By default ``TMPDIR``, or else /var/tmp where there is
        one. False, or too little free space, computes all of it anew in each pass, with the same result.

    Returns
    -------
    LTCNClassifier or LTCNClassifierCV
        A new, fitted classifier.

    Examples
    --------
    >>> import numpy as np
    >>> from cogmap import stream
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 3))
    >>> blocks = [(part, (part[:, 0] > 0) * 1) for part in np.array_split(X, 5)]
    >>> stream.fit(blocks).score(X, X[:, 0] > 0) > 0.95
    True
    """
    chosen = LTCNClassifier() if classifier is None else clone(classifier)
    check_network(chosen, "stream.fit fits")
    if isinstance(source, (str, os.PathLike)) or hasattr(source, "to_batches"):
        source = table_blocks(source, target, weight, block_rows)
    with scratch_space(scratch) as keep:
        return fit_supply(chosen, StreamSupply.of(starter(source), Meter(reporter(progress)), keep))
