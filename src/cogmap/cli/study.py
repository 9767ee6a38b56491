"""``cogmap study``: the experiments on the command line. Data goes to stdout, messages and progress to stderr."""

import logging
import os
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

import click

from .console import NewFile, NewFolder, printable
from .output import say, show

FOLDER = NewFolder()
GRIDS = "small, paper, authors, default, or one configuration such as phi=0.8,max_iter=5; several with ';'."
DEFAULT_RESULTS = Path("study") / "results.csv"
data_dir_option = click.option(
    "--data-dir", type=click.Path(exists=True, file_okay=False), help="Folder of datasets; default COGMAP_DATA."
)
results_option = click.option(
    "--results", type=NewFile(create_folder=True), default=DEFAULT_RESULTS, show_default=True,
    help="Results file.",
)  # fmt: skip
limit_option = click.option("--limit", type=float, help="Most seconds of one fold.")
jobs_option = click.option("--jobs", type=click.IntRange(1), default=lambda: os.cpu_count() or 1, help="Processes.")


@click.group()
def study() -> None:
    r"""Run the experiments of the paper, resume them, and tabulate what they show.

    \b
    Examples:
      cogmap study table --quick
      cogmap study run --classifiers SVM,LTCN --datasets vehicle,yeast
      cogmap study table all ranks
    """
    logging.basicConfig(format="%(message)s", level=logging.WARNING, force=True)


def _listed(text: str | None, default: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",")) if text else default


@study.command()
@click.option("--datasets", help="Comma-separated names; default the paper's 30.")
@click.option("--classifiers", help="Comma-separated names, or groups paper, binary, beyond, ablation; default all.")
@click.option("--grid", "grids", default="small", show_default=True, help=GRIDS)
@click.option("--inner", type=click.IntRange(2), default=3, show_default=True, help="Folds of the grid search.")
@click.option("--scale-first", is_flag=True, help="Scale the whole file before splitting, as the paper does.")
@click.option("--seed", default=42, show_default=True, help="Seed of the folds.")
@click.option("--limit", type=float, help="Most seconds of one fold; beyond, the row says timeout.")
@click.option("--no-whole", is_flag=True, help="Do not time training on the whole dataset.")
@click.option("--largest-first", is_flag=True, help="Begin with the largest datasets.")
@click.option("--retry-errors", "retry", is_flag=True, help="Run folds again that ended in an error.")
@jobs_option
@results_option
@data_dir_option
def run(
    datasets: str | None,
    classifiers: str | None,
    grids: str,
    results: Path,
    scale_first: bool,
    no_whole: bool,
    **how: Any,
) -> None:
    """Evaluate classifiers on datasets; a second run continues where the first stopped."""
    from ..study.datasets import PAPER
    from ..study.registry import REGISTRY
    from ..study.runner import Plan

    names = classifier_names(_listed(classifiers, tuple(REGISTRY)))
    scale = "file" if scale_first else "fold"
    plan = Plan(_listed(datasets, PAPER), names, tuple(grids.split(";")), scale=scale, whole=not no_whole, **how)
    follow(plan, results)


def classifier_names(words: tuple[str, ...]) -> tuple[str, ...]:
    """Replace groups by their members."""
    from ..study.registry import ENTRIES, find

    groups = {entry.group for entry in ENTRIES}
    chosen: list[str] = []
    for word in words:
        names = [entry.name for entry in ENTRIES if entry.group == word] if word in groups else [find(word).name]
        chosen += [name for name in names if name not in chosen]
    return tuple(chosen)


def follow(plan: Any, results: Path) -> None:
    """Run a plan under a progress bar with the time left, and say where things stand every minute."""
    import time

    from tqdm import tqdm

    from ..study.results import read
    from ..study.runner import run as run_plan
    from ..study.summary import summary_lines

    said = time.monotonic()
    with tqdm(unit="fold", dynamic_ncols=True) as bar:
        for row, left in run_plan(plan, results):
            bar.total = bar.n + 1 + left
            bar.update()
            outcome = row.get("error") or f"kappa {row['kappa']:.3f}" if "kappa" in row or "error" in row else "timed"
            bar.set_postfix_str(f"{row['dataset']} · {row['classifier']} · {row['fold']}: {outcome}"[:70])
            if time.monotonic() - said > 60:
                said = time.monotonic()
                bar.write("\n".join(summary_lines(read(results))), file=bar.fp)
    say(f"{results}: complete.")


@study.command()
@results_option
def summary(results: Path) -> None:
    """Say where a run stands: mean kappa of each classifier so far, and errors."""
    from ..study.results import read
    from ..study.summary import summary_lines

    for line in summary_lines(read(results)):
        show(line)


