"""The paper's equations written as plainly as possible: loops, one lstsq for each regression."""

import numpy as np

from cogmap.core.network.activation import EPSILON


def f(z, activation):
    return 1 / (1 + np.exp(-z)) if activation == "sigmoid" else np.tanh(z)


def f_inverse(y, activation):
    if activation == "sigmoid":
        y = np.clip(y, EPSILON, 1 - EPSILON)
        return np.log(y / (1 - y))
    y = np.clip(y, -1 + 2 * EPSILON, 1 - 2 * EPSILON)
    return 0.5 * np.log((1 + y) / (1 - y))


def lstsq(A, y):
    return np.linalg.lstsq(A, y, rcond=1e-12)[0]


def regression_weights(X, activation):
    """One minimum-norm regression a concept, on centred columns so that the intercept is free."""
    n_concepts = X.shape[1]
    W, b = np.zeros((n_concepts, n_concepts)), np.zeros(n_concepts)
    for i in range(n_concepts):
        others = [j for j in range(n_concepts) if j != i]
        target = f_inverse(X[:, i], activation)
        L = X[:, others]
        W[others, i] = lstsq(L - L.mean(0), target - target.mean())
        b[i] = target.mean() - L.mean(0) @ W[others, i]
    return W, b


def slope_weights(X):
    n_concepts = X.shape[1]
    W = np.zeros((n_concepts, n_concepts))
    for i in range(n_concepts):
        for j in range(n_concepts):
            W[i, j] = np.cov(X[:, i], X[:, j], bias=True)[0, 1] / X[:, i].var()
    return W / np.sqrt((W**2).sum())


def states(X, W, b, phi, n_iter, activation, rule):
    found = [X]
    for _ in range(n_iter):
        A, following = found[-1], np.empty_like(X)
        for k in range(len(X)):
            for i in range(X.shape[1]):
                z = sum(A[k, j] * W[j, i] for j in range(X.shape[1]))
                if rule == "kosko":
                    following[k, i] = f(z, activation)
                elif rule == "kosko-memory":
                    following[k, i] = f(z + A[k, i], activation)
                else:
                    following[k, i] = phi * f(z + b[i], activation) + (1 - phi) * X[k, i]
        found.append(following)
    return found


def scores(X_train, y_codes, X_test, *, phi, n_iter, activation, inner):
    """Train and score as the paper says, on scaled data, without an early stop."""
    if inner == "regression":
        W, b = regression_weights(X_train, activation)
    else:
        W, b = slope_weights(X_train), np.zeros(X_train.shape[1])
    target = f_inverse(np.eye(y_codes.max() + 1)[y_codes], activation)
    H, H_test = (
        np.hstack([*states(X, W, b, phi, n_iter, activation, "quasi-nonlinear"), np.ones((len(X), 1))])
        for X in (X_train, X_test)
    )
    return H_test @ lstsq(H, target)
