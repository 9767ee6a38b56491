"""From class scores to log-odds, probabilities and a class.

A least-squares score says how far a row leans towards a class, not how likely the class is: for a rare class it stays
low everywhere. Optimal scoring turns the N scores into discriminant variables, in which the classes have Gaussian
distributions with one common covariance. Decoded scores are

    raw · projection + offset = s · (discriminant log-density) + c · (log prior),

with s and c chosen for the least leave-one-out log loss, so that their softmax is the probability of the classes. Real
classes are no such Gaussians: of more than two, each then weighs the discriminant variables a little otherwise
(`logistic`). All parameters come from leave-one-out scores, and a decoded score is still linear in the states.

A metric other than accuracy moves the decision alone: `shift` is added where the class is chosen, never in a
probability.

Easy to get wrong: leave-one-out scores can point away from the class. Where every row alone determines its fit, the
score of a row that is left out is the mean of all others, and that is lower for its own class. Learned from these, a
decision would turn its own evidence around. So a discriminant variable takes part only if the classes differ along it
in the same sense from outside as from inside: of two classes, more score for one never makes it less likely. (Of more,
a class between others is known by their scores rather than by its own.) Where none takes part, or the calibration gives
them no weight, the classes' shares are all that is known.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp

from ..constants import CORRECTION_RIDGES, LEAST_EIGENVALUE, PRIOR_EXPONENTS
from ..sums.rows import JudgeScores
from ..types import Array, Codes
from .logistic import Problem, correct

METRICS = ("accuracy", "balanced_accuracy", "kappa")

EQUAL = 1e-9
"""Logarithms of the classes' shares closer than this are equal."""

SAME_DIRECTION = 1e-7
"""Shares of variance closer than this belong to scorings that rounding can turn into each other."""

CORRECTED_CLASSES = 100
"""Most classes that correct their discriminants: what each learns, and its cost, grow with the cube of their number."""

LEAST_SHARPNESS = 1e-3
"""Largest difference of any log-odds where the largest raw score is to decide and is worth nothing."""

MOST_STEPS, SOLVED, FLAT = 200, 1e-12, 1e-12
"""Newton steps of the calibration at most, the decrease of the log loss below which it is solved, and the share of the
largest curvature below which a direction has none: parts that say the same share what they say."""


@dataclass(frozen=True)
class Decision:
    """Scores are raw · `projection` + `offset`, in log-odds; the class is the largest of scores + `shift`."""

    projection: Array
    offset: Array
    shift: Array

    def __call__(self, raw: Array) -> Array:
        """Decode raw class scores, shape (n, N): the softmax of what is returned are the probabilities."""
        decoded: Array = raw @ self.projection + self.offset
        return decoded

    def codes(self, scores: Array) -> Codes:
        """Return the class that decoded scores decide for."""
        chosen: Codes = (scores + self.shift).argmax(axis=1)
        return chosen

    @property
    def informed(self) -> bool:
        """Whether the scores take part at all; otherwise every row gets the classes' shares."""
        return bool(self.projection.any())


def evidence_directions(n_classes: int) -> Array:
    """Return the matrix whose column k takes scores to the evidence for class k, in log-odds; shape (N, N).

    Of two classes it is the log-odds of the class against the other one. Of more it is against the average of all
    classes, the class's log probability less the mean of all: their softmax is then the probability again.
    """
    if n_classes == 2:
        return np.array([[1.0, -1.0], [-1.0, 1.0]])
    return np.eye(n_classes) - 1 / n_classes


def class_shares(codes: Codes, sample_weight: Array, n_classes: int) -> Array:
    """Return each class's share of the weight."""
    shares: Array = np.bincount(codes, sample_weight, n_classes) / sample_weight.sum()
    return shares


def judged_rows(outside: Array, fitted: Array, codes: Codes, sample_weight: Array, unit: Array) -> JudgeScores:
    """Return the scores that judge the decision: those from outside, `outside`, shape (n, N).

    A class of one row (of weight `unit`) cannot be judged from outside: it is judged from inside, by `fitted`.
    """
    mass = np.bincount(codes, sample_weight, outside.shape[1])
    return JudgeScores(np.where((mass[codes] <= unit)[:, None], fitted, outside), codes, sample_weight)


