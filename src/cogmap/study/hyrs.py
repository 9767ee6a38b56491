"""HyRS: a Hybrid Rule Set (Wang and Lin 2021, arXiv 1905.04241), written from its description; two classes.

A row that some positive rule covers is positive; else one that some negative rule covers is negative; else a black box
(a random forest) decides. The rules minimise

    error + α (|R⁺| + |R⁻|) + β · (share of rows left to the black box).

Features are binarised at their quintiles. Candidate rules are the paths of shallow trees in these binary items, with
enough support in their class and more precise than its share; simulated annealing picks among them.

Easy to get wrong: a forest hardly errs on its own training rows, so the black box is judged by its out-of-bag votes;
else no rule could ever gain. And prediction must use the very thresholds on which the rules were mined.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import check_random_state

from ..core.types import Array
from .validated import ValidatedClassifier

Bools = NDArray[np.bool_]
Items = tuple[tuple[int, bool], ...]
"""A rule: for some binary columns, the value that each must have."""

QUANTILES = (0.2, 0.4, 0.6, 0.8)
START = 3
"""Rules of each sign that the annealing starts from."""


@dataclass(frozen=True)
class Candidates:
    """Rules of one sign with the training rows that each covers, shape (n_rules, n), and their precision."""

    rules: list[Items]
    covers: Bools
    precision: Array


class HybridRuleSetClassifier(ValidatedClassifier):
    """Hybrid Rule Set: rules where they serve, a random forest elsewhere.

    Parameters
    ----------
    max_length : int, default=3
        Most conditions of a rule.
    support : float, default=5
        Least share of its class that a rule must cover, in percent.
    n_rules : int, default=1000
        Most candidate rules of each sign.
    alpha : float, default=0.001
        Cost of a rule.
    beta : float, default=0.15
        Cost of leaving all rows to the black box.
    n_steps : int, default=1000
        Steps of the annealing.
    n_trees : int, default=100
        Trees of the black box, and of the forest whose paths are the candidate rules.
    random_state : int, RandomState or None, default=0
        Seed of the forests and of the annealing.

    Attributes
    ----------
    classes_ : array of shape (2,)
        Class labels; the second is the positive one.
    positive_rules_, negative_rules_ : list of tuple
        The rules; each condition is (column of the binary items, its value). `describe` has them in words.
    transparency_ : float
        Share of the training rows that the rules decide.
    """

    two_classes_only = True

    def __init__(
        self,
        max_length: int = 3,
        support: float = 5,
        n_rules: int = 1000,
        alpha: float = 0.001,
        beta: float = 0.15,
        n_steps: int = 1000,
        n_trees: int = 100,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.max_length = max_length
        self.support = support
        self.n_rules = n_rules
        self.alpha = alpha
        self.beta = beta
        self.n_steps = n_steps
        self.n_trees = n_trees
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Grow the forest, mine the candidate rules and choose among them; X of shape (n_samples, n_features)."""
        rows, codes = self._training(X, y)
        random = check_random_state(self.random_state)
        self._thresholds = np.quantile(rows, QUANTILES, axis=0)
        self.black_box_ = RandomForestClassifier(self.n_trees, oob_score=True, random_state=random.randint(2**31))
        votes = out_of_bag_classes(self.black_box_, rows, codes)
        items, positive = self._items(rows), codes == 1
        rules = self._mine(items, positive, random.randint(2**31))
        covers = covered(rules, items)
        sides = [self._candidates(rules, covers, truth) for truth in (positive, ~positive)]
        search = Annealing(sides[0], sides[1], positive, votes == 1, self.alpha, self.beta, random)
        chosen = search.run(self.n_steps)
        self.positive_rules_, self.negative_rules_ = (
            [side.rules[i] for i in sorted(picked)] for side, picked in zip(sides, chosen, strict=True)
        )
        self.transparency_ = float(search.decided(chosen)[0].mean())
        return self

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the class of each row."""
        rows = self._rows(X)
        items = self._items(rows)
        codes = np.asarray(self.black_box_.predict(rows), dtype=np.intp)
        codes[covered(self.negative_rules_, items).any(axis=0)] = 0
        codes[covered(self.positive_rules_, items).any(axis=0)] = 1
        return self.classes_[codes]

    def describe(self) -> list[str]:
        """Return the rules in words, in the order in which they are asked."""
        signed = [(rule, 1) for rule in self.positive_rules_] + [(rule, 0) for rule in self.negative_rules_]
        n_features = self.n_features_in_
        return [
            " and ".join(
                f"x{c % n_features} {'>' if value else '<='} {self._thresholds[c // n_features, c % n_features]:g}"
                for c, value in rule
            )
            + f" => {self.classes_[sign]}"
            for rule, sign in signed
        ]

    def _items(self, X: Array) -> Bools:
        """Return the binary items x_j > threshold, column q · n_features + j for threshold q."""
        items: Bools = (X[:, None, :] > self._thresholds).reshape(len(X), -1)
        return items

    def _mine(self, items: Bools, positive: Bools, seed: int) -> list[Items]:
        """Return the paths of shallow trees; a tree splits alike for either sign, so both signs share them."""
        forest = ExtraTreesClassifier(
            self.n_trees, max_depth=self.max_length, max_features=0.5, bootstrap=True, random_state=seed
        ).fit(items, positive)
        return sorted({rule for tree in forest.estimators_ for rule in tree_paths(tree)})

    def _candidates(self, rules: list[Items], covers: Bools, truth: Bools) -> Candidates:
        """Return the most precise rules for the rows that are `truth`, at most `n_rules`."""
        hits, sizes = (covers & truth).sum(axis=1), covers.sum(axis=1)
        precision = hits / np.maximum(sizes, 1)
        good = np.flatnonzero((hits >= self.support / 100 * truth.sum()) & (hits > 0) & (precision > truth.mean()))
        best = good[np.lexsort((-hits[good], -precision[good]))][: self.n_rules]
        return Candidates([rules[i] for i in best], covers[best], precision[best])


def out_of_bag_classes(forest: RandomForestClassifier, X: Array, codes: NDArray[np.intp]) -> NDArray[np.intp]:
    """Fit the forest; return each row's class by the trees that did not see it, or by all where all saw it."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        forest.fit(X, codes)
    votes = forest.oob_decision_function_
    seen = ~np.isfinite(votes).all(axis=1)
    votes[seen] = forest.predict_proba(X[seen]) if seen.any() else votes[seen]
    return np.asarray(votes.argmax(axis=1))


