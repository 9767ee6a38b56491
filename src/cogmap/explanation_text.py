"""One row's explanation as a paragraph: class, reasons, when in the reasoning it was decided, and what would change it.

Easy to get wrong: a score by itself means nothing, since adding the same to all classes changes no decision. Reasons
are therefore given for the margin of the predicted class over the runner-up.
"""

from numbers import Real
from typing import TYPE_CHECKING

import numpy as np

from .core.activation import Array

if TYPE_CHECKING:
    from .explain import Explanation


def paragraph(explanation: "Explanation", row: int, count: int) -> str:
    """See `Explanation.to_text`."""
    if not -len(explanation) <= row < len(explanation):
        raise IndexError(f"Row {row} is not there: the explanation has {len(explanation)} rows.")
    row = row % len(explanation)
    parts = [_verdict(explanation, row), *_reasons(explanation, row, count), _timing(explanation, row)]
    parts += [_gate(explanation, row), _dynamics(explanation, row), _flip(explanation, row)]
    return " ".join(part for part in parts if part)


def _verdict(explanation: "Explanation", row: int) -> str:
    estimator = explanation.estimator
    probability = estimator._probability(explanation.scores[row][None])[0]
    order = dict(zip(estimator.classes_.tolist(), probability.tolist(), strict=True))
    first, second = _labels(explanation, row)
    return (
        f"Row {explanation.index[row]} is classified as {first} with a probability of {_percent(order[first])}; "
        f"the next class is {second} with {_percent(order[second])}."
    )


def _percent(probability: float) -> str:
    if probability > 0.99:
        return "more than 99 %"
    return f"{100 * probability:.0f} %" if probability >= 0.01 else "less than 1 %"


def _labels(explanation: "Explanation", row: int) -> tuple[object, object]:
    return explanation.predicted[row : row + 1].tolist()[0], explanation.runner_up[row : row + 1].tolist()[0]


def _reasons(explanation: "Explanation", row: int, count: int) -> list[str]:
    first, second = _labels(explanation, row)
    direction = explanation._direction(first, second)
    values = explanation._attribute(np.array([row]), direction[:, None])[0][0, :, 0]
    margin = float(explanation.scores[row] @ direction)
    towards, against = (_named(explanation, row, sign * values, sign, count) for sign in (1, -1))
    compared = "a typical row" if explanation._is_typical else "the baseline"
    compared = "other rows" if explanation.baseline_values is None else compared
    return [
        f"Its score is {margin:.3g} above that of {second}.",
        f"Compared with {compared}, these speak for {first}: {towards}." if towards else "",
        f"These speak against it: {against}." if against else "",
    ]


def _named(explanation: "Explanation", row: int, values: Array, sign: int, count: int) -> str:
    """Name the features with the largest positive values, with what they are and what they add."""
    order = [j for j in np.argsort(-values, kind="stable")[:count] if values[j] > 0]
    names, own, baseline = explanation.feature_names, explanation.values[row], explanation.baseline_values
    parts = []
    for j in order:
        compared = "" if baseline is None else f" instead of {_written(baseline[j])}"
        parts.append(f"{names[j]} = {_written(own[j])}{compared} ({sign * values[j]:+.3g})")
    return _listed(parts)


def _written(value: object) -> str:
    """Return a value of a feature as text."""
    if value is None:
        return "missing"
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        return str(value)
    return f"{value:.4g}"


def _listed(items: list[str]) -> str:
    return items[0] if len(items) == 1 else ", ".join(items[:-1]) + " and " + items[-1] if items else ""


def _timing(explanation: "Explanation", row: int) -> str:
    """Say from which iteration on the margin keeps its sign, and what the iterations add to it."""
    first, second = _labels(explanation, row)
    direction = explanation._direction(first, second)
    steps = explanation.contributions(first, second)[row].sum(axis=1)
    base = sum(float(part.base @ direction) for part in explanation.splits)
    remembered = sum(float(part.cases[row] @ direction) for part in explanation.splits)
    behind = np.flatnonzero(base + remembered + np.cumsum(steps) <= 0)
    # Tied scores leave a margin of 0 to the end.
    decided = min(int(behind[-1]) + 1, len(steps) - 1) if len(behind) else 0
    cases = f", remembered training rows {remembered:+.3g}" if remembered else ""
    if decided == 0:
        when = "It is decided by the features themselves, before any iteration"
    else:
        when = f"It is decided from iteration {decided} of {len(steps) - 1} on"
    return (
        f"{when}: every row begins with {base:+.3g}, the features add {steps[0]:+.3g}, "
        f"the reasoning {steps[1:].sum():+.3g}{cases}."
    )


def _gate(explanation: "Explanation", row: int) -> str:
    stopped_at = explanation.stopped_at[row]
    stopped = [int(t) for t in stopped_at if t >= 0]
    if not stopped:
        return ""
    where = f"In {len(stopped)} of {len(stopped_at)} networks the" if len(stopped_at) > 1 else "The"
    return (
        f"{where} reasoning was ended before iteration {min(stopped)}, because the row lies outside what the training "
        "rows tell about."
    )


def _dynamics(explanation: "Explanation", row: int) -> str:
    period, reached = (int(values[row]) for values in (explanation.dynamics.period, explanation.dynamics.reached_at))
    if period == 1:
        return f"Its states reach a fixed point at iteration {reached}."
    if period > 1:
        return f"Its states enter a limit cycle of length {period} at iteration {reached}."
    return "Its states reach neither a fixed point nor a limit cycle within the iterations."


def _flip(explanation: "Explanation", row: int) -> str:
    flip = explanation._flips(np.array([row]))[0]
    if flip is None:
        return "No change of a single feature within the training range would change the class."
    name, value = explanation.feature_names[flip.feature], explanation.values[row, flip.feature]
    label = np.asarray([flip.label]).tolist()[0]
    return (
        f"The smallest change of one feature that changes the class is {name} from {_written(value)} to "
        f"{_written(flip.value)}, which makes it {label}."
    )
