"""``cogmap demo``."""

from pathlib import Path

import click

from .console import NewFolder
from .output import emit, json_option, show


@click.command()
@click.option(
    "--output",
    type=NewFolder(),
    default=Path("demo"),
    show_default=True,
    help="Folder for the pictures.",
)
@json_option
def demo(output: Path, as_json: bool) -> None:
    """Fit a network to a dataset that scikit-learn embeds, and draw what it learned."""
    from .first_demo import lines, measure

    found = measure(output)
    if as_json:
        emit(found)
    else:
        show("\n".join(lines(found)))
