"""The estimators: their fitted attributes, and what follows from these.

To store one more attribute, add a line to `FITTED`, `optional` if some models lack it. To store one more estimator, add
its name to `values.ESTIMATORS` and its attributes here; a fitted estimator within it has the kind `Estimator`.

Easy to get wrong: members of a stack may share a network, and must share it again. Networks are therefore written once,
and a member names its network by number.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from typing import Any

from ...core.fit.model import Model
from ...errors import ModelFileError
from ...estimators.tuned import GRID, as_grid
from ...knowledge import Knowledge
from .columns import Columns, Text, complete_tabular
from .kinds import Array, Json, Kind, Maybe, Real, Scope, Whole, Written
from .schema import CONCEPTS, DECISION, NETWORK, READOUT, SUMMARY
from .soundness import check_classifier
from .values import Labels, NameList, Names, Value

NETWORKS = 256
"""Most networks of a stack: shown as one, their inner weights take that many times the memory they have in the file."""

Members = list[tuple[Model, float]]


@dataclass(frozen=True)
class Stack:
    """The members of an estimator, each a network with its readout, and their weights."""

    def encode(self, value: Members, path: str, arrays: Written) -> Json:
        """Return the different networks, and the members in order."""
        networks: dict[int, Model] = {}
        for model, _ in value:
            first = networks.setdefault(id(model.network), model)
            if model.concepts is not first.concepts:
                raise ModelFileError(f"{path} has two maps from features to the concepts of one network.")
        place = {key: i for i, key in enumerate(networks)}
        return {
            "networks": [self._network(m, f"{path}.networks.{i}", arrays) for i, m in enumerate(networks.values())],
            "members": [
                {
                    "network": place[id(model.network)],
                    "readout": READOUT.encode(model.readout, f"{path}.members.{i}.readout", arrays),
                    "weight": float(weight),
                }
                for i, (model, weight) in enumerate(value)
            ],
        }

    def _network(self, model: Model, path: str, arrays: Written) -> Json:
        return {
            "concepts": CONCEPTS.encode(model.concepts, f"{path}.concepts", arrays),
            "network": NETWORK.encode(model.network, f"{path}.network", arrays),
        }

    def decode(self, node: Json, scope: Scope) -> Members:
        """Return the members; those of one network share it."""
        node = scope.entries(node, {"networks", "members"})
        within = scope.at("networks")
        nodes = within.items(node["networks"])
        within.need(0 < len(nodes) <= NETWORKS, f"1 to {NETWORKS} networks")
        networks = []
        for i, part in enumerate(nodes):
            own = within.at(i).own(scope.sizes)
            part = own.entries(part, {"concepts", "network"})
            network = NETWORK.decode(part["network"], own.at("network"))
            networks.append((CONCEPTS.decode(part["concepts"], own.at("concepts")), network, own.sizes))
        members = [
            self._member(part, networks, scope.at("members").at(i))
            for i, part in enumerate(scope.at("members").items(node["members"]))
        ]
        read = {id(model.network) for model, _ in members}
        scope.need(all(id(network) in read for _, network, _ in networks), "networks that members read")
        return members

    def _member(self, node: Json, networks: list[Any], scope: Scope) -> tuple[Model, float]:
        node = scope.entries(node, {"network", "readout", "weight"})
        number = Whole().decode(node["network"], scope.at("network"))
        scope.need(number < len(networks), "a member of a known network")
        concepts, network, sizes = networks[number]
        readout = READOUT.decode(node["readout"], scope.at("readout").own(sizes))
        return Model(concepts, network, readout), Real(low=0.0).decode(node["weight"], scope.at("weight"))


@dataclass(frozen=True)
class Field:
    """An attribute of a fitted estimator."""

    name: str
    kind: Kind
    optional: bool = False


@dataclass(frozen=True)
class Fitted:
    """The fitted attributes of an estimator in the order of decoding, and a function that checks and completes them."""

    fields: tuple[Field, ...]
    complete: Callable[[Any, Scope], None]


@dataclass(frozen=True)
class Estimator:
    """A fitted estimator of one of these classes."""

    names: tuple[str, ...]

    def encode(self, value: Any, path: str, arrays: Written) -> Json:
        """Return class, parameters and fitted attributes."""
        if (name := type(value).__name__) not in self.names:
            raise ModelFileError(f"a {name} is none of the estimators that a file holds: {', '.join(self.names)}.")
        node = Value().encode_estimator(value, path, arrays)
        node["fitted"] = {
            f.name: f.kind.encode(getattr(value, f.name), f"{path}.fitted.{f.name}", arrays)
            for f in FITTED[name].fields
            if not f.optional or hasattr(value, f.name)
        }
        return node

    def decode(self, node: Json, scope: Scope) -> Any:
        """Return the estimator."""
        node = scope.entries(node, {"class", "parameters", "fitted"})
        name, at = node["class"], scope.at("fitted").own({})
        scope.need(isinstance(name, str) and name in self.names, f"one of {', '.join(self.names)}")
        found = Value().decode_estimator({key: node[key] for key in ("class", "parameters")}, scope)
        fields = FITTED[name].fields
        required = {f.name for f in fields if not f.optional}
        fitted = at.entries(node["fitted"], required, frozenset(f.name for f in fields))
        for f in fields:
            if f.name in fitted:
                setattr(found, f.name, f.kind.decode(fitted[f.name], at.at(f.name)))
        FITTED[name].complete(found, at)
        return found


def _complete_networks(estimator: Any, scope: Scope) -> None:
    """Set what follows from the members: the view of their networks as one."""
    first: dict[int, Model] = {}
    for model, _ in estimator._members:
        first.setdefault(id(model.network), model)
    estimator._networks = list(first.values())
    estimator.n_iter_ = len(estimator.outer_weights_) - 1
    scope.bind("L", sum(len(model.network.bias) for model in estimator._networks))
    scope.bind("S", 1 + max(model.readout.n_iter for model, _ in estimator._members))
    scope.need(isinstance(estimator.knowledge_, Knowledge), "knowledge")
    estimator._join_networks()
    check_classifier(estimator, scope)


@contextmanager
def _refused_parameters() -> Iterator[None]:
    """Take the estimator's own judgement of its parameters for that of the file."""
    try:
        yield
    except (TypeError, ValueError) as error:
        raise ModelFileError(f"the estimator refuses its parameters: {str(error)[:300]}") from error


