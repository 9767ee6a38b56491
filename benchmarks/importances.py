"""Importances of features by the methods that `faithfulness.py` compares: one number for each feature, larger first.

The three kinds of relevance, permutation importance and SHAP explain the same fitted `LTCNClassifier()`. EBM explains
itself. Permutation importance has the held-out rows, as its users advise; the others have the training rows.

Easy to get wrong: EBM's interactions belong to features too; each feature of a pair gets half of the pair's importance.
"""

import warnings

import numpy as np
from sklearn.inspection import permutation_importance

from cogmap import LTCNClassifier, UnreliableRelevanceWarning

N_EXPLAINED, N_BACKGROUND, N_SAMPLES = 20, 10, 200
"""Rows that KernelExplainer explains, those it compares them with, and the most coalitions a row: it is slow."""

EBM = {"outer_bags": 2, "interactions": 3, "learning_rate": 0.05}
"""Fewer bags and pairs, and larger steps, than by default: about 40 times cheaper."""

NETWORK = ("paper", "model", "data", "permutation", "SHAP")
METHODS = (*NETWORK, "EBM")


def network_importances(method, X, y, X_test, y_test, seed):
    """Fit the network to the training rows; return the importances by one of `NETWORK`."""
    model = LTCNClassifier().fit(X, y)
    if method == "permutation":
        return permutation_importance(
            model, X_test[:500], y_test[:500], n_repeats=5, random_state=seed
        ).importances_mean
    if method == "SHAP":
        return shap_importances(model, X, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnreliableRelevanceWarning)
        return model.relevance(X, kind=method)


def shap_importances(model, X, seed):
    """Return mean absolute SHAP values over some rows and all classes."""
    import shap

    order = np.random.default_rng(seed).permutation(len(X))
    rows, background = X[order[:N_EXPLAINED]], X[order[-N_BACKGROUND:]]
    explainer = shap.KernelExplainer(model.decision_function, background)
    n_samples = min(N_SAMPLES, 2 ** X.shape[1])
    np.random.seed(seed)  # noqa: NPY002 — KernelExplainer draws from the global state
    values = np.abs(explainer.shap_values(rows, nsamples=n_samples, l1_reg=False, silent=True))
    return values.reshape(len(rows), X.shape[1], -1).mean(axis=(0, 2))


def ebm_importances(X, y, seed):
    """Fit an explainable boosting machine; return its importances, those of pairs divided between their features."""
    from interpret.glassbox import ExplainableBoostingClassifier

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pairs = 0 if len(np.unique(y)) > 2 else EBM["interactions"]
        model = ExplainableBoostingClassifier(n_jobs=1, random_state=seed, **(EBM | {"interactions": pairs})).fit(X, y)
    found = np.zeros(X.shape[1])
    for features, importance in zip(model.term_features_, model.term_importances(), strict=True):
        found[list(features)] += importance / len(features)
    return found


def importances(method, X, y, X_test, y_test, seed=0):
    """Return the importances by one of `METHODS`, shape (n_features,)."""
    if method == "EBM":
        return ebm_importances(X, y, seed)
    return network_importances(method, X, y, X_test, y_test, seed)
