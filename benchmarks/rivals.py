"""What cogmap is compared with, tuned as the authors of each would, inside the training rows only.

Each function takes a number of threads and returns a model with `fit`, `predict` and `predict_proba`. All see the same
numbers: codes of categories are numbers to every method, ours too. What each gets:

- LightGBM: trees of 7 to 127 leaves, of 5 or 20 rows at least (LEAVES), learning rate .05, and the number of rounds
  where the log loss of inner folds is least (at most 1,000; stopped after 50 without gain); refitted to all rows.
- LightGBM defaults: 31 leaves, 100 rounds, learning rate .1.
- CatBoost: its defaults, 1,000 rounds and a learning rate that it chooses itself, as its authors recommend.
- EBM: interpret's defaults, ten pairs included.
- random forest: 500 trees.
- SVM: rbf on min-max scaled features, C × gamma by five inner folds; its probabilities are Platt's, from inner folds.
- logistic regression: standardized features, C by five inner folds.
- xRFM: its defaults on standardized features; a fifth of the training rows is its validation part.

Easy to get wrong: some files are sorted by class, so that inner folds must be shuffled.
"""

from importlib.util import find_spec

import numpy as np
from joblib import parallel_config
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC

FOLDS = StratifiedKFold(5, shuffle=True, random_state=0)
MANY = 2000  # rows from which one inner split says as much as five did before, and large trees can grow
LEAVES = ((7, 5), (7, 20), (31, 5), (31, 20))  # leaves, and rows that each has at least
LARGE_LEAVES = (127, 20)
NEEDS = {
    "LightGBM": "lightgbm",
    "LightGBM defaults": "lightgbm",
    "CatBoost": "catboost",
    "EBM": "interpret",
    "xRFM": "xrfm",
}


def missing(method):
    """Return the package that a method needs and that is not installed, or None."""
    package = NEEDS.get(method)
    return package if package and find_spec(package) is None else None


class LightGBM:
    """LightGBM with the leaves and the number of rounds that inner folds choose."""

    def __init__(self, threads):
        self.fixed = {"learning_rate": 0.05, "n_jobs": threads, "verbose": -1, "random_state": 0}

    def fit(self, X, y):
        """Choose, then fit all rows."""
        from lightgbm import LGBMClassifier

        splits = list(FOLDS.split(X, y))[: 5 if len(X) < MANY else 1]
        sizes = LEAVES if len(X) < MANY else (*LEAVES, LARGE_LEAVES)
        _, rounds, best = min(self._curve(X, y, splits, *size) for size in sizes)
        leaves = {"num_leaves": best[0], "min_child_samples": best[1]}
        self.model = LGBMClassifier(n_estimators=rounds, **leaves, **self.fixed).fit(X, y)
        self.predict, self.predict_proba = self.model.predict, self.model.predict_proba
        return self

    def _curve(self, X, y, splits, leaves, rows):
        """Return the least log loss of the inner folds, the round it is at, and the sizes."""
        import lightgbm

        n_classes = int(y.max()) + 1
        task = {"objective": "binary"} if n_classes == 2 else {"objective": "multiclass", "num_class": n_classes}
        parameters = task | self.fixed | {"num_leaves": leaves, "min_child_samples": rows}
        data = lightgbm.Dataset(X, y, params={"verbose": -1, "min_child_samples": rows})
        stop = lightgbm.early_stopping(50, verbose=False)
        found = lightgbm.cv(parameters, data, 1000, folds=splits, callbacks=[stop])
        curve = next(values for key, values in found.items() if key.endswith("-mean"))
        return min(curve), 1 + int(np.argmin(curve)), (leaves, rows)


class SVM:
    """A support vector machine of the C and gamma that shuffled inner folds choose."""

    def __init__(self, threads):
        self.threads = threads

    def fit(self, X, y):
        """Search around scikit-learn's gamma, 1 / (features × variance)."""
        scaled = MinMaxScaler().fit_transform(X)
        gamma = 1 / max(scaled.var() * scaled.shape[1], 1e-9)
        grid = {"svc__C": [0.1, 1, 10, 100], "svc__gamma": [gamma / 16, gamma / 4, gamma, 4 * gamma]}
        search = GridSearchCV(make_pipeline(MinMaxScaler(), SVC()), grid, cv=FOLDS, n_jobs=self.threads)
        with parallel_config("threading"):
            search.fit(X, y)
        self.predict = search.predict
        folds = StratifiedKFold(min(5, np.bincount(y).min()), shuffle=True, random_state=0)
        platt = CalibratedClassifierCV(search.best_estimator_, cv=folds, ensemble=False)
        self.predict_proba = platt.fit(X, y).predict_proba
        return self


class XRFM:
    """xRFM as it comes."""

    def __init__(self, threads):
        self.threads = threads

    def fit(self, X, y):
        """Standardize; keep a fifth for its validation."""
        from xrfm import xRFM

        self.scaler = StandardScaler().fit(X)
        Z = self.scaler.transform(X).astype(np.float32)
        fitted, judged, y_fitted, y_judged = train_test_split(Z, y, test_size=0.2, stratify=y, random_state=0)
        self.model = xRFM(device="cpu", n_threads=self.threads, random_state=0, verbose=False)
        self.model.fit(fitted, y_fitted, judged, y_judged)
        return self

    def predict_proba(self, X):
        """Return probabilities in double precision."""
        found = np.asarray(self.model.predict_proba(self.scaler.transform(X).astype(np.float32)), dtype=np.float64)
        return found / found.sum(axis=1, keepdims=True)

    def predict(self, X):
        """Return the most probable class."""
        return self.predict_proba(X).argmax(axis=1)


def lightgbm_defaults(threads):
    """Return LightGBM as it comes."""
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_jobs=threads, verbose=-1, random_state=0)


def catboost(threads):
    """Return CatBoost as it comes."""
    from catboost import CatBoostClassifier

    return CatBoostClassifier(thread_count=threads, random_seed=0, verbose=0, allow_writing_files=False)


def ebm(threads):
    """Return InterpretML's explainable boosting machine as it comes."""
    from interpret.glassbox import ExplainableBoostingClassifier

    return ExplainableBoostingClassifier(n_jobs=threads, random_state=0)


def logistic_regression(_threads):
    """Return logistic regression of the C that inner folds choose; its threads are those of BLAS."""
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000))
    grid = {"logisticregression__C": [0.01, 0.1, 1, 10, 100]}
    return GridSearchCV(model, grid, cv=FOLDS)


def random_forest(threads):
    """Return a random forest."""
    return RandomForestClassifier(500, n_jobs=threads, random_state=0)


RIVALS = {
    "LightGBM": LightGBM,
    "LightGBM defaults": lightgbm_defaults,
    "random forest": random_forest,
    "CatBoost": catboost,
    "logistic regression": logistic_regression,
    "SVM": SVM,
    "xRFM": XRFM,
    "EBM": ebm,
}
