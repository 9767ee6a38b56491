"""Relevance of a concept, read from the weights (the paper's equation 9)."""

import numpy as np

from .activation import Array


def paper_relevance(inner_weights: Array, outer_weights: Array) -> Array:
    """Return Ω(i) = Σ_j |w_ij| + Σ_j Σ_t |r_ij^t|: outgoing weights only, biases left out; shape (M,)."""
    relevance: Array = np.abs(inner_weights).sum(axis=1) + np.abs(outer_weights).sum(axis=(0, 2))
    return relevance