def _complete_single(estimator: Any, scope: Scope) -> None:
    scope.need(len(estimator._members) == 1, "those of one member")
    with _refused_parameters():
        estimator.check_parameters()
        if not isinstance(estimator.inner, str):
            estimator._given_weights()
    _complete_networks(estimator, scope)


def _complete_tuned(estimator: Any, scope: Scope) -> None:
    results = estimator.cv_results_
    scope.need(isinstance(results, dict) and isinstance(results.get("params"), list), "results with a list of params")
    with _refused_parameters():
        # The grids' product is listed only once the results say that it is no longer than they are.
        size = prod(len(as_grid(getattr(estimator, name))) for name in GRID)
        scope.need(size <= len(results["params"]) <= size + 1, "results for each combination of the grids")
        estimator.check_parameters()
    _complete_networks(estimator, scope)


SHARED = (
    Field("classes_", Labels("N")),
    Field("class_count_", Array("F64", ("N",))),
    Field("n_features_in_", Whole("F")),
    Field("feature_names_in_", Names("F"), optional=True),
    Field("concept_names_", Names("L")),
    Field("outer_weights_", Array("F64", ("S", "L", "N"))),
    Field("outer_bias_", Array("F64", ("N",))),
    Field("rank_", Whole()),
    Field("condition_", Real(finite=False)),
    Field("degrees_of_freedom_", Real()),
    Field("_members", Stack()),
    Field("_constant", Array("F64", ("N",))),
    Field("_longest", Whole()),
    Field("_decision", DECISION),
    Field("_summary", SUMMARY),
    Field("_network_names", NameList()),
    Field("knowledge_", Value()),
)
FITTED = {
    "LTCNClassifier": Fitted(
        (
            *SHARED,
            Field("alpha_", Maybe(Real(finite=False))),
            Field("shrinkage_", Maybe(Array("F64", ("S",)))),
            Field("active_share_", Maybe(Array("F64", ("S",)))),
        ),
        _complete_single,
    ),
    "LTCNClassifierCV": Fitted(
        (
            *SHARED,
            Field("best_params_", Value()),
            Field("best_score_", Real(finite=False)),
            Field("cv_results_", Value()),
        ),
        _complete_tuned,
    ),
    "TabularClassifier": Fitted(
        (
            Field("n_features_in_", Whole("F")),
            Field("feature_names_in_", Names("F"), optional=True),
            Field("target_name_", Maybe(Text())),
            Field("columns_", Columns("F")),
            Field("classifier_", Estimator(("LTCNClassifier", "LTCNClassifierCV"))),
        ),
        complete_tabular,
    ),
}
"""Of each estimator, what a file holds. N classes, F features; S states and L concepts of all networks as one."""