def class_covariance(fitted: Array, codes: Codes, sample_weight: Array) -> Array:
    """Return the covariance of the classes' one-hot with their fitted scores, (N, N)."""
    share = sample_weight / sample_weight.sum()
    one_hot = np.eye(fitted.shape[1])[codes]
    covariance: Array = (one_hot * share[:, None]).T @ (fitted - share @ fitted)
    return covariance


def decide(judged: JudgeScores, between: Array, metric: str | None, scale: Array, corrected: bool = True) -> Decision:
    """Fit the decision to scores from outside.

    Parameters
    ----------
    judged : JudgeScores
        Leave-one-out scores.
    between : array of shape (N, N)
        Covariance of the classes' one-hot with the scores of the fit itself (`class_covariance`).
    metric : str or None
        What the decision is to be good at; None takes the largest raw score.
    scale : array of shape (2,)
        For None, the values that 0 and 1 of the one-hot are moved to.
    corrected : bool
        Whether more than two classes correct what the discriminants say; not needed to compare members of a stack.
    """
    n_classes = judged.raw.shape[1]
    if metric is None:
        return _largest(judged, *scale.tolist())
    prior = class_shares(judged.codes, judged.weight, n_classes)
    log_prior = np.log(prior) - np.log(prior).mean()
    if np.ptp(log_prior) < EQUAL:
        # Equal shares differ by rounding, which no factor may magnify.
        log_prior = np.zeros(n_classes)
    found = _discriminants(judged, *optimal_scores(between, prior), prior)
    unknown = Decision(np.zeros((n_classes, n_classes)), np.log(prior), np.zeros(n_classes))
    if not len(found.spread):
        return unknown
    projection, offset = found.densities
    decoded = judged.raw @ projection + offset
    sharpness, exponent = calibrate([decoded, log_prior[None]], judged, np.array([0.0, 1.0]))
    if not sharpness > 0:
        return unknown
    decision = Decision(sharpness * projection, sharpness * offset + exponent * log_prior, np.zeros(n_classes))
    if corrected and 2 < n_classes <= CORRECTED_CLASSES:
        decision = _corrected(decision, found, judged, prior)
    if metric == "accuracy":
        return decision
    without_prior = decision(judged.raw) - exponent * log_prior
    chosen = _prior_exponent(without_prior, sharpness * log_prior, judged, metric)
    return replace(decision, shift=(sharpness * chosen - exponent) * log_prior)


def _corrected(decision: Decision, found: "Discriminants", judged: JudgeScores, prior: Array) -> Decision:
    """Let each class weigh the discriminant variables a little otherwise, if that lowers the log loss.

    Classes are no Gaussians of one covariance. Of two classes nothing is left to correct: there is one variable.
    """
    axes = found.theta / np.sqrt(found.spread)
    centre = prior @ found.mean / np.sqrt(found.spread)
    variables, unknown = judged.raw @ axes - centre, 1 / (judged.weight.sum() + 2)
    problem = Problem(
        np.column_stack([variables, np.ones(len(variables))]),
        decision(judged.raw),
        (1 - unknown) * np.eye(len(prior))[judged.codes] + unknown * prior,
        judged.weight,
        np.r_[np.full(len(centre), CORRECTION_RIDGES[0]), CORRECTION_RIDGES[1]],
    )
    theta = correct(problem)
    turned, moved = axes @ theta[:-1], theta[-1] - centre @ theta[:-1]
    return replace(decision, projection=decision.projection + turned, offset=decision.offset + moved)


def _largest(judged: JudgeScores, zero: float, one: float) -> Decision:
    """Take the scores as they are, times the factor that makes their softmax the probabilities."""
    n_classes = judged.raw.shape[1]
    decided = zero + (one - zero) * judged.raw
    (sharpness,) = calibrate([decided], judged, np.zeros(1))
    # The largest score is to decide even where it says nothing: its probability is then hardly larger.
    sharpness = max(sharpness, LEAST_SHARPNESS / (float(np.ptp(decided, axis=1).max()) or 1.0))
    return Decision(
        sharpness * (one - zero) * np.eye(n_classes), np.full(n_classes, sharpness * zero), np.zeros(n_classes)
    )


