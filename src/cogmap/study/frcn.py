"""FRCN: a Fuzzy-Rough Cognitive Network (Nápoles et al.; Concepción et al. 2020), written from its equations.

Rows x, y of the training set, min-max scaled, resemble each other by s(x, y) = 1 − δ(x, y), with δ = mean |Δ| (HMOM)
or √mean Δ² (HEOM). Each class k, with crisp membership μ_k, has three granules of training rows, with implicator I and
t-norm 𝒯:

- positive: POS_k(x) = min(μ_k(x), inf_y I(s(x, y) μ_k(x), μ_k(y)));
- negative: NEG_k = 1 − UP_k, where UP_k(x) = max(μ_k(x), sup_y 𝒯(s(x, y), μ_k(y)));
- boundary: BND_k = UP_k − POS_k.

A new row activates granule G by Σ_y 𝒯(s(x, y), G(y)) / Σ_y G(y). These activations start a cognitive network with
weights P_k→D_k = 1, P_k→D_v = −1, P_k→P_v = −1, N_k→D_k = −1, B_k→D_v = ½ where both boundaries hold something, and 1
from each P, N and B to itself; f is a sigmoid of slope 5, and the largest decision D_k names the class.

Easy to get wrong: after many iterations the network is at its unique fixed point and predicts one class, so D is read
after one. Under the Gödel implicator POS is empty unless rows of different classes do not resemble each other at all:
then, and wherever no positive granule responds, the nearest training row decides.
"""

from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist
from scipy.special import expit

from ..core.types import Array
from .validated import ValidatedClassifier

BLOCK = 256
"""Rows whose similarities to all training rows are held at once."""
SLOPE = 5.0


