"""What if: some concepts are held at a value, the others settle, and the verdict says on what.

Every rule is the map of `core/network`, A ↦ φ f(A W + b) + (1 − φ) A⁰, with weights and bias of its own:

- ``"quasi-nonlinear"``: as it stands, with the φ given;
- ``"kosko"``: f(A W + b), that is φ = 1;
- ``"kosko-memory"``: f(A W + A + b), that is φ = 1 and W + I;
- ``"rescaled"``: f((2A − 1)(W + I) + b), that is φ = 1, 2 (W + I), and b less the column sums of W + I.

So is a clamp: held concepts are no longer reasoned about, and what they send is part of the bias of the others.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.network import activation as activations
from ..core.network.dynamics import FOLLOWED, exponent_words, follow, largest_exponent
from ..core.network.reasoning import Network, trajectory
from ..core.types import Array
from .cognitive_map import CognitiveMap
from .frames import data_frame
from .json_form import reasoning_of
from .learned import map_of, typical_state

if TYPE_CHECKING:
    from pandas import DataFrame

DEFAULTS: dict[str, Any] = {"rule": "kosko-memory", "activation": "sigmoid", "phi": 0.8, "slope": 1.0}
"""How a map reasons that does not say so."""

VERDICTS = ("neither", "fixed point", "cycle")

Start = Mapping[str, float] | Sequence[float] | Array


@dataclass(frozen=True, eq=False, repr=False)
class Simulation:
    """What the concepts of a map did.

    Attributes
    ----------
    names : tuple of str
        The concepts.
    states : array of shape (T + 1, M)
        Their activations, from the start until they have settled; T is `max_iter` where they have not.
    period : int
        1 for a fixed point, P ≥ 2 for a cycle of that length, 0 for neither.
    reached_at : int
        The iteration from which on that holds; −1 for neither.
    exponent : float
        Largest Lyapunov exponent where they settled on neither: positive is chaos. NaN otherwise.
    clamped : dict of str to float
        The concepts that were held, and their values.
    reasoning : dict
        Rule, activation, φ and slope that were used.
    """

    names: tuple[str, ...]
    states: Array
    period: int
    reached_at: int
    exponent: float
    clamped: dict[str, float]
    reasoning: dict[str, Any]

    @property
    def verdict(self) -> str:
        """What they settled on: "fixed point", "cycle" or "neither"."""
        return VERDICTS[min(self.period, 2)]

    @property
    def final(self) -> dict[str, float]:
        """The activation of each concept in the end; of a cycle, the mean over one turn."""
        last = self.states[-max(self.period, 1) :].mean(axis=0)
        return dict(zip(self.names, last.tolist(), strict=True))

    def changes(self, baseline: "Simulation") -> dict[str, float]:
        """Return how much each concept ends higher than in another simulation of the same map.

        Parameters
        ----------
        baseline : Simulation
            What happens otherwise, most often without a clamp.

        Returns
        -------
        dict of str to float
            The difference for each concept.
        """
        if set(baseline.names) != set(self.names):
            raise ValueError("The simulations are of maps with different concepts: simulate one map twice.")
        before = baseline.final
        return {name: value - before[name] for name, value in self.final.items()}

    def to_frame(self) -> "DataFrame":
        """Return the states as a frame, with a row for each iteration and a column for each concept."""
        return data_frame(self.states, self.names).rename_axis("iteration")

    def __repr__(self) -> str:
        return f"<Simulation: {self.verdict}, {len(self.names)} concepts, {len(self.states) - 1} iterations>"

    def __str__(self) -> str:
        if self.period == 1:
            text = f"The concepts reach a fixed point at iteration {self.reached_at}."
        elif self.period:
            text = f"The concepts enter a cycle of {self.period} states at iteration {self.reached_at}."
        else:
            text = f"The concepts do not settle within {len(self.states) - 1} iterations"
            text += "." if np.isnan(self.exponent) else f" ({exponent_words(self.exponent)})."
        held = ", ".join(f"{name} at {value:g}" for name, value in self.clamped.items())
        return f"{text} Held: {held}." if held else text


def simulate(
    model: CognitiveMap | Any,
    start: Start | None = None,
    *,
    clamp: Mapping[str, float] | None = None,
    rule: str | None = None,
    activation: str | None = None,
    phi: float | None = None,
    slope: float | None = None,
    max_iter: int = 200,
    tol: float = 1e-6,
) -> Simulation:
    """Let the concepts of a map act on each other until they settle, with some of them held.

    Parameters
    ----------
    model : CognitiveMap, or a fitted classifier
        The map; of a classifier, the one it has learned (`map_of`).
    start : mapping of str to float, or array-like of shape (M,), default=None
        Activations to begin with. Concepts that are not named begin in the middle of the activation's range; those of a
        classifier in the mean state of its training rows.
    clamp : mapping of str to float, default=None
        Concepts that are held, and the activation at which they are.
    rule, activation, phi, slope : default=None
        How to reason, instead of what the map says (`CognitiveMap`). Where neither says anything: "kosko-memory",
        "sigmoid", 0.8 and 1.
    max_iter : int, default=200
        Most iterations, up to 1,000.
    tol : float, default=1e-6
        Smallest change of an activation that counts as one.

    Returns
    -------
    Simulation
        The states, and whether they are a fixed point or a cycle in the end.

    Examples
    --------
    >>> from cogmap import CognitiveMap, simulate
    >>> drawn = CognitiveMap.from_edges([("rain", "grass", 0.8), ("grass", "rabbits", 0.6), ("rabbits", "grass", -0.5)])
    >>> dry, wet = (simulate(drawn, clamp={"rain": value}) for value in (0, 1))
    >>> print(wet)
    The concepts reach a fixed point at iteration 9. Held: rain at 1.
    >>> {name: round(change, 2) for name, change in wet.changes(dry).items()}
    {'rain': 1.0, 'grass': 0.22, 'rabbits': 0.03}
    """
    held = model if isinstance(model, CognitiveMap) else map_of(model)
    asked = {"rule": rule, "activation": activation, "phi": phi, "slope": slope}
    known: dict[str, Any] = (
        DEFAULTS | reasoning_of(held) | {key: value for key, value in asked.items() if value is not None}
    )
    held = replace(held, **known)
    if not 1 <= max_iter <= FOLLOWED or not tol > 0:
        raise ValueError(f"max_iter={max_iter} must be from 1 to {FOLLOWED}, and tol={tol} positive.")
    network = network_of(held)
    middle = np.full(len(held.names), network.activation.offset)
    initial = _activations(held, start, middle if isinstance(model, CognitiveMap) else typical_state(model))
    return _run(held, network, initial, _by_name(held, clamp or {}, "clamp"), max_iter, tol)


def network_of(cognitive_map: CognitiveMap) -> Network:
    """Return the network that reasons as a map says, which must say it all."""
    W, b, M = cognitive_map.weights, cognitive_map.bias, len(cognitive_map.names)
    every = activations.ACTIVATIONS | activations.STEPS
    f = every[str(cognitive_map.activation)]
    f = replace(f, slope=f.slope * float(cognitive_map.slope or 1.0))
    if cognitive_map.rule == "quasi-nonlinear":
        return Network(W, b, float(cognitive_map.phi or 0.0), f)
    if cognitive_map.rule == "kosko":
        return Network(W, b, 1.0, f)
    remembering = W + np.eye(M)
    if cognitive_map.rule == "kosko-memory":
        return Network(remembering, b, 1.0, f)
    return Network(2 * remembering, b - remembering.sum(axis=0), 1.0, f)


def _run(
    held: CognitiveMap, network: Network, initial: Array, clamp: dict[str, float], max_iter: int, tol: float
) -> Simulation:
    fixed = np.array([held.place(name) for name in clamp], dtype=np.intp)
    free = np.setdiff1d(np.arange(len(initial)), fixed)
    values = np.array(list(clamp.values()))
    W = network.weights
    # Not the diagonal: what a held concept remembers of itself is of no matter.
    rest = replace(network, weights=W[np.ix_(free, free)], bias=network.bias[free] + values @ W[np.ix_(fixed, free)])
    begun = initial[free][None, :]
    verdict = follow(rest, begun, 1, max_iter, tol)
    period, reached_at = int(verdict.period[0]), int(verdict.reached_at[0])
    n_iter = reached_at + period if period else max_iter
    states = np.empty((n_iter + 1, len(initial)))
    states[:, fixed], states[:, free] = values, trajectory(rest, begun, n_iter)[0]
    exponent = np.nan if period else float(largest_exponent(rest, begun)[0])
    reasoning = {key: getattr(held, key) for key in DEFAULTS}
    if held.rule != "quasi-nonlinear":
        del reasoning["phi"]
    return Simulation(held.names, states, period, reached_at, exponent, clamp, reasoning)


def _activations(held: CognitiveMap, start: Start | None, default: Array) -> Array:
    if start is None:
        return default
    if isinstance(start, Mapping):
        initial = default.copy()
        for name, value in _by_name(held, start, "start").items():
            initial[held.place(name)] = value
        return initial
    initial = np.array(start, dtype=np.float64)
    if initial.shape != default.shape or not np.isfinite(initial).all():
        raise ValueError(f"start must be {len(default)} finite numbers, one for each concept, or name some of them.")
    return initial


def _by_name(held: CognitiveMap, given: Mapping[str, float], what: str) -> dict[str, float]:
    checked = {held.names[held.place(name)]: float(value) for name, value in given.items()}
    for name, value in checked.items():
        if not np.isfinite(value):
            raise ValueError(f"The {what} of {name!r} is {value}: give a finite number.")
    return checked
