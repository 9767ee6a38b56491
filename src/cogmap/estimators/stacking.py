"""Members of a stack: what leave-one-out says of each, and the weights that they have together."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import nnls

from ..core.decision.decision import Decision, class_shares, log_loss, score_labels
from ..core.fit.fit import NetworkFit
from ..core.fit.model import Model
from ..core.readout.states import ReadoutFacts
from ..core.sums.rows import JudgeScores
from ..core.types import Array

LEAST_WEIGHT = 0.05
"""Least weight of a member of the stack."""


@dataclass(frozen=True)
class Candidate:
    """One configuration, fitted; `loo` is what leave-one-out says of it."""

    params: dict[str, Any]
    network: NetworkFit
    loo: dict[str, float]
    seconds: float

    @property
    def model(self) -> Model:
        """Its network."""
        return self.network.model

    @property
    def solved(self) -> ReadoutFacts:
        """What is known about its readout."""
        return self.network.solved

    @property
    def scores(self) -> JudgeScores:
        """Leave-one-out scores of the rows that judge, on the scale of the one-hot."""
        return self.network.scores

    @property
    def kind(self) -> str:
        """What it is: rows remembered apart or with a network, curves and surfaces, a network with terms or without."""
        if self.params["cases"]:
            return "joined" if self.params["cases"] == "joined" else "cases"
        return "pairs" if self.params.get("pairs") else "network" if self.params["terms"] is None else "terms"

    @property
    def complexity(self) -> tuple[bool, bool, int, float]:
        """Larger for less simple models: cases, then pairs, then concepts, then degrees of freedom."""
        return (
            bool(self.params["cases"]),
            "pairs" in self.params,
            len(self.model.network.bias),
            self.solved.degrees_of_freedom,
        )


def stack_weights(members: Sequence[JudgeScores]) -> Array:
    """Return non-negative weights of the members, with the least leave-one-out squared error of their sum.

    Scores are taken less the prior. A ridge of 1e-6 of their own mean square decides between members that agree.
    Members that would have less than `LEAST_WEIGHT` are left out: they cost more than they tell.
    """
    _, codes, weight = members[0]
    n_classes = members[0].raw.shape[1]
    prior, root = class_shares(codes, weight, n_classes), np.sqrt(weight)[:, None]
    columns = np.array([((scores.raw - prior) * root).ravel() for scores in members])
    target = ((np.eye(n_classes)[codes] - prior) * root).ravel()
    gram = columns @ columns.T
    if not gram.any():
        return np.zeros(len(gram))
    own = np.diagonal(gram)
    gram = gram + 1e-6 * np.diag(np.where(own > 0, own, own.max()))
    weights, kept, wanted = np.zeros(len(gram)), np.arange(len(gram)), columns @ target
    while True:
        R = np.linalg.cholesky(gram[np.ix_(kept, kept)]).T
        solved = nnls(R, np.linalg.solve(R.T, wanted[kept]))[0]
        if len(kept) == 1 or (solved >= LEAST_WEIGHT).all() or not solved.any():
            break
        kept = kept[solved >= min(LEAST_WEIGHT, solved.max())]
    weights[kept] = solved
    return weights


def loo_scores(scores: JudgeScores, decision: Decision) -> dict[str, float]:
    """Return the leave-one-out value of every scoring, larger being better."""
    raw, codes, weight = scores
    target = np.eye(raw.shape[1])[codes]
    decoded = decision(raw)
    predicted = decision.codes(decoded)
    return {
        "squared_error": -float(weight @ ((target - raw) ** 2).sum(axis=1) / weight.sum()),
        "error": score_labels("accuracy", predicted, codes, weight) - 1,
        "kappa": score_labels("kappa", predicted, codes, weight),
        "log_loss": -log_loss(decoded, codes, weight),
    }
