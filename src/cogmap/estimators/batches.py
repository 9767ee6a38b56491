"""Rows that come a batch at a time (`LTCNClassifier.partial_fit`): the first batch fixes the network.

Easy to get wrong: the classes of the first batch are fixed with it, those of its rows of weight 0 too.
"""

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core.fit.batches import Recursion
from ..core.fit.network import draft
from ..core.sums.rows import Rows
from ..core.sums.sources import at_once
from ..core.sums.statistics import Range
from ..errors import RestartWarning
from ..intake.arrays import on_host
from ..intake.blocks import Features, checked_block
from ..intake.checks import check_span
from ..intake.encoding import Encoder, class_shares, warn_of_constants
from ..intake.labels import checked_labels
from ..intake.memory import check_memory
from ..intake.supply import features_of
from ..knowledge.edges import check_terms, checked_knowledge, irrelevant_features


def add_batch(
    classifier: Any,
    known: Recursion | None,
    X: ArrayLike,
    y: ArrayLike,
    classes: ArrayLike | None,
    sample_weight: ArrayLike | None,
) -> Recursion:
    """Add a batch to what a classifier knows of all rows before it, and set what it knows of its classes."""
    if known is None and hasattr(classifier, "classes_"):
        warnings.warn(
            "This classifier was fitted by fit, or loaded from a file, which keep no sums to add rows to: partial_fit "
            "forgets it and begins anew with these rows. To add to what is known, use partial_fit from the start.",
            RestartWarning,
            stacklevel=3,
        )
    if classifier.class_weight == "balanced":
        raise ValueError("class_weight='balanced' needs all rows at once: give partial_fit a dict of class weights.")
    block = checked_block(classifier, X, y, sample_weight, reset=known is None)
    features = features_of(classifier)
    classifier.knowledge_ = checked_knowledge(classifier.knowledge, features.listed)
    given = block.labels if classes is None else checked_labels(on_host(classes))
    encoder = _encoder(classifier, features, np.unique(given) if known is None else classifier.classes_)
    classifier.classes_ = encoder.classes
    batch = encoder.merged(block.positive)
    grown = _begun(classifier, features, batch) if known is None else known.and_then(batch)
    classifier.class_count_ = grown.mass / encoder.share
    return grown


def _encoder(classifier: Any, features: Features, classes: NDArray[Any]) -> Encoder:
    """Return the encoder of all classes that will come."""
    share = class_shares(classifier.class_weight, classes, np.ones(len(classes)))
    return Encoder(classes, share, irrelevant_features(classifier.knowledge_, features.listed))


def _begun(classifier: Any, features: Features, rows: Rows) -> Recursion:
    if len(rows.X) < 2:
        raise ValueError(f"The first batch has {len(rows.X)} different rows: the network needs at least 2.")
    known = Range(rows.X.min(axis=0), rows.X.max(axis=0), rows.mass)
    check_span(known.low, known.high, features.array)
    (settings,) = classifier.settings(known)
    warn_of_constants(classifier.knowledge_, features.listed, known.varies)
    check_memory(len(rows.X), int(known.varies.sum()), classifier.terms, len(classifier.classes_))
    plan = draft(at_once(rows), known, settings)
    concepts, network = plan.concepts, plan.network
    check_terms(classifier.knowledge_, features.listed, [concepts])
    if not concepts.varies.any():
        raise ValueError("All features are constant in the first batch: give one in which something varies.")
    return Recursion.begun(concepts, network, rows, settings.max_iter, settings.tol)
