"""From class scores to a decision: discriminant decoding, its prior exponent, and calibrated probabilities.

A least-squares score says how far a row leans towards a class, not how likely the class is: for a rare class it stays
low everywhere. Optimal scoring turns the N scores into discriminant variables, in which the classes have Gaussian
distributions with one common covariance; the decision adds τ times the log prior. All parameters come from
leave-one-out scores, and the decoded score is still linear in the states.

Easy to get wrong: τ moves the prior on purpose, towards the metric that the user asked for. Only
``metric="log_loss"`` leaves probabilities calibrated.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp

from .activation import Array
from .constants import LEAST_EIGENVALUE, LEAST_SPREAD, PRIOR_EXPONENTS

METRICS = ("kappa", "accuracy", "balanced_accuracy", "log_loss")
Codes = NDArray[np.intp]

SHARPNESS = (-3.0, 12.0)
"""Bounds of the logarithm of the probabilities' sharpness, in units of the largest difference of scores."""


@dataclass(frozen=True)
class Decision:
    """Decoded scores are raw · `projection` + `offset`; probabilities the softmax of `sharpness` times them."""

    projection: Array
    offset: Array
    prior_exponent: float
    sharpness: float

    def __call__(self, raw: Array) -> Array:
        """Decode raw class scores, shape (n, N)."""
        decoded: Array = raw @ self.projection + self.offset
        return decoded


def class_shares(codes: Codes, sample_weight: Array, n_classes: int) -> Array:
    """Return each class's share of the weight."""
    shares: Array = np.bincount(codes, sample_weight, n_classes) / sample_weight.sum()
    return shares


def argmax_decision(raw: Array, codes: Codes, sample_weight: Array, scale: Array) -> Decision:
    """Take the scores as they are, with 0 and 1 moved to the values of `scale`; fit the probabilities' sharpness."""
    zero, one = scale
    n_classes = raw.shape[1]
    decided = zero + (one - zero) * raw
    sharpness = _sharpness(decided, codes, sample_weight)[0]
    return Decision((one - zero) * np.eye(n_classes), np.full(n_classes, zero), 0.0, sharpness)


def discriminant_decision(
    raw: Array, fitted: Array, codes: Codes, sample_weight: Array, unit: Array, metric: str
) -> Decision:
    """Fit the decoding to leave-one-out scores `raw`; `fitted` are the scores of the fit itself, both (n, N).

    Both are on the scale of the one-hot. A class of one row (of weight `unit`) cannot be judged from outside: it is
    judged from inside. Where nothing separates the classes, the priors are all that is known.
    """
    n_classes = raw.shape[1]
    mass = np.bincount(codes, sample_weight, n_classes)
    raw = np.where((mass[codes] <= unit)[:, None], fitted, raw)
    prior = class_shares(codes, sample_weight, n_classes)
    theta = optimal_scores(_between(fitted, codes, sample_weight), prior)
    if theta.shape[1] == 0:
        return Decision(np.zeros((n_classes, n_classes)), np.log(prior), 1.0, 1.0)
    variables = raw @ theta
    mean = np.array([np.bincount(codes, sample_weight * v, n_classes) for v in variables.T]).T / mass[:, None]
    scatter = sample_weight @ (variables - mean[codes]) ** 2
    projection, offset = discriminants(theta, mean, scatter, sample_weight.sum())
    decoded = raw @ projection + offset
    exponent = _prior_exponent(decoded, np.log(prior), codes, sample_weight, metric)
    offset = offset + exponent * np.log(prior)
    return Decision(projection, offset, exponent, _sharpness(raw @ projection + offset, codes, sample_weight)[0])


def _between(fitted: Array, codes: Codes, sample_weight: Array) -> Array:
    """Return the covariance of the classes' one-hot with their fitted scores, (N, N)."""
    share = sample_weight / sample_weight.sum()
    one_hot = np.eye(fitted.shape[1])[codes]
    between: Array = (one_hot * share[:, None]).T @ (fitted - share @ fitted)
    return between


def optimal_scores(between: Array, prior: Array) -> Array:
    """Return the class scorings θ, orthonormal under the prior, along which the fitted scores differ most."""
    root = prior**-0.5
    value, vector = np.linalg.eigh((between + between.T) / 2 * np.outer(root, root))
    kept = min(len(prior) - 1, int((value > LEAST_EIGENVALUE).sum()))
    theta: Array = root[:, None] * vector[:, ::-1][:, :kept]
    return theta


def discriminants(theta: Array, mean: Array, scatter: Array, total: float) -> tuple[Array, Array]:
    """Return projection and offset from class means and scatter within classes of the discriminant variables."""
    spread = scatter / max(total - len(mean), 1.0)
    spread = np.maximum(spread, LEAST_SPREAD * max((mean**2).sum(axis=1).max(), np.finfo(np.float64).tiny))
    return theta @ (mean / spread).T, -0.5 * (mean**2 / spread).sum(axis=1)


def _prior_exponent(decoded: Array, log_prior: Array, codes: Codes, sample_weight: Array, metric: str) -> float:
    """Return the mean of the exponents whose leave-one-out metric is within half a standard error of the best."""
    candidates = [decoded + exponent * log_prior for exponent in PRIOR_EXPONENTS]
    if metric == "log_loss":
        losses = [_sharpness(scores, codes, sample_weight)[1] for scores in candidates]
        return float(PRIOR_EXPONENTS[int(np.argmin(losses))])
    values = np.array([score_labels(metric, scores.argmax(axis=1), codes, sample_weight) for scores in candidates])
    hit = (candidates[len(candidates) // 2].argmax(axis=1) == codes) @ sample_weight / sample_weight.sum()
    prior = class_shares(codes, sample_weight, decoded.shape[1])
    return best_exponent(values, hit, prior, sample_weight.sum(), metric)


def best_exponent(values: Array, hit: float, prior: Array, total: float, metric: str) -> float:
    """Return the mean exponent whose metric is near the best; `hit` is the accuracy of the middle one."""
    chance = prior if metric == "kappa" else np.zeros(1)
    error = np.sqrt(max(hit * (1 - hit), 0.0) / total) / max(1 - (chance**2).sum(), 1e-12)
    return float(PRIOR_EXPONENTS[values >= values.max() - error / 2].mean())


def score_labels(metric: str, predicted: Codes, codes: Codes, sample_weight: Array) -> float:
    """Return Cohen's kappa, accuracy or balanced accuracy of predicted class codes."""
    n_classes = int(max(predicted.max(), codes.max())) + 1
    table = np.zeros((n_classes, n_classes))
    np.add.at(table, (codes, predicted), sample_weight / sample_weight.sum())
    return score_table(metric, table)


def score_table(metric: str, table: Array) -> float:
    """Return the same, given each pair of true and predicted class's share of the weight."""
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


def _sharpness(scores: Array, codes: Codes, sample_weight: Array) -> tuple[float, float]:
    """Return the factor whose softmax has the least log loss on these scores, and that loss (convex in the factor)."""
    own, top = scores[np.arange(len(codes)), codes], scores.max(axis=1)
    scale = max(float((top - own).max()), float((own - scores.min(axis=1)).max()), 1e-300)
    share = sample_weight / sample_weight.sum()
    below, behind = scores - top[:, None], share @ (top - own)

    def loss(log_factor: float) -> float:
        factor = np.exp(log_factor) / scale
        return float(share @ np.log(np.exp(factor * below).sum(axis=1)) + factor * behind)

    best = minimize_scalar(loss, bounds=SHARPNESS, method="bounded", options={"xatol": 1e-6})
    return float(np.exp(best.x) / scale), float(best.fun)
