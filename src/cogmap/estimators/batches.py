"""`LTCNClassifier.partial_fit`: the first batch fixes the network, every batch moves the readout."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight

from ..core.fit.batches import Recursion
from ..core.fit.model import fit_network
from ..core.sums.rows import Rows, merge_copies, weighted_rows
from ..core.types import Array
from ..errors import RestartWarning
from ..intake.arrays import check_same_space, on_host
from ..intake.blocks import Encoder
from ..intake.checks import check_weights, checked_rows
from ..intake.labels import checked_labels
from ..intake.memory import check_memory
from ..knowledge.edges import check_terms, irrelevant_features
from .classifier import LTCNClassifier


def add_batch(
    classifier: LTCNClassifier, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None, sample_weight: ArrayLike | None
) -> LTCNClassifier:
    """Add a batch to what a classifier has seen; see `LTCNClassifier.partial_fit`."""
    check_same_space(X, y=y, sample_weight=sample_weight)
    X, y, classes, sample_weight = map(on_host, (X, y, classes, sample_weight))
    known = classifier._recursion
    if known is None and hasattr(classifier, "classes_"):
        warnings.warn(
            "This classifier was fitted by fit, or loaded from a file, which keep no sums to add rows to: partial_fit "
            "forgets it and begins anew with these rows. To add to what is known, use partial_fit from the start.",
            RestartWarning,
            stacklevel=3,
        )
    if classifier.class_weight == "balanced":
        raise ValueError("class_weight='balanced' needs all rows at once: give partial_fit a dict of class weights.")
    rows = classifier._without_irrelevant(checked_rows(classifier, X, reset=known is None))
    labels = checked_labels(y)
    check_classification_targets(labels)
    weight = _check_sample_weight(sample_weight, rows, dtype=np.float64, ensure_non_negative=True)
    check_weights(weight)
    if len(labels) != len(rows):
        raise ValueError(f"X has {len(rows)} rows and y has {len(labels)}: give one class for each row.")
    encoder = _encoder(classifier, labels if classes is None else checked_labels(classes), known)
    codes = encoder.codes(labels)
    batch = _merged(rows[weight > 0], codes[weight > 0], weight[weight > 0], encoder.share)
    classifier._recursion = _begun(classifier, batch) if known is None else known.and_then(batch)
    classifier.class_count_ = classifier._recursion.mass / encoder.share
    _publish(classifier)
    return classifier


def _encoder(classifier: LTCNClassifier, classes: NDArray[Any], known: Recursion | None) -> Encoder:
    """Return the encoder of the first batch's classes, or of those that are fixed already."""
    found = np.unique(classes) if known is None else classifier.classes_
    share = classifier._class_shares(found, np.ones(len(found)))
    return Encoder(found, share, irrelevant_features(classifier.knowledge_, classifier._feature_names()))


def _merged(X: Array, codes: NDArray[np.intp], weight: Array, share: Array) -> Rows:
    return weighted_rows(*merge_copies(X, codes, weight), share)


def _begun(classifier: LTCNClassifier, rows: Rows) -> Recursion:
    if len(rows.X) < 2:
        raise ValueError(f"The first batch has {len(rows.X)} different rows: the network needs at least 2.")
    classifier._check_range(rows.X.min(axis=0), rows.X.max(axis=0))
    classifier._warn_of_constants(rows.X.max(axis=0) > rows.X.min(axis=0))
    check_memory(
        len(rows.X), int((rows.X.max(axis=0) > rows.X.min(axis=0)).sum()), classifier.terms, len(classifier.classes_)
    )
    concepts, network, _ = fit_network(rows, classifier._settings())
    check_terms(classifier.knowledge_, classifier._feature_names(), [concepts])
    if not concepts.varies.any():
        raise ValueError("All features are constant in the first batch: give one in which something varies.")
    return Recursion.begun(concepts, network, rows, classifier.max_iter, classifier.tol)


def _publish(classifier: LTCNClassifier) -> None:
    known = classifier._recursion
    assert known is not None
    model, solved, decision = known.solved(float(classifier.alpha), classifier._metric())
    classifier._keep(model, solved, decision, known.summary())