@study.command()
@click.option("--cells", type=click.IntRange(1), default=10, show_default=True, help="How many.")
@click.option("--draw", default=0, show_default=True, help="Seed of the draw.")
@results_option
@data_dir_option
def repeat(cells: int, draw: int, results: Path, data_dir: str | None) -> None:
    """Run results again that are drawn at random, and say which are the same."""
    from ..study.repeat import drawn, repeated
    from ..study.results import read

    for task, before in drawn(read(_existing(results)), cells, draw):
        show(str(repeated(task, before, data_dir)))


@study.command()
@click.argument("output", type=NewFile(create_folder=True))
@click.argument("inputs", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
def merge(output: Path, inputs: tuple[Path, ...]) -> None:
    """Join results files into OUTPUT: each row once, a result before an error."""
    from ..study.results import merge as merged
    from ..study.results import read, write

    write(output, merged([read(path) for path in inputs]))


@study.command()
def classifiers() -> None:
    """List the classifiers, the sizes of their grids, and what keeps one from running here."""
    from sklearn.model_selection import ParameterGrid

    from ..study.registry import ENTRIES, Shape

    shape = Shape(1000, 20, 2)
    show(f"{'classifier':<22}{'group':<10}{'paper grid':>10}{'small grid':>12}  here")
    for entry in ENTRIES:
        paper, small = (len(ParameterGrid(entry.grid(which, shape))) for which in ("paper", "small"))
        show(f"{entry.name:<22}{entry.group:<10}{paper:>10}{small:>12}  {entry.missing() or 'yes'}")


@study.command()
@click.option("--output", type=FOLDER, help="Also write datasets.md and .csv there.")
@data_dir_option
def datasets(data_dir: str | None, output: Path | None) -> None:
    """Print what the datasets hold beside the paper's table, and flag columns that hold the class."""
    from ..study.datasets import CLEAN, LEAKING, PAPER
    from ..study.tables import dataset_table, markdown, save

    table = dataset_table(data_dir, (*PAPER, *(name + CLEAN for name in LEAKING)))
    show(markdown(table))
    if output:
        _said(save(table, "datasets", output))


QUICK_SETS, QUICK_LIMIT = ("iris", "wine", "breast-cancer"), 60.0


@study.command()
@click.argument("names", nargs=-1)
@click.option("--quick", is_flag=True, help="First run every classifier on three small datasets, in a few minutes.")
@click.option("--scale-first", is_flag=True, help="Tabulate the runs that scaled the whole file first.")
@click.option("--finished-by", help="Only datasets that this method is finished on, such as 'EBM'.")
@click.option("--output", type=FOLDER, help="Also write .md and .csv files there.")
@jobs_option
@results_option
def table(
    names: tuple[str, ...],
    quick: bool,
    scale_first: bool,
    finished_by: str | None,
    output: Path | None,
    jobs: int,
    results: Path,
) -> None:
    """Print tables of the results: all, binary, ablation, leak, ranks; default all of them."""
    from ..study.registry import REGISTRY
    from ..study.results import frame
    from ..study.runner import Plan
    from ..study.tables import TABLES, TITLES, by_dataset, markdown, ranks_note, save, select

    _check_known("table", names, TABLES)
    if quick:
        results = results.with_name("quick.csv")
        follow(Plan(QUICK_SETS, tuple(REGISTRY), jobs=jobs, limit=QUICK_LIMIT), results)
    runs = select(frame(_existing(results)), scale="file" if scale_first else "fold")
    if finished_by is not None:
        kappa = by_dataset(runs)
        if finished_by not in kappa:
            raise click.BadParameter(f"there is no method {finished_by!r}: use one of {', '.join(kappa)}.")
        runs = runs[runs["dataset"].isin(kappa.index[kappa[finished_by].notna()])]
    for name in names or TABLES:
        made = TABLES[name](runs)
        if made.empty:
            say(f"{TITLES[name]}: no results yet.")
            continue
        note = f"\n{ranks_note(runs)}\n" if name == "ranks" else ""
        show(f"\n## {TITLES[name]}\n\n{markdown(made)}\n{note}")
        if output:
            _said(save(made, name, output))


def _check_known(what: str, names: Iterable[str], known: Collection[str]) -> None:
    for name in names:
        if name not in known:
            raise click.BadParameter(f"there is no {what} {name!r}: use {', '.join(known)}.")


def _existing(path: Path) -> Path:
    if not path.exists():
        raise click.ClickException(
            printable(f"There are no results in {path}: run `cogmap study run` first, or name --results.")
        )
    return path


def _said(paths: list[Path]) -> None:
    say(*(f"wrote {path}" for path in paths))


@study.command()
@click.argument("what", type=click.Choice(["readouts", "maps", "classic", "relevance"]))
@click.option("--datasets", help="Comma-separated names; default the paper's 30, or its twelve for maps.")
@click.option("--phi", help="Comma-separated values of φ; default 0, 0.1 … 1.")
@click.option("--iterations", help="Comma-separated values of T for maps.")
@click.option(
    "--classifier", default="LTCN", show_default=True, help="LTCN, LTCN slopes; relevance: LTCNClassifier, too."
)
@limit_option
@jobs_option
@results_option
@data_dir_option
def sweep(
    what: str, datasets: str | None, phi: str | None, iterations: str | None, classifier: str, results: Path, **how: Any
) -> None:
    """Run φ (both readouts), φ × T, φ with the cut-off 1e-15 (classic), or shuffled features, without tuning."""
    from ..study.datasets import PAPER
    from ..study.runner import Plan
    from ..study.sweeps import (
        CLASSIC,
        ITERATIONS,
        PHI,
        RELEVANCE_SETS,
        SELECTED,
        classic_grids,
        map_grids,
        readout_grids,
        relevance_grids,
    )

    phis = tuple(float(value) for value in _listed(phi, ())) or PHI
    counts = tuple(int(value) for value in _listed(iterations, ())) or ITERATIONS
    grids, sets = {
        "readouts": (readout_grids(phis), PAPER),
        "maps": (map_grids(phis, counts), SELECTED),
        "classic": (classic_grids(phis), PAPER),
        "relevance": (relevance_grids(classifier), RELEVANCE_SETS),
    }[what]
    who = CLASSIC if what == "classic" else classifier
    follow(Plan(_listed(datasets, sets), (who,), tuple(grids), whole=False, **how), results)


@study.command()
@click.option("--datasets", help="Comma-separated names; default the paper's 30.")
@limit_option
@jobs_option
@results_option
@data_dir_option
def ablation(datasets: str | None, limit: float | None, jobs: int, results: Path, data_dir: str | None) -> None:
    """Run LTCN with learned, random inner and random outer weights, and print the table."""
    from ..study.datasets import PAPER
    from ..study.results import frame
    from ..study.runner import Plan
    from ..study.tables import TITLES, ablation_table, markdown, select

    names = classifier_names(("LTCN", "ablation"))
    follow(Plan(_listed(datasets, PAPER), names, jobs=jobs, limit=limit, data_dir=data_dir), results)
    show(f"\n## {TITLES['ablation']}\n\n{markdown(ablation_table(select(frame(results))))}")


network_option = click.option(
    "--network",
    type=click.Choice(["LTCN", "LTCN slopes"]),
    default="LTCN",
    show_default=True,
    help="Inner weights as printed, or as in the authors' code.",
)


@study.command()
@click.argument("names", nargs=-1)
@network_option
@click.option("--output", type=FOLDER, default=Path("study"), show_default=True, help="Folder for PNG and SVG.")
@results_option
def figure(names: tuple[str, ...], network: str, output: Path, results: Path) -> None:
    """Draw figures of the results: readouts, maps, ranks; and of the method: rules, decisions; default all of them."""
    from ..study.figures import DIAGRAMS, FIGURES, save
    from ..study.results import frame
    from ..study.verdict import MissingResultsError

    _check_known("figure", names, {**FIGURES, **DIAGRAMS})
    for name in names or DIAGRAMS:
        if name in DIAGRAMS:
            _said(save(DIAGRAMS[name](), name, output))
    wanted = [name for name in names or FIGURES if name in FIGURES]
    runs = frame(_existing(results)) if wanted else None
    for name in wanted:
        ending = "" if network == "LTCN" or name == "ranks" else network.removeprefix("LTCN").replace(" ", "-")
        try:
            _said(save(FIGURES[name](runs, network), name + ending, output))
        except MissingResultsError as error:
            if names:
                raise click.ClickException(printable(str(error))) from error
            say(f"{name}: {error}")


@study.command()
@click.argument("name")
@network_option
@results_option
def claim(name: str, network: str, results: Path) -> None:
    """Say whether one of the paper's claims holds in the results."""
    from ..study.claims import CLAIMS
    from ..study.results import frame
    from ..study.verdict import MissingResultsError

    _check_known("claim", (name,), CLAIMS)
    try:
        show(str(CLAIMS[name](frame(results), network)))
    except MissingResultsError as error:
        raise click.ClickException(printable(str(error))) from error


@study.command()
@results_option
def claims(results: Path) -> None:
    """Print every claim of the paper for both networks, with verdict, figure and p."""
    from ..study.claims import claims_table
    from ..study.results import frame
    from ..study.tables import markdown

    show(markdown(claims_table(frame(_existing(results)))))
