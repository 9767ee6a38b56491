import numpy as np
import pytest

from cogmap import LTCNClassifier
from cogmap.explain.evidence import attribute, bonds, n_other_rows, single_features


def collinear(n=300):
    """Three independent features, and two that are nearly the negative of the third."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    return np.c_[X, -X[:, [2, 2]] + 0.05 * rng.normal(size=(n, 2))], (X @ [2.0, 1.0, 0.5] > 0).astype(int)


@pytest.fixture(scope="module")
def model():
    return LTCNClassifier(max_iter=3).fit(*collinear()).fitted_


@pytest.mark.parametrize(("n_features", "n_rows"), [(0, 32), (1, 32), (64, 32), (128, 16), (300, 6), (5000, 4)])
def test_many_features_are_compared_with_fewer_rows(n_features, n_rows):
    assert n_other_rows(n_features) == n_rows
    assert n_rows == 4 or 2 * n_rows * n_features <= 4096


def test_nearly_collinear_features_are_bound_whatever_their_sign(model):
    assert [bond.tolist() for bond in bonds(model, single_features(model))] == [[0], [1], [2, 3, 4]]
    groups = [np.array([0, 4]), np.array([1]), np.array([2, 3])]
    assert [bond.tolist() for bond in bonds(model, groups)] == [[0, 2], [1]]
    assert bonds(model, []) == []


def test_no_features_are_bound_where_they_are_too_many(model, monkeypatch):
    monkeypatch.setattr("cogmap.explain.evidence.MOST_BOUND", 4)
    assert [bond.tolist() for bond in bonds(model, single_features(model))] == [[j] for j in range(5)]


def test_features_that_are_bound_add_up_to_what_they_add_as_one(model):
    """Owen's value: together they are one player, whatever happens among them."""
    X, _ = collinear()
    directions = np.array([[-1.0], [1.0]])
    alone = attribute(model, X[:40], model.scores(X[:40]), directions, single_features(model), None)[0][:, :, 0]
    together = [np.array([0]), np.array([1]), np.array([2, 3, 4])]
    joint = attribute(model, X[:40], model.scores(X[:40]), directions, together, None)[0][:, :, 0]
    error = np.abs(np.c_[alone[:, :2], alone[:, 2:].sum(axis=1)] - joint).max()
    assert error < 0.05 * np.abs(joint).max()
