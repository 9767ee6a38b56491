"""``cogmap map``: cognitive maps in files, drawn or learned."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .inputs import FILE, NEW_FILE, load_model
from .output import emit, json_option, say, show, table_text

if TYPE_CHECKING:
    from ..maps import CognitiveMap

# As cogmap.maps has them, whose import takes long.
FORMS = ("edges", "matrix", "graphml", "json")
MERGE_RULES = ("mean", "mean-stated", "median", "agreement", "majority")
RULES = ("quasi-nonlinear", "kosko", "kosko-memory", "rescaled")
ACTIVATIONS = ("sigmoid", "tanh", "bivalent", "trivalent")

form_option = click.option(
    "--form",
    type=click.Choice(FORMS),
    help="What to write; by default by the name: .csv (edges), .matrix.csv, .graphml, .json.",
)
network_option = click.option(
    "--network", metavar="NAME", help="Of a stack in a model file, the network; by default that of the largest weight."
)


@click.group("map")
def map_group() -> None:
    r"""Convert, merge, compare and simulate cognitive maps.

    A map is a file of edges or a matrix (CSV, Mental Modeler's too), GraphML (Gephi, yEd), JSON, or a model file
    (.cogmap), of which it is the learned map.

    \b
    Examples:
      cogmap map convert people.cogmap people.graphml
      cogmap map merge ann.csv ben.csv -o both.json --rule agreement
      cogmap map compare ann.csv people.cogmap
      cogmap map simulate meadow.csv --clamp rain=1
    """


@map_group.command()
@click.argument("source", type=FILE)
@click.argument("output", type=NEW_FILE)
@form_option
@network_option
def convert(source: Path, output: Path, form: Any, network: str | None) -> None:
    """Write the map in SOURCE to OUTPUT, in another form."""
    from ..maps import write_map

    found = _map(source, network)
    write_map(found, output, form=form)
    say(f"{len(found.names)} concepts and {len(found.edges)} edges written to {output}.")


@map_group.command()
@click.argument("sources", type=FILE, nargs=-1, required=True, metavar="MAP MAP …")
@click.option("-o", "--output", type=NEW_FILE, metavar="FILE", help="Where to write the merged map.")
@click.option(
    "--rule",
    type=click.Choice(MERGE_RULES),
    default="mean",
    show_default=True,
    help="How weights are merged; see docs/maps.md.",
)
@form_option
@json_option
def merge(sources: tuple[Path, ...], output: Path | None, rule: Any, form: Any, as_json: bool) -> None:
    """Merge several experts' maps into one, and show where they disagree."""
    from ..maps import merge_maps, write_map

    names = [path.stem for path in sources]
    labels = names if len(set(names)) == len(names) else [str(path) for path in sources]
    merged = merge_maps({label: _map(path) for label, path in zip(labels, sources, strict=True)}, rule=rule)
    if output is not None:
        write_map(merged.map, output, form=form)
        say(f"Merged map written to {output}.")
    else:
        say("No map was written: use -o FILE to keep it.")
    if as_json:
        disagreements = [one._asdict() for one in merged.disagreements]
        emit({"map": None if output is None else str(output), "rule": rule, "disagreements": disagreements})
    else:
        show(str(merged))


@map_group.command()
@click.argument("before", type=FILE)
@click.argument("after", type=FILE)
@json_option
def compare(before: Path, after: Path, as_json: bool) -> None:
    """Show what differs between two maps, such as an expert's and the learned one."""
    from ..maps import compare_maps

    found = compare_maps(_map(before), _map(after))
    if as_json:
        edges = [edge._asdict() for edge in found.edges]
        emit({"only_before": found.only_before, "only_after": found.only_after} | {"edges": edges, **found.agreement})
    else:
        show(str(found))


@map_group.command()
@click.argument("source", metavar="MAP", type=FILE)
@click.option("--clamp", multiple=True, metavar="CONCEPT=VALUE", help="Hold a concept at a value; may be repeated.")
@click.option("--start", multiple=True, metavar="CONCEPT=VALUE", help="Begin there; may be repeated.")
@click.option("--rule", type=click.Choice(RULES), help="How it reasons.")
@click.option("--activation", type=click.Choice(ACTIVATIONS), help="The function of its concepts.")
@click.option("--phi", type=click.FloatRange(0, 1), help="Nonlinearity of the quasi-nonlinear rule.")
@click.option("--slope", type=float, help="Steepness of the activation.")
@click.option("--max-iter", type=click.IntRange(1, 1000), default=200, show_default=True, help="Most iterations.")
@click.option("--states", type=NEW_FILE, metavar="FILE", help="Write the states of all iterations, as CSV.")
@json_option
def simulate(
    source: Path,
    clamp: tuple[str, ...],
    start: tuple[str, ...],
    states: Path | None,
    as_json: bool,
    **reasoning: Any,
) -> None:
    r"""Hold some concepts of MAP, let the others settle, and show what that changes.

    The change is against the same start with nothing held. Options of reasoning replace what the file says; where
    neither says anything, the rule is kosko-memory and the activation sigmoid.

    \b
    Example:
      cogmap map simulate meadow.csv --clamp rain=1 --clamp rabbits=0
    """
    from ..maps import simulate as run
    from .output import write_whole

    model = load_model(source) if _is_model(source) else _map(source)
    begun = _values(start, "--start") or None
    free = run(model, begun, **reasoning)
    held = run(model, begun, clamp=_values(clamp, "--clamp"), **reasoning) if clamp else free
    if states is not None:
        write_whole(states, lambda path: held.to_frame().to_csv(path))
        say(f"States written to {states}.")
    changes = held.changes(free)
    if as_json:
        keys = ("verdict", "period", "reached_at", "exponent", "reasoning", "clamped", "final")
        emit({key: getattr(held, key) for key in keys} | {"changes": changes})
        return
    say(", ".join(f"{key} {value}" for key, value in held.reasoning.items()) + ".", str(held))
    first = dict(zip(held.names, held.states[0].tolist(), strict=True))
    rows = [(name, first[name], end) for name, end in held.final.items()]
    if clamp:
        show(table_text(["concept", "start", "end", "change"], [(*row, changes[row[0]]) for row in rows]))
    else:
        show(table_text(["concept", "start", "end"], rows))


def _values(given: Iterable[str], option: str) -> dict[str, float]:
    """Read CONCEPT=VALUE; a name may hold "=" itself."""
    values: dict[str, float] = {}
    for text in given:
        name, _, number = text.rpartition("=")
        try:
            values[name.strip()] = float(number)
        except ValueError:
            raise ValueError(f"{option} {text!r} is not CONCEPT=VALUE: write it as rain=0.5.") from None
    return values


def _is_model(path: Path) -> bool:
    return path.suffix.lower() == ".cogmap"


def _map(path: Path, network: str | None = None) -> "CognitiveMap":
    from ..maps import map_of, read_map

    if _is_model(path):
        return map_of(load_model(path), network=network)
    if network is not None:
        raise ValueError(f"--network is for model files (.cogmap), and {path} is a map.")
    return read_map(path)
