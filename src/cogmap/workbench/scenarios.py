"""Scenarios: rows that somebody made up, named, kept and compared side by side."""

from collections.abc import Mapping, Sequence
from typing import Any

from .history import now
from .mapping import Maps
from .seam import call
from .what_if import what_if

MOST_SCENARIOS = 500
LONGEST = 200
"""Letters of a name."""


class Scenarios(Maps):
    """Name, keep, remove and compare scenarios."""

    def scenarios(self) -> dict[str, Any]:
        """Return all scenarios."""
        return {"scenarios": list(self.content.scenarios)}

    def save_scenario(
        self,
        name: str,
        values: Mapping[str, Any] | None = None,
        note: str = "",
        replace: bool = False,
        map: str | None = None,  # noqa: A002 (the name that the page uses)
        start: Mapping[str, float] | None = None,
        clamp: Mapping[str, float] | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Keep a row of cells under a name; or, with `map`, what `simulate` is to begin with and to clamp."""
        name = name.strip()
        if not name or len(name) > LONGEST:
            raise ValueError(f"{name[:60]!r} is no name of a scenario: give one of 1 to {LONGEST} letters.")
        about: dict[str, Any] = {"kind": "row", "values": self.sheet.filled(values, None)}
        if map is not None:
            inputs = {"start": dict(start or {}), "clamp": dict(clamp or {}), "options": dict(options or {})}
            about = {"kind": "map", "map": map, **inputs}
            self._settled({"name": name, **about})
        with self.lock:
            others = [one for one in self.content.scenarios if one["name"] != name]
            if len(others) < len(self.content.scenarios) and not replace:
                raise ValueError(
                    f"There is a scenario {name!r} already: choose another name, or say that it may be replaced."
                )
            if len(others) >= MOST_SCENARIOS:
                raise ValueError(f"There are {MOST_SCENARIOS} scenarios, and no room for more: remove some.")
            kept = {"name": name, "note": note.strip(), **about, "when": now(), "version": self.in_use()[0]}
            self.put(scenarios=(*others, kept))
            return self.scenarios()

    def remove_scenario(self, name: str) -> dict[str, Any]:
        """Remove a scenario."""
        with self.lock:
            self._scenario(name)
            self.put(scenarios=tuple(one for one in self.content.scenarios if one["name"] != name))
            return self.scenarios()

    def compare_scenarios(self, names: Sequence[str] | None = None) -> dict[str, Any]:
        """Return scenarios side by side, all by default: by the model in use, and those of maps by their maps."""
        chosen = [one["name"] for one in self.content.scenarios] if names is None else list(names)
        every = [self._scenario(name) for name in chosen]
        number, version = self.in_use()
        rows = [
            {
                "name": one["name"],
                **what_if(version.subject, self.sheet, self.sheet.filled(one["values"], None), parts=("evidence",)),
            }
            for one in every
            if one["kind"] == "row"
        ]
        columns = [
            {"name": name, "differs": len({repr(row["values"][name]) for row in rows}) > 1} for name in self.sheet.names
        ]
        maps = [self._settled(one) for one in every if one["kind"] == "map"]
        concepts = list(dict.fromkeys(name for one in maps for name in one["final"]))
        differing = [{"name": name, "differs": len({one["final"].get(name) for one in maps}) > 1} for name in concepts]
        return {
            "version": number,
            "columns": columns,
            "scenarios": rows,
            "maps": {"concepts": differing, "scenarios": maps},
        }

    def _scenario(self, name: str) -> dict[str, Any]:
        for one in self.content.scenarios:
            if one["name"] == name:
                return one
        raise ValueError(f"There is no scenario {name!r}.")

    def _settled(self, one: dict[str, Any]) -> dict[str, Any]:
        asked = {**one["options"], "map": one["map"], "start": one["start"], "clamp": one["clamp"]}
        answer = call(self, "simulate", asked)
        return {"name": one["name"], "map": one["map"], "final": answer["final"], "verdict": answer["verdict"]}
