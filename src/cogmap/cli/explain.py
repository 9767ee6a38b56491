"""``cogmap explain``."""

import click


@click.command()
def explain() -> None:
    """."""
