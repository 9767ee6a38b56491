import pickle

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.utils.estimator_checks import check_estimator

from cogmap.study import ripper
from cogmap.study.ripper import RipperClassifier, Rule, instances, java_missing, trained_jrip

needs_java = pytest.mark.skipif(java_missing() is not None, reason=f"RIPPER: {java_missing()}")


def test_a_rule_covers_rows_that_meet_every_condition():
    rule = Rule(((0, True, 1.0), (1, False, 2.0)), (0.25, 0.75))
    assert rule.covers(np.array([[1, 2], [0.9, 2], [1, 2.1]])).tolist() == [True, False, False]
    assert str(rule) == "x0 >= 1 and x1 <= 2 => class 1"
    assert Rule((), (1.0, 0.0)).covers(np.zeros((2, 1))).all()


def test_without_java_the_error_says_so(monkeypatch):
    monkeypatch.setattr(ripper, "java_missing", lambda: "there is no Java")
    with pytest.raises(ImportError, match="there is no Java"):
        RipperClassifier().fit([[0.0], [1.0]], [0, 1])


@needs_java
@pytest.mark.parametrize("loader", [load_iris, load_wine])
def test_predicts_what_weka_predicts(loader):
    X, y = loader(return_X_y=True)
    y = (y + 1) % 3  # the classes' order is not that of their sizes
    model = RipperClassifier(folds=4, min_weight=3.0, optimizations=1, seed=7).fit(X[::2], y[::2])
    options = ["-F", "4", "-N", "3.0", "-O", "1", "-S", "7"]
    jrip = trained_jrip(instances(X[::2], y[::2], 3), options)
    theirs = [list(jrip.distributionForInstance(row)) for row in instances(X, y, 3)]
    np.testing.assert_allclose(model.predict_proba(X), theirs)
    np.testing.assert_array_equal(model.predict(X), np.argmax(theirs, axis=1))


@needs_java
def test_keeps_its_rules_without_java():
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = RipperClassifier().fit(X, y)
    assert model.rules_[-1].conditions == ()
    assert (pickle.loads(pickle.dumps(model)).predict(X) == model.predict(X)).all()


@needs_java
def test_scikit_learn_conformance():
    check_estimator(RipperClassifier(), on_skip=None)
