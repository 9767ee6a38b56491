"""The command line: arguments to the public API. Data goes to stdout, messages to stderr."""

from importlib import import_module
from pathlib import Path

import click

LAZY = {"study": "cogmap.study.cli"}


class LazyGroup(click.Group):
    """A group whose larger subcommands are imported when they are used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return all names, the lazy ones among them."""
        return sorted({*super().list_commands(ctx), *LAZY})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, importing its module if need be."""
        if cmd_name in LAZY:
            command: click.Command = getattr(import_module(LAZY[cmd_name]), cmd_name)
            return command
        return super().get_command(ctx, cmd_name)


@click.group(cls=LazyGroup)
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
