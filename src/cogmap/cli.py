"""The command line: arguments to the public API. Data goes to stdout, messages to stderr."""

from pathlib import Path

import click


@click.group()
@click.version_option(package_name="cogmap")
def main() -> None:
    """Glass-box classifiers from recurrence-aware Long-Term Cognitive Networks."""


@main.command()
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("demo"),
    show_default=True,
    help="Folder for the pictures.",
)
def demo(output: Path) -> None:
    """Fit a network to a dataset that scikit-learn embeds, and draw what it learned."""
    from .demo import run

    for line in run(output):
        click.echo(line)
