"""Members of a stack: what leave-one-out says of each, and the weights that they have together."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import nnls

from ..core.constants import AXES_CONCEPTS, CASE_CONCEPTS
from ..core.decision.decision import Decision, calibrate, class_shares, decide, log_loss, score_labels
from ..core.fit.fit import Groundwork, NetworkFit
from ..core.fit.model import Model
from ..core.readout.states import ReadoutFacts
from ..core.resemblance.distance import Distance
from ..core.sums.rows import JudgeScores
from ..core.types import Array

SCORINGS = ("squared_error", "error", "kappa", "log_loss")

ONE_HOT = np.array([0.0, 1.0])

LEAST_WEIGHT = 0.1
"""Least share of a member of the stack in the sum of all weights."""

MOST_CONCEPTS = {"straight": CASE_CONCEPTS, "axes": AXES_CONCEPTS}
"""Most concepts in which rows are compared by a distance."""


@dataclass(frozen=True)
class Candidate:
    """One configuration, fitted; `loo` is what leave-one-out says of it.

    Remembered rows may add to a groundwork: their scores are those of both, their model is without it.
    """

    params: dict[str, Any]
    network: NetworkFit
    loo: dict[str, float]
    seconds: float
    ground: Groundwork | None = None

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

    def comparable(self, distance: Distance) -> bool:
        """Say whether its concepts are few enough for rows to be compared in them by a distance."""
        return len(self.model.network.bias) <= MOST_CONCEPTS[distance]

    @property
    def complexity(self) -> tuple[bool, bool, int, float]:
        """Larger for less simple models: cases, then pairs, then concepts, then degrees of freedom."""
        return (
            bool(self.params["cases"]),
            "pairs" in self.params,
            len(self.model.network.bias),
            self.solved.degrees_of_freedom,
        )


def together(members: Sequence[Candidate], weights: Array) -> tuple[JudgeScores, Array, Array]:
    """Return the scores of a stack, the covariance of the one-hot with those from inside, and the constant."""
    _, codes, weight = members[0].scores
    constant = (1 - weights.sum()) * class_shares(codes, weight, members[0].scores.raw.shape[1])
    raw = constant + sum(w * member.scores.raw for member, w in zip(members, weights, strict=True) if w)
    between: Array = np.sum([w * member.network.between for member, w in zip(members, weights, strict=True)], axis=0)
    return JudgeScores(raw, codes, weight), between, constant


def groundwork(members: Sequence[Candidate], taken: bool) -> Groundwork | None:
    """Return the stack of some members as one, for others to add to; None where they tell nothing.

    `taken` says whether others are fitted to what it leaves.
    """
    weights = stack_weights(members)
    if not weights.any():
        return None
    scores, between, constant = together(members, weights)
    used = tuple((member.model, float(w)) for member, w in zip(members, weights, strict=True) if w)
    return Groundwork(used, constant, scores, between, taken)


def spelled_out(members: Sequence[Candidate], weights: Array) -> tuple[Array, Array]:
    """Return the weights of the members' own models, and a constant: groundworks are added to their members."""
    own, constant = weights.copy(), np.zeros(members[0].scores.raw.shape[1])
    place = {id(member.model): i for i, member in enumerate(members)}
    for member, weight in zip(members, weights, strict=True):
        if member.ground is not None and weight:
            constant = constant + weight * member.ground.constant
            for model, share in member.ground.members:
                own[place[id(model)]] += weight * share
    return own, constant


def stack_weights(members: Sequence[Candidate]) -> Array:
    """Return non-negative weights of the members, with the least leave-one-out log loss of their sum.

    Log-odds are linear in the scores as the decision of the stack of least squares makes them. Members that would have
    less than `LEAST_WEIGHT` of the sum of all weights are left out: they cost more than they tell, unless others add to
    them. All are 0 where no member tells anything.
    """
    start = least_squares([member.scores for member in members])
    if not start.any():
        return start
    judged, between, _ = together(members, start)
    decision = decide(judged, between, "accuracy", ONE_HOT, corrected=False)
    prior = class_shares(judged.codes, judged.weight, judged.raw.shape[1])
    parts = [(member.scores.raw - prior) @ decision.projection for member in members]
    kept, weights = np.arange(len(members)), np.zeros(len(members))
    while decision.informed:
        tried = [*(parts[i] for i in kept), decision(prior[None])]
        factors = calibrate(tried, judged, np.r_[start[kept], 1.0], len(kept))[:-1]
        rest = [members[i] for i in kept.tolist()]
        added_to = {id(model) for one in rest if one.ground is not None for model, _ in one.ground.members}
        if not factors.any():
            break
        light = factors < LEAST_WEIGHT * factors.sum()
        if light.all():  # they are many: one of them goes at a time
            light = np.arange(len(light)) == factors.argmin()
        enough = ~light | np.array([id(one.model) in added_to for one in rest])
        if enough.all():
            weights[kept] = factors / factors.sum()
            return weights
        kept = kept[enough]
    return start


def least_squares(members: Sequence[JudgeScores]) -> Array:
    """Return non-negative weights of the members, with the least leave-one-out squared error of their sum.

    Scores are taken less the prior. A ridge of 1e-6 of their own mean square decides between members that agree.
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
    R = np.linalg.cholesky(gram + 1e-6 * np.diag(np.where(own > 0, own, own.max()))).T
    weights: Array = nnls(R, np.linalg.solve(R.T, columns @ target))[0]
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