def optimal_scores(between: Array, prior: Array) -> tuple[Array, Codes]:
    """Return the class scorings θ, orthonormal under the prior, along which the fitted scores differ most.

    Also return which of them belong together: where the fitted scores differ equally along several, as they do where
    the fit is perfect, these are any basis of what they span.
    """
    root = prior**-0.5
    value, vector = np.linalg.eigh((between + between.T) / 2 * np.outer(root, root))
    kept = min(len(prior) - 1, int((value > LEAST_EIGENVALUE).sum()))
    theta: Array = root[:, None] * vector[:, ::-1][:, :kept]
    apart = -np.diff(value[::-1][:kept], prepend=np.inf) > SAME_DIRECTION
    group = np.cumsum(apart, dtype=np.intp)
    return theta, group


def _within(group: Codes, values: Array) -> Array:
    """Return for each entry the mean of its group."""
    mean: Array = (np.bincount(group, values) / np.maximum(np.bincount(group), 1))[group]
    return mean


class Discriminants(NamedTuple):
    """Scorings of the classes, shape (N, q), the classes' means along them, (N, q), and their spread within, (q,)."""

    theta: Array
    mean: Array
    spread: Array

    @property
    def densities(self) -> tuple[Array, Array]:
        """Projection and offset: the classes' log-densities, but for what all have in common."""
        return self.theta @ (self.mean / self.spread).T, -0.5 * (self.mean**2 / self.spread).sum(axis=1)


def _discriminants(judged: JudgeScores, theta: Array, group: Codes, prior: Array) -> Discriminants:
    """Return the discriminant variables that take part.

    Variables of a group are treated alike, so that it does not matter which basis of it they are.
    """
    raw, codes, weight = judged
    n_classes = raw.shape[1]
    mass = np.bincount(codes, weight, n_classes)
    variables = raw @ theta
    mean = np.array([np.bincount(codes, weight * v, n_classes) for v in variables.T]).reshape(-1, n_classes).T
    mean /= mass[:, None]
    # θ is orthonormal under the prior: this is the slope of the classes' means from outside on their scorings.
    agrees = _within(group, (prior[:, None] * theta * mean).sum(axis=0)) > 0
    theta, mean, variables, group = theta[:, agrees], mean[:, agrees], variables[:, agrees], group[agrees]
    # One more row, as far from its class as the classes are from each other, stands for what was not seen: variables
    # that no row contradicts would otherwise outweigh all others.
    spread = (weight @ (variables - mean[codes]) ** 2 + prior @ (mean - prior @ mean) ** 2) / (
        max(weight.sum() - n_classes, 1.0) + 1
    )
    return Discriminants(theta, mean, _within(group, spread))


def calibrate(parts: Sequence[Array], judged: JudgeScores, start: Array, n_bounded: int = 1) -> Array:
    """Return the factors whose Σ_j factor_j · part_j has the least log loss as scores; the first ones are at least 0.

    Parameters
    ----------
    parts : sequence of arrays of shape (n, N) or (1, N)
        What scores are made of.
    judged : JudgeScores
        Classes and weights of the rows.
    start : array of shape (len(parts),)
        Factors to begin with.
    n_bounded : int
        How many of the first factors may not be negative.

    Notes
    -----
    A row of a class counts as of all classes, by their shares, with a probability of 1 / (n + 2), as in Platt's
    calibration: rows that none contradicts would otherwise make the factors, and all probabilities, infinite. The loss
    is convex, and Newton's method does not depend on the scale of the parts. Factors at their bound, which the loss
    would push across it, wait there while the others move (Bertsekas' projected Newton method).
    """
    share = judged.weight / judged.weight.sum()
    unit = np.array([float(np.ptp(part, axis=1).max()) or 1.0 for part in parts])
    # The softmax does not see what all classes have in common.
    # Classes come first: what is summed over them is then summed for many rows at once.
    pieces = np.empty((len(parts), *judged.raw.T.shape))
    for piece, part, size in zip(pieces, parts, unit, strict=True):
        piece[:] = (part - part.max(axis=1, keepdims=True)).T / size
    unknown = 1 / (judged.weight.sum() + 2)
    prior = class_shares(judged.codes, judged.weight, judged.raw.shape[1])
    own = pieces[:, judged.codes, np.arange(len(share))]
    aim = ((1 - unknown) * own + unknown * (prior @ pieces)) @ share
    least = np.where(np.arange(len(parts)) < n_bounded, 0.0, -np.inf)
    factors = start * unit
    current, probability = _losses(pieces, aim, share, factors)
    for _ in range(MOST_STEPS):
        gradient, curvature = _derivatives(pieces, aim, share, probability)
        free = (factors > least) | (gradient < 0)
        step = np.zeros(len(parts))
        step[free] = -np.linalg.lstsq(curvature[np.ix_(free, free)], gradient[free], rcond=FLAT)[0]
        if -gradient @ step < SOLVED:
            # Twice as many digits for the price of a sum: what is left may not depend on where the steps ended.
            factors = np.maximum(factors + step, least)
            break
        length, moved = 1.0, np.inf
        while length > 1e-10:
            trial = np.maximum(factors + length * step, least)
            moved, after = _losses(pieces, aim, share, trial)
            if moved <= current + 1e-4 * gradient @ (trial - factors):
                break
            length /= 2
        if not moved < current:
            break
        factors, current, probability = trial, moved, after
    solved: Array = factors / unit
    return solved


