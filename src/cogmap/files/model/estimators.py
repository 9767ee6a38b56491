"""The estimators: their fitted attributes, and what follows from these.

To store one more attribute, add a line to `FITTED`, `optional` if some models lack it. To store one more estimator, add
its name to `values.ESTIMATORS` and its attributes here; a fitted estimator within it has the kind `Estimator`.

Easy to get wrong: members of a stack may share a network, and must share it again. Networks are therefore written once,
and a member names its network by number.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from ...core.fit.fitted import Fitted, Member
from ...core.fit.model import Model
from ...errors import ModelFileError
from ...knowledge import Knowledge
from .columns import ColumnList, Text, complete_tabular
from .kinds import Array, Json, Kind, Maybe, Real, Scope, Sink, Whole
from .schema import CONCEPTS, DECISION, NETWORK, READOUT, SUMMARY
from .soundness import check_classifier
from .values import Content, Labels, NameList, Names, Value

NETWORKS = 256
"""Most networks of a stack: shown as one, their inner weights take that many times the memory they have in the file."""

Members = tuple[Member, ...]


@dataclass(frozen=True)
class Stack:
    """The members of an estimator, each a network with its readout, and their weights."""

    def encode(self, value: Members, path: str, arrays: Sink) -> Json:
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

    def _network(self, model: Model, path: str, arrays: Sink) -> Json:
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
        members = tuple(
            self._member(part, networks, scope.at("members").at(i))
            for i, part in enumerate(scope.at("members").items(node["members"]))
        )
        read = {id(model.network) for model, _ in members}
        scope.need(all(id(network) in read for _, network, _ in networks), "networks that members read")
        return members

    def _member(self, node: Json, networks: list[Any], scope: Scope) -> Member:
        node = scope.entries(node, {"network", "readout", "weight"})
        number = Whole().decode(node["network"], scope.at("network"))
        scope.need(number < len(networks), "a member of a known network")
        concepts, network, sizes = networks[number]
        readout = READOUT.decode(node["readout"], scope.at("readout").own(sizes))
        return Model(concepts, network, readout), Real(low=0.0).decode(node["weight"], scope.at("weight"))


@dataclass(frozen=True)
class Field:
    """An attribute of a fitted estimator; with `part`, one of its `fitted_`, under a name with underscores around."""

    name: str
    kind: Kind
    optional: bool = False
    part: bool = False

    def of(self, estimator: Any) -> Any:
        """Return the attribute of an estimator."""
        return getattr(estimator.fitted_, self.name.strip("_")) if self.part else getattr(estimator, self.name)


Values = dict[str, Any]


@dataclass(frozen=True)
class Layout:
    """The fitted attributes of an estimator in the order of decoding, and a function that checks and completes them.

    The function takes the attributes, the parameters and the scope, and returns the attributes that are to be set.
    """

    fields: tuple[Field, ...]
    complete: Callable[[Values, Values, Scope], Values]


@dataclass(frozen=True)
class Estimator:
    """A fitted estimator of one of these classes; it is read as a `Content`."""

    names: tuple[str, ...]

    def encode(self, value: Any, path: str, arrays: Sink) -> Json:
        """Return class, parameters and fitted attributes."""
        if (name := type(value).__name__) not in self.names:
            raise ModelFileError(f"a {name} is none of the estimators that a file holds: {', '.join(self.names)}.")
        node = Value().encode_estimator(value, path, arrays)
        node["fitted"] = {
            f.name: f.kind.encode(f.of(value), f"{path}.fitted.{f.name}", arrays)
            for f in FITTED[name].fields
            if not f.optional or hasattr(value, f.name)
        }
        return node

    def decode(self, node: Json, scope: Scope) -> Content:
        """Return the content of the estimator."""
        node = scope.entries(node, {"class", "parameters", "fitted"})
        name, at = node["class"], scope.at("fitted").own({})
        scope.need(isinstance(name, str) and name in self.names, f"one of {', '.join(self.names)}")
        content = Value().decode_estimator({key: node[key] for key in ("class", "parameters")}, scope)
        fields = FITTED[name].fields
        required = {f.name for f in fields if not f.optional}
        nodes = at.entries(node["fitted"], required, frozenset(f.name for f in fields))
        values = {f.name: f.kind.decode(nodes[f.name], at.at(f.name)) for f in fields if f.name in nodes}
        return replace(content, attributes=FITTED[name].complete(values, content.parameters, at))


def _complete_networks(values: Values, parameters: Values, scope: Scope) -> Values:
    """Join what belongs to `fitted_`, and check it."""
    names = values.get("feature_names_in_")
    features = [f"x{j}" for j in range(values["n_features_in_"])] if names is None else map(str, names)
    tol = {"tol": parameters["tol"]} if "tol" in parameters else {}
    parts = {f.name.strip("_"): values[f.name] for f in SHARED if f.part}
    fitted = Fitted(classes=values["classes_"], feature_names=tuple(features), **parts, **tol)
    scope.bind("L", sum(len(model.network.bias) for model in fitted.networks))
    scope.bind("S", 1 + max(model.readout.n_iter for model, _ in fitted.members))
    scope.need(isinstance(values["knowledge_"], Knowledge), "knowledge")
    check_classifier(fitted, values, scope)
    others = {name: value for name, value in values.items() if name.strip("_") not in parts}
    return others | {"fitted_": fitted}


def _complete_single(values: Values, parameters: Values, scope: Scope) -> Values:
    scope.need(len(values["_members"]) == 1, "those of one member")
    return _complete_networks(values, parameters, scope)


def _complete_tuned(values: Values, parameters: Values, scope: Scope) -> Values:
    results = values["cv_results_"]
    scope.need(isinstance(results, dict) and isinstance(results.get("params"), list), "results with a list of params")
    return _complete_networks(values, parameters, scope)


SHARED = (
    Field("classes_", Labels("N")),
    Field("class_count_", Array("F64", ("N",))),
    Field("n_features_in_", Whole("F")),
    Field("feature_names_in_", Names("F"), optional=True),
    Field("concept_names_", Names("L"), part=True),
    Field("outer_weights_", Array("F64", ("S", "L", "N")), part=True),
    Field("outer_bias_", Array("F64", ("N",)), part=True),
    Field("rank_", Whole()),
    Field("condition_", Real(finite=False), part=True),
    Field("degrees_of_freedom_", Real()),
    Field("_members", Stack(), part=True),
    Field("_constant", Array("F64", ("N",)), part=True),
    Field("_longest", Whole(), part=True),
    Field("_decision", DECISION, part=True),
    Field("_summary", SUMMARY, part=True),
    Field("_network_names", NameList(), part=True),
    Field("knowledge_", Value()),
)
FITTED = {
    "LTCNClassifier": Layout(
        (
            *SHARED,
            Field("alpha_", Maybe(Real(finite=False))),
            Field("shrinkage_", Maybe(Array("F64", ("S",)))),
            Field("active_share_", Maybe(Array("F64", ("S",)))),
        ),
        _complete_single,
    ),
    "LTCNClassifierCV": Layout(
        (
            *SHARED,
            Field("best_params_", Value()),
            Field("best_score_", Real(finite=False)),
            Field("cv_results_", Value()),
        ),
        _complete_tuned,
    ),
    "TabularClassifier": Layout(
        (
            Field("n_features_in_", Whole("F")),
            Field("feature_names_in_", Names("F"), optional=True),
            Field("target_name_", Maybe(Text())),
            Field("columns_", ColumnList("F")),
            Field("classifier_", Estimator(("LTCNClassifier", "LTCNClassifierCV"))),
        ),
        complete_tabular,
    ),
}
"""Of each estimator, what a file holds. N classes, F features; S states and L concepts of all networks as one."""
