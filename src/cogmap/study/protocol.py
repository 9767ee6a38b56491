"""One fold of the study: tune by an inner grid search, fit the chosen configuration, score it, time it.

Outer folds are stratified, shuffled with a fixed seed, and the same for every classifier. Scores are Cohen's kappa and
accuracy of the outer test rows; the inner search maximises kappa. Classes with fewer rows than outer folds are left
out, as in the paper.

``grid="authors"`` is the protocol of the authors' notebook: the file scaled first, and inner folds that are neither
shuffled nor stratified.

Easy to get wrong: features are scaled to [0, 1] inside the fold (``scale="fold"``); the paper scales the whole file
before it splits (``scale="file"``), which shows a little of the test rows to the training. And a training time is that
of one fit of the chosen configuration, never of the search.
"""

import ast
import json
import time
import warnings
from collections import Counter
from dataclasses import astuple, dataclass
from functools import lru_cache, partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score, cohen_kappa_score, make_scorer
from sklearn.model_selection import GridSearchCV, KFold, ParameterGrid, StratifiedKFold, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler

from ..core.types import Array
from .datasets import Dataset, load
from .registry import GRIDS, Entry, Shape, find

N_FOLDS = 5
SHUFFLING, N_SHUFFLES = ("shuffle", "by"), 5
"""Entries of a configuration that are about test rows: which features to shuffle, by which kind of relevance."""
WHOLE = "all"
"""Fold name of the row that holds the training time on the whole dataset."""


@dataclass(frozen=True)
class Task:
    """What identifies a result: its row's key, in the order of the columns.

    `grid` is one of `GRIDS`, or one configuration such as ``"phi=0.8,max_iter=20"``, which is not searched.
    """

    dataset: str
    classifier: str
    grid: str
    inner: int
    scale: Literal["fold", "file"]
    seed: int
    fold: str

    @property
    def group(self) -> tuple[Any, ...]:
        """The key without the fold."""
        return astuple(self)[:-1]


Row = dict[str, Any]
KEY = ("dataset", "classifier", "grid", "inner", "scale", "seed", "fold")
COLUMNS = (*KEY, "kappa", "accuracy", "fit_seconds", "cpu_seconds", "search_seconds", "params", "error")


@lru_cache(maxsize=2)
def _problem(name: str, data_dir: str | None, scale: str) -> Dataset:
    dataset = load(name, data_dir).without_rare(N_FOLDS)
    if scale == "file":
        dataset = Dataset(
            dataset.name, MinMaxScaler().fit_transform(dataset.X), dataset.y, dataset.classes, dataset.source
        )
    return dataset


