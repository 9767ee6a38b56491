"""One row's explanation as a paragraph: class, the evidence for it and its odds, and what would change the class.

Easy to get wrong: the numbers in the text must add up for a reader who checks. What is not named is therefore there as
one sum, and so is what other rows have.
"""

from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.fit.fitted import probabilities
from ..core.network.dynamics import exponent_words
from ..core.types import Array
from .words import NOTICED, class_words, compared_with, odds_factor, odds_words, signed, times

if TYPE_CHECKING:
    from .explanation import Explanation


def paragraph(explanation: "Explanation", row: int, count: int, details: bool) -> str:
    """See `Explanation.to_text`."""
    if not -len(explanation) <= row < len(explanation):
        raise IndexError(f"Row {row} is not there: the explanation has {len(explanation)} rows.")
    row = row % len(explanation)
    parts = [*verdict(explanation, row), *_reasons(explanation, row, count), _flip(explanation, row)]
    if details:
        parts += [_timing(explanation, row), _gate(explanation, row), _rest(explanation, row)]
    return " ".join(part for part in parts if part)


def verdict(explanation: "Explanation", row: int) -> list[str]:
    """Say which class a row has, how likely it is, and which is next."""
    probability = probabilities(explanation.scores[row][None])[0]
    likely = dict(zip(explanation.fitted.classes.tolist(), probability.tolist(), strict=True))
    first, second = labels(explanation, row)
    sentence = (
        f"Row {explanation.index[row]} is classified as {first} with a probability of {percent(likely[first])}; "
        f"the next class is {second} with {percent(likely[second])}."
    )
    if likely[second] <= likely[first]:
        return [sentence]
    return [sentence, f"It is {first} although {second} is more likely: decision_metric favours {first}."]


def percent(probability: float) -> str:
    """Return a probability as text."""
    if probability > 0.99:
        return "more than 99 %"
    return f"{100 * probability:.0f} %" if probability >= 0.01 else "less than 1 %"


def labels(explanation: "Explanation", row: int) -> tuple[Any, Any]:
    """Return the predicted class and the runner-up."""
    return explanation.predicted[row : row + 1].tolist()[0], explanation.runner_up[row : row + 1].tolist()[0]


def _reasons(explanation: "Explanation", row: int, count: int) -> list[str]:
    """Say what the evidence is in all, which features speak for the class and against it, and what the rest adds."""
    label, _ = labels(explanation, row)
    values, start = explanation.reasons(row)
    towards, against = (
        [j for j in np.argsort(-sign * values, kind="stable")[:count] if sign * values[j] > 0] for sign in (1, -1)
    )
    rest = np.setdiff1d(np.flatnonzero(values), [*towards, *against])
    total = start + float(values.sum())
    parts = [
        f"The evidence, in {explanation.unit(label)}, is {signed(total)} in all: {_in_all(explanation, row, total)}."
    ]
    if towards:
        parts.append(f"These speak for {class_words(label)}: {_named(explanation, row, values, towards)}.")
    if against:
        parts.append(f"These speak against it: {_named(explanation, row, values, against)}.")
    return [*parts, _remainder(explanation, start, values[rest])]


def _in_all(explanation: "Explanation", row: int, total: float) -> str:
    predicted, _ = labels(explanation, row)
    label, other = class_words(predicted), compared_with(predicted, explanation.fitted.classes)
    factor = float(odds_factor(abs(total)))
    if factor < NOTICED:
        return f"{label} is about as likely as {other}"
    return f"{label} is {times(factor)} times " + (
        f"as likely as {other}" if total > 0 else f"less likely than {other}"
    )


def _remainder(explanation: "Explanation", start: float, values: Array) -> str:
    """Say what is in the sum beside the features that were named."""
    compared = "other rows have" if explanation.baseline_values is None else "the row to compare with has"
    average = " on average" if explanation.baseline_values is None else ""
    sentence = f"Of the rest, {compared} {signed(start)}{average}"
    if len(values) == 0:
        return f"{sentence}."
    further = "1 further feature adds" if len(values) == 1 else f"{len(values)} further features add"
    return f"{sentence}, and {further} {signed(float(values.sum()))}."


