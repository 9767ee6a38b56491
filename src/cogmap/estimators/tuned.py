"""LTCNClassifierCV: everything chosen by leave-one-out in closed form, and several networks stacked into one."""

import os
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain
from math import prod
from numbers import Integral
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from ..core.concepts.concepts import Concepts
from ..core.constants import CASE_CONCEPTS, METRIC_FOLDS, TERM_CONCEPTS, TERMS
from ..core.decision.decision import Decision, decide
from ..core.fit.fit import Groundwork, NetworkFit, fit_network, remember, remember_many
from ..core.fit.fitted import distinct_networks, joint_outer
from ..core.fit.model import Settings, Summary
from ..core.fit.network import concepts_of
from ..core.fit.pairs import read_pairs
from ..core.network.reasoning import Rule
from ..core.resemblance.distance import Distance
from ..core.sums.rows import Rows
from ..core.sums.sources import Source
from ..core.sums.statistics import Range
from ..core.sums.threads import one_blas_thread, side_by_side
from ..core.types import Array
from ..errors import ModelFileError
from ..intake.blocks import few
from ..intake.checks import feature_names
from ..knowledge import Knowledge
from ..knowledge.edges import check_terms
from .base import NetworkClassifier, refused_parameters
from .classifier import LTCNClassifier
from .fitting import fit_arrays
from .grid import GRID, as_grid, block_labels, combinations
from .stacking import (
    MOST_CONCEPTS,
    ONE_HOT,
    SCORINGS,
    Candidate,
    groundwork,
    loo_scores,
    spelled_out,
    stack_weights,
    together,
)

TIE = 1e-9
"""Leave-one-out scores closer than this are equal: where several networks fit perfectly, only rounding differs."""

CASES: dict[Distance, bool | str] = {"straight": True, "axes": "axes"}
"""What results call remembered rows, by the distance in which they are compared."""

MOST_FURTHER = len(CASES) + 2
"""Most members beside the grid: remembered rows, pairs, and in files of earlier versions rows beside a network."""


