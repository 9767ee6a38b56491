"""``cogmap study``: the experiments on the command line. Data goes to stdout, messages and progress to stderr."""

import logging
import os
from pathlib import Path
from typing import Any

import click

GRIDS = "small, paper, default, or one configuration such as phi=0.8,max_iter=5; several with ';'."
DEFAULT_RESULTS = Path("study") / "results.csv"
data_dir_option = click.option(
    "--data-dir", type=click.Path(exists=True, file_okay=False), help="Folder of datasets; default COGMAP_DATA."
)
results_option = click.option(
    "--results", type=click.Path(dir_okay=False, path_type=Path), default=DEFAULT_RESULTS, show_default=True,
    help="Results file.",
)  # fmt: skip
jobs_option = click.option("--jobs", type=click.IntRange(1), default=lambda: os.cpu_count() or 1, help="Processes.")


@click.group()
def study() -> None:
    """Run the experiments of the paper, resume them, and tabulate what they show."""
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
@click.option("--retry-errors", is_flag=True, help="Run folds again that ended in an error.")
@jobs_option
@results_option
@data_dir_option
def run(datasets: str | None, classifiers: str | None, grids: str, results: Path, **options: Any) -> None:
    """Evaluate classifiers on datasets; a second run continues where the first stopped."""
    from ..datasets import PAPER
    from .registry import REGISTRY
    from .runner import Plan

    plan = Plan(
        datasets=_listed(datasets, PAPER),
        classifiers=classifier_names(_listed(classifiers, tuple(REGISTRY))),
        grids=tuple(grids.split(";")),
        inner=options["inner"],
        scale="file" if options["scale_first"] else "fold",
        seed=options["seed"],
        jobs=options["jobs"],
        limit=options["limit"],
        whole=not options["no_whole"],
        largest_first=options["largest_first"],
        retry=options["retry_errors"],
        data_dir=options["data_dir"],
    )
    follow(plan, results)


def classifier_names(words: tuple[str, ...]) -> tuple[str, ...]:
    """Replace groups by their members."""
    from .registry import ENTRIES, find

    groups = {entry.group for entry in ENTRIES}
    found: list[str] = []
    for word in words:
        names = [entry.name for entry in ENTRIES if entry.group == word] if word in groups else [find(word).name]
        found += [name for name in names if name not in found]
    return tuple(found)


def follow(plan: Any, results: Path) -> None:
    """Run a plan under a progress bar with the time left, and say where things stand every minute."""
    import time

    from tqdm import tqdm

    from .results import read
    from .runner import run as run_plan
    from .summary import summary_lines

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
    click.echo(f"{results}: complete.", err=True)


@study.command()
@results_option
def summary(results: Path) -> None:
    """Say where a run stands: mean kappa of each classifier so far, and errors."""
    from .results import read
    from .summary import summary_lines

    for line in summary_lines(read(results)):
        click.echo(line)


@study.command()
@click.argument("output", type=click.Path(dir_okay=False, path_type=Path))
@click.argument("inputs", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
def merge(output: Path, inputs: tuple[Path, ...]) -> None:
    """Join results files into OUTPUT: each row once, a result before an error."""
    from .results import merge as merged
    from .results import read, write

    write(output, merged([read(path) for path in inputs]))


@study.command()
def classifiers() -> None:
    """List the classifiers, the sizes of their grids, and what keeps one from running here."""
    from sklearn.model_selection import ParameterGrid

    from .registry import ENTRIES, Shape

    shape = Shape(1000, 20, 2)
    click.echo(f"{'classifier':<22}{'group':<10}{'paper grid':>10}{'small grid':>12}  here")
    for entry in ENTRIES:
        paper, small = (len(ParameterGrid(entry.grid(which, shape))) for which in ("paper", "small"))
        click.echo(f"{entry.name:<22}{entry.group:<10}{paper:>10}{small:>12}  {entry.missing() or 'yes'}")
