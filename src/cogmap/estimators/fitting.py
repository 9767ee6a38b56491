"""One way to fit, wherever the rows are: few rows at once, many in passes.

Easy to get wrong: rows that came in blocks and are few are merged and fitted as an array of them is, so that neither
their order nor their blocks change a bit.
"""

from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from ..core.fit.fit import passable
from ..core.sums.rows import MOST_ROWS
from ..core.sums.sources import at_once
from ..core.sums.statistics import Census
from ..core.sums.threads import one_blas_thread
from ..intake.blocks import Features, RawBlock, few
from ..intake.device import supply_of
from ..intake.encoding import Encoder, warn_of_constants
from ..intake.memory import check_memory
from ..intake.supply import Supply
from ..knowledge.edges import checked_knowledge
from .base import NetworkClassifier

C = TypeVar("C", bound=NetworkClassifier)


def check_network(classifier: Any, caller: str) -> None:
    """Raise an error where `caller` was given what is no network, or parameters that are not what they may be."""
    if not isinstance(classifier, NetworkClassifier):
        raise TypeError(f"{caller} an LTCNClassifier or an LTCNClassifierCV, not {type(classifier).__name__}.")
    classifier.check_parameters()


def fit_arrays(estimator: C, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None) -> C:
    """Fit an estimator to arrays, in memory or on a device."""
    estimator.check_parameters()
    return fit_supply(estimator, supply_of(estimator, X, y, sample_weight))


def fit_supply(estimator: C, supply: Supply) -> C:
    """Fit an estimator to rows that are counted already.

    Where no feature varies, the census says all. Where rows are many and passes do not suffice, they must be at hand.
    """
    counted = supply.counted
    encoder = begin(estimator, supply.features, counted)
    known = encoder.range(counted)
    warn_of_constants(estimator.knowledge_, supply.features.listed, known.varies)
    every = estimator.settings(known)
    size = (int(known.varies.sum()), getattr(estimator, "terms", None), len(encoder.classes))
    if not known.varies.any():
        blocks = [RawBlock(np.tile(counted.low, (len(counted.labels), 1)), counted.labels, counted.mass)]
    elif few(counted.n_rows):
        blocks = list(supply.gather())
    elif all(passable(settings, known) for settings in every):
        check_memory(MOST_ROWS, *size)
        with one_blas_thread():
            estimator.fit_source(supply.source(encoder, known, every), known, every)
        return estimator
    elif supply.at_hand:
        blocks = list(supply.gather())
    else:
        raise ValueError(
            f"{counted.n_rows} rows do not fit at once, and blocks of rows need readout='trajectory', cases=False, a "
            "positive alpha or 'loo', and for the latter a weight of six rows or more for each concept."
        )
    rows = encoder.merged(_joined(blocks))
    check_memory(len(rows.X), *size)
    estimator.fit_source(at_once(rows), known, every)
    return estimator


def begin(estimator: NetworkClassifier, features: Features, counted: Census) -> Encoder:
    """Check parameters and census, and set what the estimator knows of its input and classes."""
    estimator.check_parameters()
    estimator.n_features_in_ = features.n_features
    if features.array is not None:
        estimator.feature_names_in_ = features.array
    estimator.knowledge_ = checked_knowledge(estimator.knowledge, features.listed)
    encoder = Encoder.of(features, counted, estimator.class_weight, estimator.knowledge_)
    estimator.classes_, estimator.class_count_ = counted.labels, counted.mass
    return encoder


def _joined(blocks: list[RawBlock]) -> RawBlock:
    parts: list[Any] = [np.concatenate(part) if len(part) > 1 else part[0] for part in zip(*blocks, strict=True)]
    return RawBlock(*parts)
