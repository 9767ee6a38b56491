"""Maps beside the model: the learned ones, those of files, merged ones; shown, compared, left to settle.

Easy to get wrong: the learned maps are those of the model in use, and change with it. Only the others are kept in the
session.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from .. import maps
from ..knowledge.names import did_you_mean
from ..maps import CognitiveMap
from ..maps.learned import typical_state
from .held import Held

LEARNED = "model"
"""Name of the learned map; of a stack, "model: " and the name of the network."""

FORMS = {".matrix.csv": "matrix", ".csv": "edges", ".graphml": "graphml", ".json": "json"}
"""What a map is written as, by the end of a file's name; the first that fits."""

MOST_MAPS, MOST_LISTED = 100, 500
"""Maps that a session keeps, and edges of a comparison that are listed."""


class Maps(Held):
    """Load, show, merge, compare and simulate cognitive maps."""

    def maps(self) -> dict[str, Any]:
        """Return all maps, the learned ones first, and the rules by which some can be merged."""
        listed = [(name, "learned") for name in self._learned()]
        listed += [(name, one["from"]) for name, one in self.content.maps.items()]
        every = []
        for name, origin in listed:
            one = self._map(name)
            every.append({"name": name, "n_concepts": len(one.names), "n_edges": len(one.edges), "from": origin})
        return {"maps": every, "rules": list(maps.MERGE_RULES)}

    def load_map(
        self, file: str | None = None, name: str | None = None, text: str | None = None, replace: bool = False
    ) -> dict[str, Any]:
        """Load a map from a file of the folder, or from a text with a name; the form shows in how it begins."""
        if (file is None) == (text is None):
            raise ValueError("Give either the name of a file or the text of a map and its name.")
        loaded = (
            maps.read_map(self.folder.to_read(file)) if file is not None else maps.from_text(text or "", name or "map")
        )
        self._keep(name or file or "map", loaded, f"file {file or name or 'map'}", replace=replace)
        return self.maps()

    def remove_map(self, name: str) -> dict[str, Any]:
        """Remove a map that was loaded or merged."""
        with self.lock:
            if name not in self.content.maps:
                raise ValueError(f"There is no loaded or merged map {name!r}.")
            self.put(maps={key: one for key, one in self.content.maps.items() if key != name})
        return self.maps()

    def show_map(self, name: str) -> dict[str, Any]:
        """Return the concepts, weights and bias of a map, and how it reasons where that is known."""
        one = self._map(name)
        how = {key: getattr(one, key) for key in ("rule", "activation", "phi", "slope")}
        arrays = {"weights": one.weights.tolist(), "bias": one.bias.tolist()}
        return {"name": name, "concepts": list(one.names), **arrays, "reasoning": how}

    def merge_maps(
        self, names: Sequence[str], rule: str = "mean", as_: str = "merged", replace: bool = False
    ) -> dict[str, Any]:
        """Merge maps by a rule, keep the result under the name `as_`, and say where they disagree."""
        merged = maps.merge_maps({name: self._map(name) for name in names}, rule=rule)  # type: ignore[arg-type]
        self._keep(as_, merged.map, f"merged by {rule} from {', '.join(names)}", replace=replace)
        disagreements = [{**one._asdict(), "signs": one.opposed} for one in merged.disagreements[:MOST_LISTED]]
        count = len(merged.disagreements)
        return {"name": as_, "n_disagreements": count, "disagreements": disagreements, **self.maps()}

    def compare_maps(self, before: str, after: str) -> dict[str, Any]:
        """Return what differs between two maps: concepts, edges, and how far the rest agrees."""
        comparison = maps.compare_maps(self._map(before), self._map(after))
        return {
            "only_before": list(comparison.only_before),
            "only_after": list(comparison.only_after),
            "n_edges": len(comparison.edges),
            "edges": [edge._asdict() for edge in comparison.edges[:MOST_LISTED]],
            "agreement": comparison.agreement,
        }

    def simulate(
        self,
        map: str = LEARNED,  # noqa: A002 (the name that the page uses)
        start: Mapping[str, float] | None = None,
        clamp: Mapping[str, float] | None = None,
        rule: str | None = None,
        activation: str | None = None,
        phi: float | None = None,
        slope: float | None = None,
        max_iter: int = 200,
    ) -> dict[str, Any]:
        """Let the concepts of a map settle, with some of them held; a learned map begins as training rows do.

        Parameters are those of `cogmap.simulate`; `map` is the name of a map.
        """
        one, begun = self._map(map), dict(start or {})
        if map in self._learned():
            typical = typical_state(self.in_use()[1].subject.model, network=self._learned()[map])
            begun = dict(zip(one.names, typical.tolist(), strict=True)) | begun
        options: dict[str, Any] = {"rule": rule, "activation": activation, "phi": phi, "slope": slope}
        run = maps.simulate(one, begun, clamp=clamp, max_iter=max_iter, **options)
        return {
            "map": map,
            "concepts": list(run.names),
            "states": run.states.round(6).tolist(),
            "final": run.final,
            "verdict": run.verdict,
            "text": str(run),
            "clamped": list(run.clamped),
            "reasoning": run.reasoning,
        }

    def map_text(self, name: str | None, file: str) -> str:
        """Return a map, by default the first learned one, as the content of a file of this name."""
        form = next(form for end, form in FORMS.items() if file.lower().endswith(end))
        return maps.to_text(self._map(next(iter(self._learned())) if name is None else name), form)  # type: ignore[arg-type]

    def _learned(self) -> dict[str, str]:
        """Return the networks of the model in use by the names of their maps."""
        networks = maps.map_names(self.in_use()[1].subject.model)
        return {LEARNED if len(networks) == 1 else f"{LEARNED}: {one}": one for one in networks}

    def _map(self, name: str) -> CognitiveMap:
        learned = self._learned()
        if name in learned:
            return maps.map_of(self.in_use()[1].subject.model, network=learned[name])
        if name in self.content.maps:
            return maps.from_text(self.content.maps[name]["text"], name)
        known = [*learned, *self.content.maps]
        shown = ", ".join(repr(one) for one in known)
        raise ValueError(f"There is no map {name!r}{did_you_mean(name, known)}: there are {shown}.")

    def _keep(self, name: str, one: CognitiveMap, origin: str, *, replace: bool) -> None:
        name = name.strip()
        if not name or len(name) > 200 or name.startswith(LEARNED):
            raise ValueError(f"{name[:60]!r} is no name of a map: give one that does not begin with {LEARNED!r}.")
        with self.lock:
            if name in self.content.maps and not replace:
                raise ValueError(
                    f"There is a map {name!r} already: choose another name, or say that it may be replaced."
                )
            if len(self.content.maps) >= MOST_MAPS:
                raise ValueError(f"There are {MOST_MAPS} maps, and no room for more: remove some.")
            self.put(maps={**self.content.maps, name: {"text": maps.to_text(one, "json"), "from": origin}})
