"""The wrappers of pygam and LightGBM."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.model_selection import train_test_split

from cogmap.study.boosting import LightGBMClassifier
from cogmap.study.gam import GAMClassifier


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("fit_splines", [True, False])
def test_gam_is_pygams_logistic_model_of_written_out_terms(fit_splines):
    pygam = pytest.importorskip("pygam")
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, :3]
    labels = np.where(y == 1, "good", "bad")
    term = (lambda j: pygam.s(j, n_splines=6)) if fit_splines else pygam.l
    theirs = pygam.LogisticGAM(term(0) + term(1) + term(2)).fit(X, y)
    with_constant = np.column_stack([X[:, :1], np.ones(len(X)), X[:, 1:]])
    model = GAMClassifier(n_splines=6, fit_splines=fit_splines).fit(with_constant, labels)
    np.testing.assert_allclose(model.predict_proba(with_constant)[:, 1], theirs.predict_mu(X), atol=1e-6)
    assert set(model.predict(with_constant)) == {"good", "bad"}


def test_gam_refuses_three_classes():
    pytest.importorskip("pygam")
    with pytest.raises(ValueError, match="3 classes"):
        GAMClassifier().fit(*load_iris(return_X_y=True))


@pytest.mark.filterwarnings("ignore")
def test_lightgbm_stops_where_its_validation_rows_gain_no_more():
    lightgbm = pytest.importorskip("lightgbm")
    X, y = load_breast_cancer(return_X_y=True)
    names = np.array(["no", "yes"])[y]
    model = LightGBMClassifier(0.2, min_child_samples=10).fit(X, names)
    train, validation, y_train, y_validation = train_test_split(X, y, test_size=0.2, random_state=0, stratify=y)
    theirs = lightgbm.LGBMClassifier(
        n_estimators=model.model_.best_iteration_, min_child_samples=10, n_jobs=1, random_state=0, verbose=-1
    ).fit(train, y_train)
    assert model.model_.best_iteration_ < 200
    np.testing.assert_allclose(model.predict_proba(validation), theirs.predict_proba(validation))
    assert (model.predict(validation) == names[:0].dtype.type("yes")).mean() == pytest.approx(
        y_validation.mean(), abs=0.1
    )


@pytest.mark.filterwarnings("ignore")
def test_lightgbm_takes_more_classes_than_validation_rows(rng):
    pytest.importorskip("lightgbm")
    y = np.repeat(np.arange(20), 3)
    X = rng.normal(size=(60, 4)) + y[:, None]
    assert LightGBMClassifier().fit(X, y).predict_proba(X).shape == (60, 20)