class FRCNClassifier(ValidatedClassifier):
    """Fuzzy-Rough Cognitive Network classifier.

    Parameters
    ----------
    implicator : {"lukasiewicz", "godel"}, default="lukasiewicz"
        Implicator of the lower approximation.
    t_norm : {"lukasiewicz", "product"}, default="lukasiewicz"
        T-norm of the upper approximation and of the activation.
    distance : {"HMOM", "HEOM"}, default="HMOM"
        Mean absolute difference, or root mean square difference, of scaled features.
    max_iter : int, default=1
        Iterations after which the decision is read.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Class labels.
    positive_, negative_, boundary_ : arrays of shape (n_samples, n_classes)
        Membership of the training rows in the granules of each class.
    n_iter_ : int
        Iterations in use.
    empty_positive_ : float
        Share of the classes whose positive granule is empty; near 1 the network is degenerate: a nearest neighbour.
    """

    def __init__(
        self,
        implicator: Literal["lukasiewicz", "godel"] = "lukasiewicz",
        t_norm: Literal["lukasiewicz", "product"] = "lukasiewicz",
        distance: Literal["HMOM", "HEOM"] = "HMOM",
        max_iter: int = 1,
    ) -> None:
        self.implicator = implicator
        self.t_norm = t_norm
        self.distance = distance
        self.max_iter = max_iter

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Build the granules of every class; X of shape (n_samples, n_features)."""
        self._check_parameters()
        rows, codes = self._training(X, y)
        self.n_iter_ = self.max_iter
        self._low, span = rows.min(axis=0), np.ptp(rows, axis=0)
        self._span = np.where(span > 0, span, 1.0)
        self._known, self._codes = self._scaled(rows), codes
        member = np.eye(len(self.classes_))[codes]
        lower, upper = (np.concatenate(parts) for parts in zip(*self._approximations(member), strict=True))
        self.positive_ = np.minimum(member, lower)
        upper = np.maximum(member, upper)
        self.negative_, self.boundary_ = 1 - upper, upper - self.positive_
        self.empty_positive_ = float((self.positive_.sum(axis=0) == 0).mean())
        return self

    def decision_function(self, X: ArrayLike) -> Array:
        """Return what reaches each decision before f; for two classes, that of the second less that of the first."""
        scores = self._decisions(X)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the class of each row."""
        winner = self._decisions(X).argmax(axis=1)
        labels: NDArray[Any] = self.classes_[winner]
        return labels

    def _check_parameters(self) -> None:
        choices = {
            "implicator": ("lukasiewicz", "godel"),
            "t_norm": ("lukasiewicz", "product"),
            "distance": ("HMOM", "HEOM"),
        }
        for name, allowed in choices.items():
            if (value := getattr(self, name)) not in allowed:
                raise ValueError(f"{name}={value!r} is unknown: use one of {', '.join(map(repr, allowed))}.")
        if self.max_iter < 1:
            raise ValueError(f"max_iter={self.max_iter!r} must be 1 or larger.")

    def _scaled(self, X: Array) -> Array:
        scaled: Array = np.clip((X - self._low) / self._span, 0.0, 1.0)
        return scaled

    def _similarity(self, rows: Array) -> Array:
        """Return s of rows to all training rows, shape (n, n_train)."""
        n_features = rows.shape[1]
        distance: Array
        if self.distance == "HMOM":
            distance = cdist(rows, self._known, "cityblock") / n_features
        else:
            distance = cdist(rows, self._known) / np.sqrt(n_features)
        return 1 - distance

    def _approximations(self, member: Array) -> list[tuple[Array, Array]]:
        """Return inf_y I(s μ_k(x), μ_k(y)) and sup_y 𝒯(s, μ_k(y)) for blocks of training rows, each (n, n_classes).

        μ_k is crisp, so the infimum is over rows of other classes, and the supremum over rows of the class.
        """
        regions = []
        for start in range(0, len(self._known), BLOCK):
            similarity = self._similarity(self._known[start : start + BLOCK])
            nearest = np.column_stack([similarity[:, members].max(axis=1) for members in member.T > 0])
            other = np.array([np.delete(nearest, k, axis=1).max(axis=1) for k in range(nearest.shape[1])]).T
            premise = other * member[start : start + BLOCK]
            lower = 1 - premise if self.implicator == "lukasiewicz" else np.where(premise > 0, 0.0, 1.0)
            # 𝒯(s, 1) = s and 𝒯(s, 0) = 0 for every t-norm.
            regions.append((lower, np.maximum(nearest, 0.0)))
        return regions

    def _decisions(self, X: ArrayLike) -> Array:
        rows = self._scaled(self._rows(X))
        blocks = [self._reason(rows[i : i + BLOCK]) for i in range(0, len(rows), BLOCK)]
        return np.concatenate(blocks)

    def _reason(self, rows: Array) -> Array:
        similarity = self._similarity(rows)
        P, N, B = (self._activation(similarity, g) for g in (self.positive_, self.negative_, self.boundary_))
        decisions: Array
        silent = ~P.any(axis=1)
        linked = self.boundary_.any(axis=0).astype(np.float64)
        for _ in range(self.max_iter):
            rivals = P.sum(axis=1, keepdims=True) - P
            decisions = P - rivals - N + 0.5 * (B @ linked)[:, None] * linked
            P, N, B = (expit(SLOPE * z) for z in (P - rivals, N, B))
        nearest = self._codes[similarity.argmax(axis=1)]
        winner = np.eye(len(self.classes_))[nearest[silent]]
        decisions[silent] += winner * (np.ptp(decisions[silent], axis=1, keepdims=True) + 1)
        return decisions

    def _activation(self, similarity: Array, granule: Array) -> Array:
        """Return Σ_y 𝒯(s(x, y), G(y)) / Σ_y G(y) for each class, 0 for an empty granule; shape (n, n_classes)."""
        size = granule.sum(axis=0)
        if self.t_norm == "product":
            total = similarity @ granule
        else:
            total = np.column_stack(
                [np.maximum(similarity[:, g > 0] + (g[g > 0] - 1), 0.0).sum(axis=1) for g in granule.T]
            )
        share: Array = np.divide(total, size, out=np.zeros_like(total), where=size > 0)
        return share
