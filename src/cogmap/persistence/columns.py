"""The columns of a raw table in a model file: what each means, as JSON.

Easy to get wrong: a description that contradicts itself would encode rows in another way than the model was fitted on.
Each is checked by itself here, and all of them against the names of the network's features.
"""

from dataclasses import asdict, dataclass
from typing import Any

from ..columns import KINDS, OTHER, Column
from .kinds import Json, Maybe, Named, Real, Scope, Written

FIELDS = {"name", "kind", "fill", "categories", "other", "missing"}


@dataclass(frozen=True)
class Text:
    """Text."""

    def encode(self, value: Any, path: str, arrays: Written) -> Json:
        """Return the text."""
        return str(value)

    def decode(self, node: Json, scope: Scope) -> str:
        """Return the text."""
        scope.need(isinstance(node, str), "text")
        return str(node)


@dataclass(frozen=True)
class Columns:
    """A tuple of columns."""

    size: str

    def encode(self, value: Any, path: str, arrays: Written) -> Json:
        """Return a list of their attributes."""
        return [asdict(column) | {"categories": list(column.categories)} for column in value]

    def decode(self, node: Json, scope: Scope) -> tuple[Column, ...]:
        """Return the columns."""
        found = tuple(self._column(part, scope.at(i)) for i, part in enumerate(scope.items(node, self.size)))
        scope.need(len({column.name for column in found}) == len(found), "columns of different names")
        return found

    def _column(self, node: Json, scope: Scope) -> Column:
        node = scope.entries(node, FIELDS)
        flags = [node["other"], node["missing"]]
        scope.need(all(isinstance(flag, bool) for flag in flags), "a column whose flags are true or false")
        kind = Named({name: name for name in KINDS}).decode(node["kind"], scope.at("kind"))
        at = scope.at("categories")
        categories = tuple(Text().decode(part, at) for part in at.items(node["categories"]))
        column = Column(
            Text().decode(node["name"], scope.at("name")),
            kind,
            self._fill(node["fill"], kind, scope.at("fill")),
            categories,
            node["other"],
            node["missing"],
        )
        _check_column(column, scope)
        return column

    def _fill(self, node: Json, kind: str, scope: Scope) -> float | str | None:
        if kind in ("number", "boolean"):
            return Real().decode(node, scope)
        if kind == "category":
            return Text().decode(node, scope)
        found: float | str | None = Maybe(Text() if isinstance(node, str) else Real()).decode(node, scope)
        scope.need(kind == "constant" or found is None, "null")
        return found


def _check_column(column: Column, scope: Scope) -> None:
    if column.kind != "category":
        scope.need(not column.categories and not column.other, "a column without categories")
        scope.need(column.kind != "dropped" or not column.missing, "a dropped column")
        return
    distinct = sorted(set(column.categories)) == list(column.categories)
    scope.need(distinct and len(column.categories) + column.other > 1, "two or more categories in order")
    grouped = column.other and column.fill not in column.categories
    scope.need(grouped or column.fill in column.categories, "a column filled by one of its categories")
    scope.need(not (column.other and OTHER in column.categories), f"a column with one concept for {OTHER!r}")


def complete_tabular(estimator: Any, scope: Scope) -> None:
    """Check the columns against the network's features; set what follows from both."""
    names = [name for column in estimator.columns_ for name in column.concepts]
    known = getattr(estimator.classifier_, "feature_names_in_", None)
    scope.need(known is not None and list(known) == names, "columns whose concepts are the features of the network")
    own = getattr(estimator, "feature_names_in_", None)
    scope.need(own is None or list(own) == [column.name for column in estimator.columns_], "columns by their names")
    estimator.classes_ = estimator.classifier_.classes_