def _losses(parts: Array, aim: Array, share: Array, factors: Array) -> tuple[float, Array]:
    """Return the log loss of Σ_j factor_j · part_j as scores, and the probabilities, shape (N, n)."""
    scores = np.einsum("j,jkn->kn", factors, parts)
    top = scores.max(axis=0)
    scores -= top
    np.exp(scores, out=scores)
    total = scores.sum(axis=0)
    scores /= total
    return float(share @ (top + np.log(total)) - factors @ aim), scores


def _derivatives(parts: Array, aim: Array, share: Array, probability: Array) -> tuple[Array, Array]:
    """Return the gradient and the curvature of the log loss."""
    weighted = probability * parts
    mean = weighted.sum(axis=1)
    weighted *= share
    # Parts are at most 1 apart within a row, so that a variance may be the mean square less the squared mean.
    square = weighted.reshape(len(parts), -1) @ parts.reshape(len(parts), -1).T
    return mean @ share - aim, square - (mean * share) @ mean.T


def _prior_exponent(decoded: Array, log_prior: Array, judged: JudgeScores, metric: str) -> float:
    """Return the mean of the exponents of the prior whose metric is within half a standard error of the best."""
    _, codes, weight = judged
    predicted = [(decoded + exponent * log_prior).argmax(axis=1) for exponent in PRIOR_EXPONENTS]
    values = np.array([score_labels(metric, labels, codes, weight) for labels in predicted])
    hit = float((predicted[len(predicted) // 2] == codes) @ weight / weight.sum())
    chance = class_shares(codes, weight, len(log_prior)) if metric == "kappa" else np.zeros(1)
    error = np.sqrt(max(hit * (1 - hit), 0.0) / weight.sum()) / max(1 - (chance**2).sum(), 1e-12)
    return float(PRIOR_EXPONENTS[values >= values.max() - error / 2].mean())


def score_labels(metric: str, predicted: Codes, codes: Codes, sample_weight: Array) -> float:
    """Return Cohen's kappa, accuracy or balanced accuracy of predicted class codes."""
    n_classes = int(max(predicted.max(), codes.max())) + 1
    table = np.zeros((n_classes, n_classes))
    np.add.at(table, (codes, predicted), sample_weight / sample_weight.sum())
    true, hit = table.sum(axis=1), np.diagonal(table)
    if metric == "accuracy":
        return float(hit.sum())
    if metric == "balanced_accuracy":
        return float((hit[true > 0] / true[true > 0]).mean())
    chance = true @ table.sum(axis=0)
    return float((hit.sum() - chance) / (1 - chance)) if chance < 1 else 0.0


def log_loss(scores: Array, codes: Codes, sample_weight: Array) -> float:
    """Return the log loss of the softmax of the scores."""
    own = scores[np.arange(len(codes)), codes]
    return float(sample_weight @ (logsumexp(scores, axis=1) - own) / sample_weight.sum())