class LTCNClassifierCV(NetworkClassifier):
    """Long-Term Cognitive Network classifier that tunes itself by exact leave-one-out.

    Every combination of the grids is fitted once; its leave-one-out scores follow in closed form. The networks are then
    stacked: non-negative weights on their leave-one-out class scores make them *one* network with block-diagonal inner
    weights, which is what the fitted attributes show. This is the recommended way to fit.

    Parameters
    ----------
    phi : float or sequence of float, default=0.8
        Nonlinearity.
    activation : str or sequence of str, default="sigmoid"
        Activation: "sigmoid", "tanh".
    inner : str or sequence of str, default=("slopes", "stable-regression")
        Inner weights, as for `LTCNClassifier`.
    scaling : str, None or sequence of them, default="halfway"
        Scaling.
    terms : "auto", int, None or sequence of them, default="auto"
        Linguistic terms. ``"auto"`` is None, and 5 for the last of `inner`; None alone for more than 300 concepts of
        terms, and for more than 30,000 rows. Of more than 6,000 rows those that are remembered have 5 or none, as saves
        more.
    max_iter : int or sequence of int, default=20
        Largest number of iterations; the useful number is chosen in any case.
    cases : {"auto", False}, default="auto"
        Whether training rows are remembered, for problems where neighbours matter: each row is compared with at most
        3,000 of them, in metrics that the classes teach, one of straight distances or their squares and, of up to 64
        concepts, one of distances along the axes. ``"auto"`` remembers at most 100,000 rows; those with a weight are
        stored. More than 6,000 are left out, and have no row in ``cv_results_``, where some of them save nothing beside
        the rest of the stack.
    pairs : {"auto", False}, default="auto"
        Whether the best network without terms is also read by curves of its concepts and by surfaces of those pairs of
        concepts that matter, for problems with sharp bends and interactions. The stack gives it weight only if
        leave-one-out gains.
    combine : {"stack", "best"}, default="stack"
        Stack the networks, or keep the one that `scoring` prefers.
    scoring : {"squared_error", "error", "kappa", "log_loss"}, default="squared_error"
        What makes a configuration the best, by leave-one-out; ties go to the simpler one.
    rule, decision, decision_metric, tol, class_weight
        As for `LTCNClassifier`.
    knowledge : Knowledge or None, default=None
        What experts state about the edges; it holds in every network.
    n_jobs : int or None, default=None
        Networks that are fitted side by side, in threads; -1 for as many as there are processors, None for as many as
        BLAS may use. It changes no bit of the result.

    Attributes
    ----------
    best_params_ : dict
        The best single configuration.
    best_score_ : float
        Its leave-one-out score; larger is better.
    cv_results_ : dict of arrays
        For each configuration: ``params``, ``param_…``, ``mean_test_score`` (the leave-one-out score, larger is
        better), ``rank_test_score``, ``mean_fit_time``, ``stack_weight``, and ``loo_…`` for every scoring.
    classes_, class_count_, n_features_in_, feature_names_in_, concept_names_, inner_weights_, inner_bias_, \
outer_weights_, outer_bias_, n_iter_, rank_, condition_, degrees_of_freedom_, knowledge_, \
feature_importances_, fitted_
        As for `LTCNClassifier`, of the one network. Where it has several blocks, the names of its concepts say in which
        parameters a block differs. Outer weights are on the scale of the one-hot, and leave out cases,
        curves and surfaces.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from cogmap import LTCNClassifierCV
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> clf = LTCNClassifierCV().fit(X[::2], y[::2])
    >>> clf.score(X[1::2], y[1::2]) > 0.95
    True
    >>> clf.best_params_["inner"] in ("slopes", "stable-regression")
    True
    """

    def __init__(
        self,
        phi: float | Sequence[float] = 0.8,
        activation: str | Sequence[str] = "sigmoid",
        inner: str | Sequence[str] = ("slopes", "stable-regression"),
        scaling: str | Sequence[str | None] | None = "halfway",
        terms: Literal["auto"] | int | Sequence[int | None] | None = "auto",
        max_iter: int | Sequence[int] = 20,
        cases: Literal["auto"] | bool = "auto",
        pairs: Literal["auto"] | bool = "auto",
        combine: Literal["stack", "best"] = "stack",
        scoring: Literal["squared_error", "error", "kappa", "log_loss"] = "squared_error",
        rule: Rule = "quasi-nonlinear",
        decision: Literal["discriminant", "argmax"] = "discriminant",
        decision_metric: Literal["accuracy", "balanced_accuracy", "kappa"] = "accuracy",
        tol: float = 1e-12,
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
        knowledge: Knowledge | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.phi = phi
        self.activation = activation
        self.inner = inner
        self.scaling = scaling
        self.terms = terms
        self.max_iter = max_iter
        self.cases = cases
        self.pairs = pairs
        self.combine = combine
        self.scoring = scoring
        self.rule = rule
        self.decision = decision
        self.decision_metric = decision_metric
        self.tol = tol
        self.class_weight = class_weight
        self.knowledge = knowledge
        self.n_jobs = n_jobs

    @property
    def n_iter_(self) -> int:
        """Number of iterations in use, and 1 where only remembered rows and curves are: scikit-learn asks for it."""
        return max(1, self.fitted_.n_iter)

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit every configuration, then combine them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numbers, without missing values. Under scikit-learn's `array_api_dispatch`, arrays of torch, CuPy and others
            are fitted where they are, if they have more than 30,000 rows.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each row counts: 2 equals a repeated row, 0 an absent one.

        Returns
        -------
        LTCNClassifierCV
            This estimator.
        """
        return fit_arrays(self, X, y, sample_weight)

    def fit_source(self, source: Source[Rows], census: Range, every: Sequence[Settings]) -> None:
        """Fit every configuration to rows, wherever they are, then combine them by leave-one-out scores."""
        # Configurations share concepts; the activation matters to unscaled data alone.
        keys = [(one.scaling, one.terms, one.activation if one.scaling is None else None) for one in every]
        named, concepts = dict(zip(keys, every, strict=True)), dict[Any, Concepts]()
        for key in sorted(named, key=lambda key: key[1] or 0):
            scaling, _, activation = key
            # With terms and without, features are scaled alike.
            concepts[key] = concepts_of(source, census, named[key], concepts.get((scaling, None, activation)))

        def fitted(one: tuple[dict[str, Any], Settings, Any]) -> Candidate:
            params, settings, key = one
            start = time.perf_counter()
            network = fit_network(source, census, settings, concepts[key])
            return self._candidate(params | {"cases": False}, network if self.cases else network.alone, start)

        each = zip(self._grid(), every, keys, strict=True)
        with one_blas_thread():
            # Passes over many rows are side by side themselves, and some sources have one place at a time.
            workers = self._workers() if source.single else 1
            networks = list(side_by_side(fitted, each, workers))
            pairs = self._with_pairs(source, census, networks) if self.pairs else []
            candidates = list(networks)
            if self.cases:
                ground = self._ground([*networks, *pairs], source.n_rows)
                candidates += self._remembered(source, census, networks, ground, workers)
            candidates += pairs
        self._combine(candidates)

    def _workers(self) -> int | None:
        """Return how many configurations are fitted side by side; None for as many as BLAS has threads."""
        if self.n_jobs is None:
            return None
        return int(self.n_jobs) if self.n_jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + int(self.n_jobs))

    def _readers(self, networks: Sequence[Candidate], n_rows: int) -> list[Candidate]:
        """Return the networks in whose concepts rows may be remembered.

        It is the best of those with the fewest terms; of more rows than are judged in folds that of the others too.
        """
        usual = [c for c in networks if 0 < len(c.model.network.bias) <= CASE_CONCEPTS]
        fewest = min((c.params["terms"] or 0 for c in usual), default=0)
        groups = [[c for c in usual if ((c.params["terms"] or 0) > fewest) == more] for more in (False, True)]
        return [self._best(alike) for alike in groups[: 2 if n_rows > max(METRIC_FOLDS) else 1] if alike]

    def _ground(self, others: Sequence[Candidate], n_rows: int) -> Groundwork | None:
        """Return the stack of the others where many rows are to be remembered beside it.

        They are remembered for what it leaves, but of two classes: curves are log-odds then, from which nothing can be
        taken away.
        """
        many = self.combine == "stack" and n_rows > max(METRIC_FOLDS)
        return groundwork(others, taken=len(self.classes_) > 2) if many else None

    def _remembered(
        self,
        source: Source[Rows],
        census: Range,
        networks: Sequence[Candidate],
        ground: Groundwork | None,
        workers: int | None,
    ) -> Iterable[Candidate]:
        """Remember rows by both distances, in the concepts of one of the networks; many rows maybe in further terms."""
        readers = self._readers(networks, source.n_rows)

        def fitted(distance: Distance) -> list[Candidate]:
            start, first = time.perf_counter(), readers[0]
            if source.single:
                models = [own.model for own in readers if own.comparable(distance)]
                fit = remember(first.network, models, distance, ground)
            else:
                terms = self._in_terms(first, census, distance)
                fit = remember_many(source, census, first.network, terms, distance, ground)
            if fit is None:
                return []
            known = (own.params for own in readers if own.model.concepts is fit.model.concepts)
            params = next(known, first.params | {"terms": TERMS})
            candidate = self._candidate(params | {"cases": CASES[distance]}, fit, start)
            return [replace(candidate, ground=ground if ground is not None and ground.taken else None)]

        distances = [one for one in CASES if readers and readers[0].comparable(one)]
        return chain.from_iterable(side_by_side(fitted, distances, workers))

    def _in_terms(self, reader: Candidate, census: Range, distance: Distance) -> Settings | None:
        """Return a configuration with the terms that "auto" would try if rows were few; None where it would not."""
        most = min(TERM_CONCEPTS, MOST_CONCEPTS[distance])
        if not self._terms_auto or TERMS * self.n_features_in_ > most:
            return None
        [settings] = self._member({name: reader.params[name] for name in GRID} | {"terms": TERMS}).settings(census)
        return settings

    def _with_pairs(self, source: Source[Rows], census: Range, candidates: Sequence[Candidate]) -> list[Candidate]:
        """Read the best network without terms by curves and surfaces, if there is one and rows are enough."""
        plain, start = [c for c in candidates if c.params["terms"] is None], time.perf_counter()
        if not plain:
            return []
        best = self._best(plain)
        network = read_pairs(source, census, best.network)
        return [] if network is None else [self._candidate(best.params | {"pairs": True}, network, start)]

    def _combine(self, candidates: Sequence[Candidate]) -> None:
        """Weigh the candidates, fit the decision to their sum, and set the fitted state."""
        check_terms(self.knowledge_, feature_names(self), [c.model.concepts for c in candidates])
        best = self._best(candidates)
        weights = np.array([float(c is best) for c in candidates])
        if self.combine == "stack":
            stacked = stack_weights(candidates)
            weights = stacked if stacked.any() else weights
        judged, between, constant = together(candidates, weights)
        decision = decide(judged, between, self._metric(), ONE_HOT)
        weights, more = spelled_out(candidates, weights)
        self._report(candidates, weights, best)
        members = [c for c, w in zip(candidates, weights, strict=True) if w > 0]
        self._keep(members, weights[weights > 0], constant + more, decision, best.network.summary)

    def check_parameters(self) -> None:
        """Raise an error where a parameter is not what it may be."""
        for name, choices in (
            ("combine", ("stack", "best")),
            ("scoring", SCORINGS),
            *((n, ("auto", False)) for n in ("cases", "pairs")),
        ):
            if (value := getattr(self, name)) not in choices:
                raise ValueError(f"{name}={value!r} is unknown: use one of {', '.join(map(repr, choices))}.")
        if self.n_jobs is not None and not (isinstance(self.n_jobs, (int, Integral)) and self.n_jobs != 0):
            raise ValueError(f"n_jobs={self.n_jobs!r} must be None or a whole number that is not 0.")
        for name in GRID:
            if not self._values(name):
                raise ValueError(f"{name} is an empty grid: give at least one value.")
        for params in self._grid():
            self._member(params).check_parameters()

    def settings(self, census: Range) -> list[Settings]:
        """Return what the core needs to know of every configuration, given the range of the features."""
        return [one for params in self._grid() for one in self._member(params).settings(census)]

    def _grid(self) -> list[dict[str, Any]]:
        return combinations({name: self._values(name) for name in GRID}, sparing=self._terms_auto)

    @property
    def _terms_auto(self) -> bool:
        return isinstance(self.terms, str) and self.terms == "auto"

    def _values(self, name: str) -> list[Any]:
        """Return the values of a grid."""
        if name != "terms" or not self._terms_auto:
            return as_grid(getattr(self, name))
        few_concepts = TERMS * getattr(self, "n_features_in_", 1) <= TERM_CONCEPTS
        few_rows = not hasattr(self, "class_count_") or few(self.class_count_.sum())
        return [None, TERMS] if few_concepts and few_rows else [None]

    def _member(self, params: dict[str, Any]) -> LTCNClassifier:
        """Return an unfitted classifier of one configuration, which knows the features if this one does."""
        shared = {name: getattr(self, name) for name in ("rule", "decision", "decision_metric", "tol", "knowledge")}
        member = LTCNClassifier(**params, **shared)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self, name):
                setattr(member, name, getattr(self, name))
        return member

    def _candidate(self, params: dict[str, Any], network: NetworkFit, start: float) -> Candidate:
        decision = decide(network.scores, network.between, self._metric(), ONE_HOT, corrected=False)
        loo = loo_scores(network.scores, decision)
        return Candidate(params, network, loo, time.perf_counter() - start)

    def _best(self, candidates: Sequence[Candidate]) -> Candidate:
        """Return the simplest of the candidates whose score is the best but for rounding."""
        least = max(c.loo[self.scoring] for c in candidates) - TIE
        return min((c for c in candidates if c.loo[self.scoring] >= least), key=lambda c: c.complexity)

    def _keep(
        self, candidates: Sequence[Candidate], weights: Array, constant: Array, decision: Decision, summary: Summary
    ) -> None:
        """Set the fitted attributes: raw score = prior + Σ weight · (member's score − prior)."""
        members = tuple((c.model, float(w)) for c, w in zip(candidates, weights, strict=True))
        networks = distinct_networks(members)
        params = [next(c.params for c in candidates if c.model.network is block.network) for block in networks]
        self._set_fitted(
            members,
            constant,
            decision,
            summary,
            outer=joint_outer(members, constant),
            condition=max(c.solved.condition for c in candidates),
            longest=max(c.params["max_iter"] for c in candidates),
            network_names=self._network_names(params),
            labels=block_labels(params),
        )
        self.rank_ = sum(c.solved.rank for c in candidates)
        free = [c.solved.degrees_of_freedom for c in candidates]
        self.degrees_of_freedom_ = float(sum(w * one for w, one in zip(weights, free, strict=True)))

    def _network_names(self, params: list[dict[str, Any]]) -> tuple[str, ...]:
        """Return what tells networks apart from all that were tried, whichever of them are used."""
        every = self.cv_results_["params"]
        names = {id(one): label.strip(" []") for one, label in zip(every, block_labels(every), strict=True)}
        return tuple(names[id(one)] for one in params)

    def check_stored(self) -> None:
        """Raise a `ModelFileError` where no file may hold these parameters."""
        with refused_parameters():
            # The grids' product is listed only once the results say that it is no longer than they are.
            most = prod(len(self._values(name)) for name in GRID)
            least = most // len(self._values("terms")) if self._terms_auto else most  # not all are tried then
            if not least <= len(self.cv_results_["params"]) <= most + MOST_FURTHER:
                raise ModelFileError("model.fitted must be results for each combination of the grids.")
            self.check_parameters()
        super().check_stored()

    def _report(self, candidates: Sequence[Candidate], weights: Array, best: Candidate) -> None:
        score = np.array([c.loo[self.scoring] for c in candidates])
        self.best_params_, self.best_score_ = best.params, best.loo[self.scoring]
        names = [*candidates[0].params, "pairs"]
        self.cv_results_ = {
            "params": [c.params for c in candidates],
            **{f"param_{name}": np.array([c.params.get(name, False) for c in candidates], object) for name in names},
            **{f"loo_{name}": np.array([c.loo[name] for c in candidates]) for name in SCORINGS},
            "mean_test_score": score,
            "rank_test_score": 1 + (score[:, None] < score).sum(axis=1),
            "mean_fit_time": np.array([c.seconds for c in candidates]),
            "stack_weight": weights,
        }