def _named(explanation: "Explanation", row: int, values: Array, chosen: list[int]) -> str:
    """Name features, with what they are and what they add."""
    names, own, baseline = explanation.feature_names, explanation.values[row], explanation.baseline_values
    label, _ = labels(explanation, row)
    parts = []
    for j in chosen:
        compared = "" if baseline is None else f" instead of {written(baseline[j])}"
        parts.append(f"{names[j]} = {written(own[j])}{compared} ({signed(values[j])}, {odds_words(values[j], label)})")
    return parts[0] if len(parts) == 1 else ", ".join(parts[:-1]) + " and " + parts[-1]


def written(value: object) -> str:
    """Return a value of a feature as text."""
    if value is None:
        return "missing"
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        return str(value)
    number = float(value)
    return f"{number:,.0f}" if 1e4 <= abs(number) < 1e15 else f"{number:.4g}"


def _flip(explanation: "Explanation", row: int) -> str:
    flip = explanation.smallest_flips(np.array([row]))[0]
    if flip is None:
        return "No change of a single feature within the training range would change the class."
    name, value = explanation.feature_names[flip.feature], explanation.values[row, flip.feature]
    label = np.asarray([flip.label]).tolist()[0]
    return (
        f"The smallest change of one feature that changes the class is {name} from {written(value)} to "
        f"{written(flip.value)}, which makes it {label}."
    )


def _timing(explanation: "Explanation", row: int) -> str:
    """Say what the features themselves, the reasoning and remembered rows add, and when the class was decided."""
    first, second = labels(explanation, row)
    direction = explanation.direction(first)
    steps = explanation.contributions(first)[row].sum(axis=1)
    base = sum(float(part.base @ direction) for part in explanation.splits)
    remembered = sum(float(part.cases[row] @ direction) for part in explanation.splits)
    parts = [f"{signed(base)} for any row", f"{signed(steps[0])} from the features as they are"]
    if len(steps) > 1:
        parts.append(f"{signed(float(steps[1:].sum()))} from what the network concludes from them")
    if remembered:
        parts.append(f"{signed(remembered)} from training rows that it remembers")
    return f"How the evidence came about: {', '.join(parts)}. {_decided(explanation, row, first, second)}"


def _decided(explanation: "Explanation", row: int, first: Any, second: Any) -> str:
    """Say from which step of the reasoning on the class stays ahead of the next one."""
    direction = explanation.direction(first, second)
    steps = explanation.contributions(first, second)[row].sum(axis=1)
    start = sum(float((part.base + part.cases[row]) @ direction) for part in explanation.splits)
    behind = np.flatnonzero(start + np.cumsum(steps) <= 0)
    # Tied scores, and a class that is chosen although another is more likely, are behind to the end.
    decided = min(int(behind[-1]) + 1, len(steps) - 1) if len(behind) else 0
    first, second = class_words(first), class_words(second)
    if decided == 0:
        return f"In the reasoning {first} is ahead of {second} from the start."
    return f"In the reasoning {first} is ahead of {second} from step {decided} of {len(steps) - 1} on."


def _gate(explanation: "Explanation", row: int) -> str:
    stopped_at = explanation.stopped_at[row]
    stopped = [int(t) for t in stopped_at if t >= 0]
    if not stopped:
        return ""
    where = f"In {len(stopped)} of {len(stopped_at)} networks the" if len(stopped_at) > 1 else "The"
    return (
        f"{where} reasoning was ended before step {min(stopped)}, because the row is unlike the training rows in what "
        "would follow."
    )


def _rest(explanation: "Explanation", row: int) -> str:
    """Say whether the states of the concepts come to rest."""
    period, reached = (int(values[row]) for values in (explanation.dynamics.period, explanation.dynamics.reached_at))
    if period == 1:
        return f"The reasoning comes to rest after {reached} steps."
    if period > 1:
        return f"The reasoning ends in a circle of {period} states, which it enters at step {reached}."
    exponent = float(explanation.dynamics.exponent[row])
    why = "" if np.isnan(exponent) else f" ({exponent_words(exponent)})"
    return f"The reasoning does not come to rest within {explanation.fitted.longest} steps{why}."
