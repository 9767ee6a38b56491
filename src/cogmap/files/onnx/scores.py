"""The decoded scores of a classifier as parts of an ONNX graph, and their exact split into contributions.

Members of a stack and the decision are linear in the members' columns, so each member's coefficients are multiplied by
its weight and by the decision once, here: score = base + Σ columns · (coefficients · decode) + cases.

Easy to get wrong: rounding can tie two probabilities whose scores differ. The larger score's is then raised in its last
digit, as `predict_proba` does, so that the largest agrees. The label is another matter: a metric may shift it.
"""

from typing import cast

import numpy as np

from ...core.fit.fitted import Fitted
from ...core.fit.model import Model
from ...core.readout.terms import Terms
from ...core.sums.space import NUMPY, Space
from ...core.types import Array
from .concepts import initial_states
from .graph import Tensor, hstack, total
from .space import GraphSpace

GRAPH = cast(Space, GraphSpace())


class Split:
    """The decoded scores of rows as a sum.

    Attributes
    ----------
    base : array of shape (N,)
        The same for all rows.
    members : list of (block, terms, values, coefficients)
        What is read of the states: the network's place among the blocks, its terms, what rows have in them (None where
        there are none), and what that is multiplied by.
    cases : list of Tensors of shape (n, N)
        What resemblance to remembered rows adds; empty without cases.
    """

    def __init__(self, fitted: Fitted, rows: Tensor) -> None:
        self.rows = rows
        self.networks = [model.network for model in fitted.networks]
        self.shape = fitted.outer_weights.shape
        self.members: list[tuple[int, Terms, Tensor | None, Array]] = []
        self.cases: list[Tensor] = []
        raw = fitted.constant
        for model, weight in fitted.members:
            read = _terms(model, rows)
            zero, one = model.scale
            raw = raw + weight * (read.base - zero) / (one - zero)
            decode = weight / (one - zero) * fitted.decision.projection
            block = next(i for i, network in enumerate(self.networks) if network is model.network)
            self.members.append((block, read, read.values(GRAPH), read.coefficients @ decode))
            if read.cases is not None:
                self.cases.append(read.cases @ decode)
        self.base = fitted.decision(raw)

    def scores(self) -> Tensor:
        """Return the score of each class, shape (n, N)."""
        parts = [values @ coefficients for _, _, values, coefficients in self.members if values is not None]
        parts += self.cases
        return total(parts) + self.base if parts else self.rows.repeated(self.base)

    def contributions(self) -> Tensor:
        """Return what each state of each concept adds to each score, shape (n, T + 1, M, N)."""
        return hstack([self._block(i, len(network.bias)) for i, network in enumerate(self.networks)], axis=2)

    def _block(self, index: int, n_concepts: int) -> Tensor:
        n_states, _, n_classes = self.shape
        parts = []
        for block, read, values, coefficients in self.members:
            if block == index and values is not None and read.partner is not None:
                # Many columns of a concept: a product sums them, half of each for either of its concepts.
                owners = (np.eye(n_concepts)[read.concept] + np.eye(n_concepts)[read.partner]) / 2
                cells = np.eye(n_states)[read.iteration][:, :, None, None] * owners[:, None, :, None]
                matrix = (cells * coefficients[:, None, None, :]).reshape(len(coefficients), -1)
                shape = np.array([-1, n_states, n_concepts, n_classes])
                parts.append((values @ matrix).apply("Reshape", shape))
            elif block == index and values is not None:
                # A cell without a column of its own takes the first one, with coefficient 0.
                column = np.zeros((n_states, n_concepts), dtype=np.intp)
                factor = np.zeros((n_states, n_concepts, n_classes))
                column[read.iteration, read.concept] = np.arange(len(coefficients))
                factor[read.iteration, read.concept] = coefficients
                parts.append(values.columns(column).apply("Unsqueeze", np.array([3])) * factor)
        return total(parts) if parts else self.rows.repeated(np.zeros((n_states, n_concepts, n_classes)))


def _terms(model: Model, rows: Tensor) -> Terms:
    """Return the raw scores of rows as sums, recorded; without concepts the base is all."""
    if model.concepts.varies.any():
        return model.readout.terms(GRAPH, model.network, initial_states(model.concepts, rows))
    return model.readout.terms(NUMPY, model.network, np.zeros((1, 0)))


def probabilities(scores: Tensor, winner: Tensor) -> Tensor:
    """Return the softmax, its largest value being that of `winner`, the largest score; shape (n, N)."""
    probability = scores.apply("Softmax", axis=1)
    first = probability.apply("ArgMax", axis=1, keepdims=1)
    above = probability.apply("GatherElements", first, axis=1) * (1 + np.finfo(np.float64).eps)
    raised = probability.apply("ScatterElements", winner, above, axis=1)
    return first.apply("Equal", winner).where(probability, raised)
