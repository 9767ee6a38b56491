"""``cogmap workbench``."""

from pathlib import Path

import click

from .console import NewFile
from .inputs import FILE, data_options, labelled, load_model
from .output import say, show

FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)


@click.command()
@click.argument("model", type=FILE)
@click.argument("data", type=FILE)
@click.option(
    "--session", type=NewFile(), metavar="FILE", help="The session; by default MODEL's name with .session.json."
)
@click.option(
    "--folder", type=FOLDER, metavar="DIR", help="Where files are read and written; by default the session's."
)
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port on this machine; any free one by default.")
@click.option("--browser/--no-browser", default=True, help="Open the page in the browser, or only print its URL.")
@click.option("--target", metavar="COL", help="Column that holds the classes; by default the one of MODEL.")
@click.option("--folds", type=click.IntRange(2), default=5, show_default=True, help="Folds of the cross-validation.")
@data_options
def workbench(
    model: Path,
    data: Path,
    session: Path | None,
    folder: Path | None,
    port: int,
    browser: bool,
    target: str | None,
    folds: int,
    delimiter: str | None,
    header: bool | None,
) -> None:
    r"""Open a page on which MODEL can be read, questioned and corrected, with the rows of DATA.

    Each statement asks who makes it and why, and is measured against the version before. The session is a file: nothing
    is lost when the page or this command ends, and the same command opens it again. The page is for this machine and
    this user only: it can be opened by the printed URL alone. Ctrl-C ends it.

    \b
    Examples:
      cogmap workbench people.cogmap people.csv
      cogmap workbench people.cogmap people.csv --no-browser --port 8000 --session review.session.json
    """
    from ..workbench import Workbench
    from ..workbench.server import serve

    path = model.with_name(f"{model.stem}.session.json") if session is None else session
    classifier = load_model(model)
    X, y = labelled(classifier, data, target, delimiter, header)
    bench = Workbench(classifier, X, y, session=path, folder=folder, title=data.stem, n_folds=folds, kept=(model, data))
    say(f"The session is kept in {path}. Ctrl-C ends the workbench.")
    serve(bench, port=port, browser=browser, tell=show)
