"""partial_fit against one fit of all rows, and against a naive ridge regression on the increments."""

from itertools import islice

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from cogmap import LTCNClassifier, RestartWarning
from cogmap.core.fit import batches as recursion
from cogmap.core.sums.space import NUMPY
from cogmap.core.trajectory.increments import Course, lockstep


@pytest.fixture
def rows(rng):
    X = rng.uniform(0.2, 0.8, size=(600, 3))
    return X, np.digitize(np.sin(5 * X[:, 0]) + X[:, 1] * X[:, 2] + rng.normal(size=600) / 4, [0.3, 0.9])


GIVEN = {"alpha": 0.5, "scaling": None, "inner": np.array([[0, 0.5, -0.4], [0.3, 0, 0.2], [0.1, -0.6, 0]]), "tol": 0.0}


@pytest.mark.parametrize("metric", ["kappa", "accuracy"])
def test_batches_with_one_mean_equal_one_fit_of_their_union(metric, rows, rng):
    """The first batch fixes the reference row, which is the mean; mirrored rows have the same one."""
    X, y = rows
    mirrored = 2 * X.mean(axis=0) - X
    other = rng.permutation(y)
    model = LTCNClassifier(**GIVEN, decision_metric=metric)
    batches = LTCNClassifier(**GIVEN, decision_metric=metric).partial_fit(X, y)
    for part in np.array_split(np.arange(600), 3):
        batches.partial_fit(mirrored[part], other[part])
    whole = model.fit(np.vstack([X, mirrored]), np.r_[y, other])
    scores = whole.decision_function(X)
    np.testing.assert_allclose(batches.decision_function(X), scores, atol=1e-8 * np.abs(scores).max())
    np.testing.assert_allclose(batches.outer_weights_, whole.outer_weights_, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(batches.predict_proba(X), whole.predict_proba(X), atol=1e-6)
    assert batches.class_count_.tolist() == whole.class_count_.tolist()
    assert batches.degrees_of_freedom_ == pytest.approx(whole.degrees_of_freedom_, rel=1e-9)
    assert batches.n_iter_ == whole.n_iter_


@pytest.mark.parametrize("weighted", [False, True])
def test_the_readout_is_a_ridge_on_the_increments_of_all_rows(weighted, rows, rng):
    X, y = rows
    weight = rng.uniform(0.5, 2, 600) if weighted else np.ones(600)
    clf = LTCNClassifier(alpha=0.3, max_iter=4, tol=0.0)
    for part in (slice(0, 100), slice(100, 130), slice(130, 600)):
        clf.partial_fit(X[part], y[part], classes=[0, 1, 2], sample_weight=weight[part] if weighted else None)
    model = clf.fitted_.members[0][0]
    initial = model.concepts(X)
    reference = np.average(model.concepts(X[:100]), axis=0, weights=weight[:100])
    walk = lockstep(Course(NUMPY, model.network, reference), initial)
    E = np.hstack([block.copy() for block, _ in islice(walk, 5)])
    mean = np.average(E, axis=0, weights=weight)
    Z = (E - mean) / np.sqrt(np.average((E - mean) ** 2, axis=0, weights=weight))
    target = model.network.activation.inverse(np.eye(3)[y])
    expected = Ridge(alpha=0.3, solver="svd").fit(Z, target, weight).predict(Z)
    np.testing.assert_allclose(model.raw(X), expected, atol=1e-8 * np.abs(expected).max())


def test_what_the_first_batch_fixes_stays(rows):
    X, y = rows
    clf = LTCNClassifier(alpha=1.0).partial_fit(X[:200], y[:200], classes=[0, 1, 2])
    W, n_iter, A = clf.inner_weights_, clf.n_iter_, clf.trajectory(X)
    clf.partial_fit(X[200:], y[200:])
    assert (clf.inner_weights_ == W).all()
    assert clf.n_iter_ == n_iter
    assert (clf.trajectory(X) == A).all()
    assert clf.score(X, y) > 0.6


def test_fit_begins_anew_and_so_does_partial_fit_after_it(rows):
    X, y = rows
    fresh = LTCNClassifier(alpha=1.0).partial_fit(X[300:], y[300:])
    clf = LTCNClassifier(alpha=1.0).partial_fit(X[:300], y[:300]).fit(X, y)
    assert (clf.decision_function(X) == LTCNClassifier(alpha=1.0).fit(X, y).decision_function(X)).all()
    with pytest.warns(RestartWarning, match="begins anew with these rows"):
        clf.partial_fit(X[300:], y[300:])
    assert (clf.decision_function(X) == fresh.decision_function(X)).all()


def test_a_decision_from_some_rows_is_near_that_from_all(rows, monkeypatch):
    X, y = rows
    y = np.where(X[:, 2] < 0.75, y, 2)
    judged = LTCNClassifier(alpha=1.0).partial_fit(X, y)
    monkeypatch.setattr(recursion, "BATCH_JUDGES", 300)
    some = LTCNClassifier(alpha=1.0).partial_fit(X, y)
    assert (some.outer_weights_ == judged.outer_weights_).all()
    assert (some.predict(X) == judged.predict(X)).mean() > 0.9
    np.testing.assert_allclose(some.predict_proba(X), judged.predict_proba(X), atol=0.2)
    assert (some.predict_proba(X) != judged.predict_proba(X)).any()


def test_a_class_without_rows_so_far_is_never_predicted(rows):
    X, y = rows
    first = y < 2
    clf = LTCNClassifier(alpha=1.0).partial_fit(X[first], y[first], classes=[0, 1, 2])
    assert set(clf.predict(X)) == {0, 1}
    clf.partial_fit(X[~first], y[~first])
    assert set(clf.predict(X)) == {0, 1, 2}


def test_what_partial_fit_refuses(rows):
    X, y = rows
    assert not hasattr(LTCNClassifier(), "partial_fit")
    assert not hasattr(LTCNClassifier(alpha=0.0), "partial_fit")
    with pytest.raises(ValueError, match="class 2, which was not there"):
        LTCNClassifier(alpha=1.0).partial_fit(X, y, classes=[0, 1])
    with pytest.raises(ValueError, match="balanced"):
        LTCNClassifier(alpha=1.0, class_weight="balanced").partial_fit(X, y)
    clf = LTCNClassifier(alpha=1.0).partial_fit(X, y)
    with pytest.raises(ValueError, match="2 features"):
        clf.partial_fit(X[:, :2], y)
    with pytest.raises(ValueError, match="constant in the first batch"):
        LTCNClassifier(alpha=1.0).partial_fit(np.ones((3, 2)), [0, 1, 0])