def tree_paths(tree: DecisionTreeClassifier) -> Iterator[Items]:
    """Yield the conditions on the way to every node of a tree on binary columns but its root."""
    nodes = tree.tree_
    pending: list[tuple[int, dict[int, bool]]] = [(0, {})]
    while pending:
        node, way = pending.pop()
        if way:
            yield tuple(sorted(way.items()))
        if nodes.children_left[node] != nodes.children_right[node]:
            column = int(nodes.feature[node])
            pending.append((nodes.children_left[node], way | {column: False}))
            pending.append((nodes.children_right[node], way | {column: True}))


def covered(rules: list[Items], items: Bools) -> Bools:
    """Say which rows each rule covers, shape (n_rules, n)."""
    covered = np.ones((len(rules), len(items)), dtype=bool)
    for covers, rule in zip(covered, rules, strict=True):
        for column, value in rule:
            covers &= items[:, column] == value
    return covered


Chosen = tuple[frozenset[int], frozenset[int]]
"""Indices of the chosen positive and negative candidates."""


class Annealing:
    """Simulated annealing over sets of candidate rules."""

    def __init__(
        self,
        positive: Candidates,
        negative: Candidates,
        truth: Bools,
        black_box: Bools,
        alpha: float,
        beta: float,
        random: np.random.RandomState,
    ) -> None:
        self.sides = (positive, negative)
        self.truth, self.black_box = truth, black_box
        self.alpha, self.beta, self.random = alpha, beta, random

    def run(self, n_steps: int) -> Chosen:
        """Return the best sets found; in the last quarter every step starts from the best so far."""
        current = self._start()
        cost = self.cost(current)
        best, least = current, cost
        for step in range(n_steps):
            if step >= 0.75 * n_steps:
                current, cost = best, least
            proposed = self._neighbour(current)
            new = self.cost(proposed)
            if new < least:
                best, least = proposed, new
            if new <= cost or self.random.uniform() < np.exp((cost - new) / 0.01 ** (step / n_steps)):
                current, cost = proposed, new
        return best

    def decided(self, chosen: Chosen) -> tuple[Bools, Bools]:
        """Say which rows the rules decide, and which rows are predicted positive."""
        plus, minus = (
            np.asarray(side.covers[sorted(picked)].any(axis=0)) for side, picked in zip(self.sides, chosen, strict=True)
        )
        return plus | minus, plus | (self.black_box & ~minus)

    def cost(self, chosen: Chosen) -> float:
        """Return error + α · rules + β · share left to the black box."""
        by_rules, predicted = self.decided(chosen)
        n_rules = len(chosen[0]) + len(chosen[1])
        return float((predicted != self.truth).mean() + self.alpha * n_rules + self.beta * (1 - by_rules.mean()))

    def _start(self) -> Chosen:
        picked = [frozenset(self.random.permutation(len(side.rules))[:START].tolist()) for side in self.sides]
        return picked[0], picked[1]

    def _neighbour(self, chosen: Chosen) -> Chosen:
        """Repair a random error, or cut the least precise rule, or add the best one."""
        by_rules, predicted = self.decided(chosen)
        wrong = np.flatnonzero(predicted != self.truth)
        if len(wrong) and self.random.uniform() < 2 / 3:
            row = int(self.random.choice(wrong))
            repaired = self._repair_rule(chosen, row) if by_rules[row] else self._add(chosen, row)
            if repaired != chosen:
                return repaired
        return self._cut_least_precise(chosen) if self.random.uniform() < 0.5 else self._add_best(chosen)

    def _repair_rule(self, chosen: Chosen, row: int) -> Chosen:
        """Cut a rule of the wrong sign that covers the row, or swap it for another that does not."""
        sign = 1 if self.truth[row] else 0
        covers = self.sides[sign].covers
        guilty = [i for i in chosen[sign] if covers[i, row]]
        if not guilty:
            return chosen
        rules = chosen[sign] - {int(self.random.choice(guilty))}
        harmless = np.flatnonzero(~covers[:, row])
        if len(harmless) and self.random.uniform() < 0.5:
            rules |= {int(self.random.choice(harmless))}
        return (rules, chosen[1]) if sign == 0 else (chosen[0], rules)

    def _add(self, chosen: Chosen, row: int) -> Chosen:
        """Add a rule of the row's class that covers it."""
        sign = 0 if self.truth[row] else 1
        useful = [int(i) for i in np.flatnonzero(self.sides[sign].covers[:, row]) if int(i) not in chosen[sign]]
        if not useful:
            return chosen
        rules = chosen[sign] | {int(self.random.choice(useful))}
        return (rules, chosen[1]) if sign == 0 else (chosen[0], rules)

    def _cut_least_precise(self, chosen: Chosen) -> Chosen:
        known = [(self.sides[sign].precision[i], sign, i) for sign in (0, 1) for i in chosen[sign]]
        if not known:
            return chosen
        _, sign, index = min(known)
        rules = chosen[sign] - {index}
        return (rules, chosen[1]) if sign == 0 else (chosen[0], rules)

    def _add_best(self, chosen: Chosen) -> Chosen:
        """Add the rule of a random sign that lowers the cost most, of a sample of candidates."""
        sign = int(self.random.randint(2))
        free = np.array(sorted(set(range(len(self.sides[sign].rules))) - chosen[sign]), dtype=np.intp)
        if not len(free):
            return chosen
        sample = self.random.permutation(free)[:20].tolist()
        proposals: list[Chosen] = [
            (chosen[0] | {i}, chosen[1]) if sign == 0 else (chosen[0], chosen[1] | {i}) for i in sample
        ]
        return min(proposals, key=self.cost)
