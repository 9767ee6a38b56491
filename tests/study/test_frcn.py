import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import cohen_kappa_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.utils.estimator_checks import parametrize_with_checks

from cogmap.study.frcn import FRCNClassifier

IMPLICATORS = {
    "lukasiewicz": lambda a, b: min(1.0, 1 - a + b),
    "godel": lambda a, b: 1.0 if a <= b else b,
}
T_NORMS = {"lukasiewicz": lambda a, b: max(0.0, a + b - 1), "product": lambda a, b: a * b}


def naive_granules(s, mu, imply, t):
    """Return memberships by kind and class, from similarities and crisp memberships, row by row."""
    granules = {}
    for k in range(len(mu)):
        for i in range(len(s)):
            pos = min(mu[k][i], min(imply(s[i][j] * mu[k][i], mu[k][j]) for j in range(len(s))))
            up = max(mu[k][i], max(t(s[i][j], mu[k][j]) for j in range(len(s))))
            for kind, value in (("P", pos), ("N", 1 - up), ("B", up - pos)):
                granules.setdefault((kind, k), []).append(value)
    return granules


def naive_weight(kind, k, other, v, granules):
    """Return the weight from neuron (kind, k) to neuron (other, v)."""
    if kind in "PNB" and (kind, k) == (other, v):
        return 1.0
    if kind == "P" and other in "PD":
        return 1.0 if k == v else -1.0
    if kind == "N" and other == "D" and k == v:
        return -1.0
    return 0.5 if kind == "B" and other == "D" and any(granules["B", k]) and any(granules["B", v]) else 0.0


def naive(X, y, new, implicator, t_norm, distance, n_iter):
    """Return granules and classes by the five steps, written out row by row and neuron by neuron."""
    low, high = X.min(axis=0), X.max(axis=0)
    X, new = (X - low) / (high - low), np.clip((new - low) / (high - low), 0, 1)

    def s(a, b):
        difference = np.abs(a - b)
        return 1 - (difference.mean() if distance == "HMOM" else np.sqrt((difference**2).mean()))

    t, K = T_NORMS[t_norm], y.max() + 1
    mu = [[float(label == k) for label in y] for k in range(K)]
    granules = naive_granules([[s(a, b) for b in X] for a in X], mu, IMPLICATORS[implicator], t)
    names = [(kind, k) for kind in "PNBD" for k in range(K)]
    weight = np.array([[naive_weight(*a, *b, granules) for b in names] for a in names])
    classes = []
    for x in new:
        similar = [s(x, row) for row in X]
        started = [sum(map(t, similar, granules[name])) / (sum(granules[name]) or 1.0) for name in names[: 3 * K]]
        state = np.array(started + [0.0] * K)
        if not state[:K].any():
            classes.append(y[int(np.argmax(similar))])
            continue
        for _ in range(n_iter):
            state = 1 / (1 + np.exp(-5 * (state @ weight)))
        classes.append(int(np.argmax(state[3 * K :])))
    return granules, classes


@pytest.mark.parametrize("implicator", IMPLICATORS)
@pytest.mark.parametrize("t_norm", T_NORMS)
@pytest.mark.parametrize(("distance", "n_iter"), [("HMOM", 1), ("HEOM", 2)])
def test_equals_the_definition(implicator, t_norm, distance, n_iter, rng):
    X, y = rng.normal(size=(24, 3)), rng.integers(0, 3, 24)
    new = rng.normal(size=(15, 3))
    granules, classes = naive(X, y, new, implicator, t_norm, distance, n_iter)
    model = FRCNClassifier(implicator, t_norm, distance, n_iter).fit(X, y)
    for kind, found in (("P", model.positive_), ("N", model.negative_), ("B", model.boundary_)):
        np.testing.assert_allclose(found.T, [granules[kind, k] for k in range(3)], atol=1e-12)
    assert model.predict(new).tolist() == classes


def test_closed_forms_under_lukasiewicz(rng):
    X, y = rng.uniform(size=(30, 2)), np.repeat([0, 1], 15)
    X[:2] = [[0, 0], [1, 1]]
    model = FRCNClassifier().fit(X, y)
    distance = np.abs(X[:, None] - X).mean(axis=2)
    nearest_other = np.where(y[:, None] != y, distance, np.inf).min(axis=1)
    np.testing.assert_allclose(model.positive_[np.arange(30), y], nearest_other)
    np.testing.assert_allclose(1 - model.negative_[np.arange(30), 1 - y], 1 - nearest_other)


def test_godel_leaves_the_positive_granules_empty():
    X, y = load_iris(return_X_y=True)
    assert FRCNClassifier(implicator="godel").fit(X, y).empty_positive_ == 1
    assert FRCNClassifier().fit(X, y).empty_positive_ == 0


def test_many_iterations_collapse(paper_data):
    """The fixed point, the very problem that the paper names."""
    X, y = paper_data("vehicle")
    once, often = (cohen_kappa_score(y, FRCNClassifier(max_iter=n).fit(X, y).predict(X)) for n in (1, 50))
    assert once > 0.5
    assert often < 0.1


@pytest.mark.parametrize(
    ("name", "kappa"), [("vehicle", 0.606), ("yeast", 0.457), ("winequality-red", 0.471), ("segment", 0.962)]
)
def test_known_kappas(paper_data, name, kappa):
    """One iteration, HMOM, Łukasiewicz, five folds; measured before by another implementation on other folds."""
    X, y = paper_data(name)
    predicted = cross_val_predict(FRCNClassifier(), X, y, cv=StratifiedKFold(5, shuffle=True, random_state=42))
    assert cohen_kappa_score(y, predicted) == pytest.approx(kappa, abs=0.015)


def test_unknown_choice_is_named():
    with pytest.raises(ValueError, match="distance='euclid' is unknown"):
        FRCNClassifier(distance="euclid").fit([[0.0], [1.0]], [0, 1])


@parametrize_with_checks([FRCNClassifier()])
def test_scikit_learn_conformance(estimator, check):
    check(estimator)
