"""Evidence in words: what it is measured against, and the odds that it stands for.

Evidence for a class is the log-odds of that class (`core.decision.decision`). Text, tables, pictures, the
report and the command line take their words from here, so that all of them name the same quantity.

Easy to get wrong: evidence adds up, odds multiply. +0.7 twice is +1.4; 2 times as likely, twice, is 4 times as likely.
"""

from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..core.types import Array

LARGEST = 700.0
"""Evidence beyond which the odds are not told apart: e to this power is nearly the largest number there is."""

NOTICED = 1.05
"""Odds nearer to 1 than this are said to change hardly anything."""


def class_words(label: Any) -> str:
    """Return a class as a word of a sentence; a number gets one before it.

    >>> class_words("yes"), class_words(1)
    ('yes', 'class 1')
    """
    return f"class {label}" if isinstance(label, bool | np.bool_ | Real) else str(label)


def unit(label: Any, classes: Sequence[Any] | ArrayLike) -> str:
    """Say what the evidence for a class is measured in.

    >>> unit("yes", ["no", "yes"])
    'log-odds of yes against no'
    >>> unit(1, [0, 1])
    'log-odds of class 1 against class 0'
    >>> unit("A", ["A", "B", "C"])
    'log-odds of A against the average of all classes'
    """
    return f"log-odds of {class_words(label)} against {compared_with(label, classes)}"


def compared_with(label: Any, classes: Sequence[Any] | ArrayLike) -> str:
    """Say what a class is compared with: the other one, or all.

    >>> compared_with("yes", ["no", "yes"])
    'no'
    """
    labels = np.asarray(classes).tolist()
    if len(labels) > 2:
        return "the average of all classes"
    return class_words(labels[0] if label == labels[1] else labels[1])


def pair_name(one: str, other: str) -> str:
    """Name two concepts; what tells their network apart is said once.

    >>> pair_name("age", "hours"), pair_name("age [slopes]", "hours [slopes]")
    ('age and hours', 'age and hours [slopes]')
    """
    name, bracket, network = one.rpartition(" [")
    shared = bracket + network
    return f"{name} and {other}" if bracket and other.endswith(shared) else f"{one} and {other}"


def odds_factor(evidence: ArrayLike) -> Array:
    """Return what evidence multiplies the odds of its class by: e to its power.

    >>> odds_factor([0.0, 1.86]).round(1)
    array([1. , 6.4])
    """
    factor: Array = np.exp(np.clip(np.asarray(evidence, dtype=np.float64), -LARGEST, LARGEST))
    return factor


def odds_words(evidence: float, label: Any) -> str:
    """Say what evidence does to the odds of its class.

    >>> odds_words(1.86, "yes")
    'makes yes 6.4 times as likely'
    >>> odds_words(-1.1, "yes")
    'makes yes 3 times less likely'
    """
    factor = float(odds_factor(abs(evidence)))
    if factor < NOTICED:
        return f"hardly changes how likely {class_words(label)} is"
    return f"makes {class_words(label)} {times(factor)} times {'as' if evidence > 0 else 'less'} likely"


def times(factor: float) -> str:
    """Return how many times, as text.

    >>> times(6.42), times(3.0), times(85.7), times(1e9)
    ('6.4', '3', '86', 'more than 1,000')
    """
    if factor > 1000:
        return "more than 1,000"
    return f"{factor:.0f}" if factor >= 9.95 else f"{factor:.1f}".removesuffix(".0")


def signed(evidence: float) -> str:
    """Return evidence as text, to two decimals.

    >>> signed(1.857), signed(-0.0004), signed(357.2)
    ('+1.86', '-0.00', '+357.20')
    """
    return f"{evidence:+.2f}"