def evaluate(task: Task, data_dir: str | None = None) -> Row:
    """Tune, fit and score one fold; return its row, without an error."""
    data = _problem(task.dataset, data_dir, task.scale)
    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=task.seed).split(data.X, data.y)
    train, test = list(folds)[int(task.fold)]
    model = pipeline(find(task.classifier), task, shape_of(data.X[train], data.y[train]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.perf_counter()
        params = chosen(model, task, data.X[train], data.y[train])
        searched = time.perf_counter() - start
        own = {name: value for name, value in params.items() if name not in SHUFFLING}
        times = timed_fit(model.set_params(**_prefixed(own)), data.X[train], data.y[train])
        tests = shuffled(model, data.X[test], params["by"], params["shuffle"]) if "by" in params else [data.X[test]]
        predicted = [model.predict(rows) for rows in tests]
    return {
        "kappa": float(np.mean([cohen_kappa_score(data.y[test], classes) for classes in predicted])),
        "accuracy": float(np.mean([accuracy_score(data.y[test], classes) for classes in predicted])),
        **times,
        "search_seconds": searched,
        "params": json.dumps(params, sort_keys=True, default=_plain),
    }


def shuffled(model: Pipeline, X: Array, kind: str, which: str) -> list[Array]:
    """Return five copies of rows in which the quarter of the features that is most, or least, relevant is shuffled."""
    order = np.argsort(-model["model"].relevance(kind=kind), kind="stable")
    n = max(1, len(order) // 4)
    features = order[:n] if which == "most" else order[-n:]
    copies = [X.copy() for _ in range(N_SHUFFLES)]
    for seed, copy in enumerate(copies):
        copy[:, features] = np.random.default_rng(seed).permutation(X[:, features])
    return copies


def time_whole(task: Task, params: str, data_dir: str | None = None) -> Row:
    """Time one fit of a configuration on the whole dataset, as the paper does."""
    data = _problem(task.dataset, data_dir, task.scale)
    model = pipeline(find(task.classifier), task, shape_of(data.X, data.y))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        times = timed_fit(model.set_params(**_prefixed(json.loads(params))), data.X, data.y)
    return {**times, "params": params}


def usual(params: list[str]) -> str:
    """Return the configuration that most folds chose, the first of them among equals."""
    return Counter(params).most_common(1)[0][0]


def pipeline(entry: Entry, task: Task, shape: Shape) -> Pipeline:
    """Return the unfitted classifier behind its scaling.

    After scaling the whole file, a network whose own scaling is min-max takes the data as it is. The authors' code runs
    all iterations, without a stop at the fixed point.
    """
    model = entry.make(shape)
    if task.grid == "authors":
        model.set_params(tol=0.0)
    if task.scale == "file":
        if model.get_params().get("scaling") == "minmax":
            model.set_params(scaling=None)
        return Pipeline([("scale", "passthrough"), ("model", model)])
    return Pipeline([("scale", MinMaxScaler()), ("model", model)])


def chosen(model: Pipeline, task: Task, X: Array, y: Any) -> dict[str, Any]:
    """Return the parameters with the largest inner kappa; the given ones where there is nothing to search."""
    if task.grid not in GRIDS:
        return fixed(task.grid)
    candidates: list[dict[str, Any]] = list(ParameterGrid(find(task.classifier).grid(task.grid, shape_of(X, y))))
    if len(candidates) == 1:
        return dict(candidates[0])
    if task.grid == "authors":
        return notebook_choice(model, candidates, KFold(task.inner), X, y)
    folds = StratifiedKFold(task.inner, shuffle=True, random_state=task.seed)
    search = _search(model, candidates, make_scorer(cohen_kappa_score), folds, X, y)
    if np.isnan(search.cv_results_["mean_test_score"]).all():
        raise ValueError("no configuration of the grid could be scored")
    return candidates[int(search.best_index_)]


def _search(
    model: Pipeline, candidates: list[dict[str, Any]], scoring: Any, folds: Any, X: Array, y: Any
) -> GridSearchCV:
    grids = [{name: [value] for name, value in _prefixed(params).items()} for params in candidates]
    return GridSearchCV(model, grids, scoring=scoring, cv=folds, refit=False).fit(X, y)


def notebook_choice(
    model: Pipeline, candidates: list[dict[str, Any]], folds: KFold, X: Array, y: NDArray[np.intp]
) -> dict[str, Any]:
    """Return what the authors' search finds; the first by T, activation and φ among equals, or if none has a kappa.

    It gets the one-hot target, for which scikit-learn's folds are plain. Where a fold's training rows have one class,
    all others are among its test rows, and a constant answer has kappa 0 there; every other fold's test rows have one
    class, and a kappa of 0, or none if all are right. Nothing can be above 0: the first that has each kappa is it.
    """
    candidates = sorted(candidates, key=lambda params: (params["max_iter"], params["activation"], params["phi"]))
    scoring = partial(notebook_kappa, len(np.unique(y)))
    usable = [(train, test) for train, test in folds.split(X) if len(np.unique(y[train])) > 1]
    if len(usable) == folds.get_n_splits():
        return candidates[int(_search(model, candidates, scoring, folds, X, y).best_index_)]
    for params in candidates:
        scores = cross_val_score(model.set_params(**_prefixed(params)), X, y, scoring=scoring, cv=usable)
        if not np.isnan(scores).any():
            return params
    return candidates[0]


def notebook_kappa(n_classes: int, model: Pipeline, X: Array, y: NDArray[np.intp]) -> float:
    """Return kappa as the authors' search sees it, of codes 0 … n_classes − 1.

    Their network has a decision neuron for every class, also for those that its training rows lack: it says 0, and wins
    where the others say less.
    """
    network = model["model"]
    path = network.trajectory(model["scale"].transform(X) if model["scale"] != "passthrough" else X)
    raw = np.einsum("ntm,tmc->nc", path, network.outer_weights_) + network.outer_bias_
    scores = np.full((len(raw), n_classes), network.fitted_.members[0][0].network.activation.inverse(np.zeros(1)))
    scores[:, network.classes_] = raw
    return float(cohen_kappa_score(y, scores.argmax(axis=1)))


def timed_fit(model: Pipeline, X: Array, y: Any) -> dict[str, float]:
    """Fit; return the seconds that it took, and those of the processor, which hold on a busy machine too."""
    start, start_cpu = time.perf_counter(), time.process_time()
    model.fit(X, y)
    return {"fit_seconds": time.perf_counter() - start, "cpu_seconds": time.process_time() - start_cpu}


def shape_of(X: Array, y: Any) -> Shape:
    """Return rows, features and classes of a training set."""
    return Shape(len(X), X.shape[1], len(np.unique(y)))


def fixed(text: str) -> dict[str, Any]:
    """Read one configuration: "phi=0.8,readout=final" → {"phi": 0.8, "readout": "final"}."""
    if text == "default":
        return {}
    pairs = [part.partition("=") for part in text.split(",")]
    if not all(separator for _, separator, _ in pairs):
        raise ValueError(f"The grid {text!r} is none of {', '.join(GRIDS)} and default, nor like 'phi=0.8,max_iter=5'.")
    return {name.strip(): _value(value.strip()) for name, _, value in pairs}


def _value(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def _prefixed(params: dict[str, Any]) -> dict[str, Any]:
    return {f"model__{name}": value for name, value in params.items()}


def _plain(value: Any) -> Any:
    """Turn numpy's numbers into Python's, for JSON."""
    return value.item()
