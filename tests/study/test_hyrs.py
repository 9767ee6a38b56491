import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import check_random_state
from sklearn.utils.estimator_checks import parametrize_with_checks

from cogmap.study.hyrs import Annealing, Candidates, HybridRuleSetClassifier, covered, out_of_bag_classes, tree_paths


@pytest.fixture(scope="module")
def split():
    return train_test_split(*load_breast_cancer(return_X_y=True), random_state=0)


@pytest.fixture(scope="module")
def fitted(split):
    return HybridRuleSetClassifier(n_steps=200).fit(split[0], split[2])


def rule_in_words_holds(text, X):
    """Read a rule back from its words."""
    covers = np.ones(len(X), dtype=bool)
    for part in text.split(" => ")[0].split(" and "):
        name, sign, bound = part.split()
        values = X[:, int(name[1:])]
        covers &= values > float(bound) if sign == ">" else values <= float(bound)
    return covers


def test_predicts_by_positive_rules_then_negative_rules_then_the_forest(fitted, split):
    X = split[1]
    expected = fitted.black_box_.predict(X)
    for text in reversed(fitted.describe()):
        # Printed bounds have six digits, so rows on a bound may fall on either side; none does here.
        expected = np.where(rule_in_words_holds(text, X), int(text.split(" => ")[1]), expected)
    assert (fitted.predict(X) == expected).mean() > 0.99


def test_rules_decide_most_rows_and_classify(fitted, split):
    assert fitted.transparency_ > 0.5
    assert fitted.score(split[1], split[3]) > 0.88


def test_candidates_have_support_precision_and_length(split):
    X, y = split[0], split[2]
    model = HybridRuleSetClassifier(max_length=2, support=10, n_rules=50, n_steps=0).fit(X, y)
    items = model._items(X)
    rules = model._mine(items, y == 1, seed=1)
    mined = model._candidates(rules, covered(rules, items), y == 1)
    assert 0 < len(mined.rules) <= 50
    for rule, covers, precision in zip(mined.rules, mined.covers, mined.precision, strict=True):
        assert len(rule) <= 2
        assert (covers & (y == 1)).sum() >= 0.1 * (y == 1).sum()
        assert precision == pytest.approx(y[covers].mean())
        assert precision > y.mean()


def small_annealing(alpha=0.01, beta=0.2):
    truth = np.array([1, 1, 1, 0, 0, 0], dtype=bool)
    covers = np.array([[1, 1, 0, 0, 0, 0], [1, 1, 1, 1, 0, 0]], dtype=bool)
    positive = Candidates([((0, True),), ((1, True),)], covers, np.array([1.0, 0.75]))
    negative = Candidates([((2, True),)], np.array([[0, 0, 0, 0, 1, 1]], dtype=bool), np.array([1.0]))
    return Annealing(positive, negative, truth, np.zeros(6, dtype=bool), alpha, beta, check_random_state(0))


def test_the_cost_is_error_rules_and_what_is_left_to_the_black_box():
    search = small_annealing()
    # Rows 0, 1 by the positive rule; 4, 5 by the negative one; 2 and 3 by the black box, which says negative.
    assert search.cost((frozenset({0}), frozenset({0}))) == pytest.approx(1 / 6 + 0.01 * 2 + 0.2 * 2 / 6)
    assert search.cost((frozenset({1}), frozenset())) == pytest.approx(1 / 6 + 0.01 + 0.2 * 2 / 6)
    assert search.cost((frozenset(), frozenset())) == pytest.approx(3 / 6 + 0.2)


def test_annealing_finds_the_best_of_all_sets():
    search = small_annealing()
    subsets = [frozenset(), frozenset({0}), frozenset({1}), frozenset({0, 1})]
    least = min(search.cost((p, n)) for p in subsets for n in (frozenset(), frozenset({0})))
    assert search.cost(search.run(300)) == pytest.approx(least)


def test_paths_of_a_tree_cover_what_its_nodes_hold(rng):
    items = rng.integers(0, 2, (80, 5)).astype(bool)
    tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(items, items[:, 0] ^ items[:, 2])
    rules = list(tree_paths(tree))
    assert len(rules) == tree.tree_.node_count - 1
    sizes = sorted(covered(rules, items).sum(axis=1).tolist())
    expected = sorted(np.asarray(tree.decision_path(items).sum(axis=0)).ravel().tolist()[1:])
    assert sizes == expected


def test_the_black_box_is_judged_out_of_bag(rng):
    X, y = rng.normal(size=(200, 3)), rng.integers(0, 2, 200)
    forest = RandomForestClassifier(50, oob_score=True, random_state=0)
    votes = out_of_bag_classes(forest, X, y)
    assert (votes == y).mean() < 0.65 < forest.score(X, y)


def test_more_than_two_classes_are_refused():
    with pytest.raises(ValueError, match="3 classes"):
        HybridRuleSetClassifier().fit(np.eye(3), [0, 1, 2])


@parametrize_with_checks([HybridRuleSetClassifier(n_steps=10, n_rules=20, n_trees=5)])
def test_scikit_learn_conformance(estimator, check):
    check(estimator)
