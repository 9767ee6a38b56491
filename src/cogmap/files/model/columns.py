"""The columns of a raw table in a model file: what each means, as JSON.

Easy to get wrong: a description that contradicts itself would encode rows in another way than the model was fitted on.
Each is checked by itself here, and all of them against the names of the network's features.
"""

from dataclasses import asdict, dataclass
from typing import Any

from ...tables import amounts, dates
from ...tables.columns import KINDS, OTHER, Column
from ...tables.meaning import MOST_RARE
from .kinds import Choice, Json, Maybe, Real, Scope, Sink

FIELDS = {"name", "kind", "fill", "categories", "other", "missing"}
LATER: dict[str, Json] = {"format": "", "first": None, "parts": [], "rare": [], "remark": ""}
"""Fields that files of the first versions lack, and what they then are."""
DATE = Real(low=dates.EARLIEST, high=dates.LATEST)
REMARK = 1000
"""Most characters of a remark."""


@dataclass(frozen=True)
class Text:
    """Text."""

    def encode(self, value: Any, path: str, arrays: Sink) -> Json:
        """Return the text."""
        return str(value)

    def decode(self, node: Json, scope: Scope) -> str:
        """Return the text."""
        scope.need(isinstance(node, str), "text")
        return str(node)


@dataclass(frozen=True)
class ColumnList:
    """A tuple of columns."""

    size: str

    def encode(self, value: Any, path: str, arrays: Sink) -> Json:
        """Return a list of their attributes."""
        lists = ("categories", "parts", "rare")
        return [asdict(column) | {name: list(getattr(column, name)) for name in lists} for column in value]

    def decode(self, node: Json, scope: Scope) -> tuple[Column, ...]:
        """Return the columns."""
        columns = tuple(self._column(part, scope.at(i)) for i, part in enumerate(scope.items(node, self.size)))
        scope.need(len({column.name for column in columns}) == len(columns), "columns of different names")
        return columns

    def _column(self, node: Json, scope: Scope) -> Column:
        node = LATER | scope.entries(node, FIELDS, frozenset(LATER))
        flags = [node["other"], node["missing"]]
        scope.need(all(isinstance(flag, bool) for flag in flags), "a column whose flags are true or false")
        kind = Choice({name: name for name in KINDS}).decode(node["kind"], scope.at("kind"))
        column = Column(
            Text().decode(node["name"], scope.at("name")),
            kind,
            self._fill(node["fill"], kind, scope.at("fill")),
            _texts(node["categories"], scope.at("categories")),
            node["other"],
            node["missing"],
            Text().decode(node["format"], scope.at("format")),
            Maybe(DATE).decode(node["first"], scope.at("first")),
            _texts(node["parts"], scope.at("parts")),
            _texts(node["rare"], scope.at("rare")),
            Text().decode(node["remark"], scope.at("remark")),
        )
        _check_column(column, scope)
        return column

    def _fill(self, node: Json, kind: str, scope: Scope) -> float | str | None:
        if kind in ("number", "boolean"):
            return Real().decode(node, scope)
        if kind == "date":
            return DATE.decode(node, scope)
        if kind == "category":
            return Text().decode(node, scope)
        fill: float | str | None = Maybe(Text() if isinstance(node, str) else Real()).decode(node, scope)
        scope.need(kind == "constant" or fill is None, "null")
        return fill


def _texts(node: Json, scope: Scope) -> tuple[str, ...]:
    return tuple(Text().decode(part, scope) for part in scope.items(node))


def _check_column(column: Column, scope: Scope) -> None:
    scope.need(column.kind != "dropped" or not column.missing, "a dropped column")
    scope.need(len(column.remark) <= REMARK, f"a column with a remark of at most {REMARK} characters")
    _check_format(column, scope)
    if column.kind == "category":
        _check_category(column, scope)
    else:
        scope.need(not (column.categories or column.other or column.rare), "a column without categories")


def _check_format(column: Column, scope: Scope) -> None:
    """Check what numbers and dates alone have."""
    formats = {"number": ("", *amounts.FORMATS), "date": dates.FORMATS}.get(column.kind, ("",))
    scope.need(column.format in formats, f"a {column.kind} column of a known format")
    scope.need((column.kind == "date") == (column.first is not None), "a column with a first date, if it is one")
    possible = dates.parts_of(column.format) if column.kind == "date" else ()
    own = tuple(part for part in possible if part in column.parts)
    scope.need(column.parts == own and bool(own) == (column.kind == "date"), "a column with parts of a date in order")


def _check_category(column: Column, scope: Scope) -> None:
    distinct = sorted(set(column.categories)) == list(column.categories)
    scope.need(distinct and len(column.categories) + column.other > 1, "two or more categories in order")
    grouped = column.other and column.fill not in column.categories
    scope.need(grouped or column.fill in column.categories, "a column filled by one of its categories")
    scope.need(not (column.other and OTHER in column.categories), f"a column with one concept for {OTHER!r}")
    scope.need(column.other or not column.rare, "a column without rarer values")
    rare = len(column.rare) <= MOST_RARE and sorted(set(column.rare) - set(column.categories)) == list(column.rare)
    scope.need(rare, f"a column with at most {MOST_RARE} rarer values in order")


def complete_tabular(attributes: dict[str, Any], parameters: dict[str, Any], scope: Scope) -> dict[str, Any]:
    """Check the columns against the network's features; add what follows from both."""
    columns, network = attributes["columns_"], attributes["classifier_"].attributes
    names, known = [name for column in columns for name in column.concepts], network.get("feature_names_in_")
    scope.need(known is not None and list(known) == names, "columns whose concepts are the features of the network")
    own = attributes.get("feature_names_in_")
    scope.need(own is None or list(own) == [column.name for column in columns], "columns by their names")
    return attributes | {"classes_": network["classes_"]}
