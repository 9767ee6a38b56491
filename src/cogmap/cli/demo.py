"""``cogmap demo``."""

from pathlib import Path

import click

from .output import emit, json_option


@click.command()
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("demo"),
    show_default=True,
    help="Folder for the pictures.",
)
@json_option
def demo(output: Path, as_json: bool) -> None:
    """Fit a network to a dataset that scikit-learn embeds, and draw what it learned."""
    from ..demo import lines, measure

    found = measure(output)
    if as_json:
        emit(found)
    else:
        click.echo("\n".join(lines(found)))
