"""The command line: arguments to the public API. Data goes to stdout, messages to stderr.

Exit codes: 2 for a user's mistake (an option, a file, a column), 1 for a failure. Each command has its file. Importing
one must stay cheap, since ``cogmap --help`` imports all: the library itself is imported inside the functions.
"""

import warnings
from collections.abc import Callable
from typing import Any

import click

from .. import __version__
from ..study.cli import study
from .demo import demo
from .edit import edit
from .evaluate import evaluate
from .explain import explain
from .export import export
from .fit import fit
from .output import say
from .predict import predict
from .report import report


class Mistake(click.ClickException):
    """Something that the user can put right."""

    exit_code = 2


class Failure(click.ClickException):
    """Something that went wrong on the way."""

    exit_code = 1


class Commands(click.Group):
    """A group of commands whose errors are one sentence each."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; turn the library's errors into messages and exit codes."""
        try:
            with warnings.catch_warnings():
                warnings.showwarning = _once()
                return super().invoke(ctx)
        except BrokenPipeError:  # the reader of stdout has seen enough, which click treats as such
            raise
        except (ArithmeticError, ImportError, OSError) as error:
            raise Failure(str(error)) from error
        except ValueError as error:
            if type(error).__name__ == "LinAlgError":
                raise Failure(str(error)) from error
            raise Mistake(str(error)) from error


def _once() -> Callable[..., None]:
    """Return a function that prints each warning once, however often a command meets its cause."""
    said: set[str] = set()

    def show(message: Any, *_: Any, **__: Any) -> None:
        if str(message) not in said:
            said.add(str(message))
            say(f"Warning: {message}")

    return show


@click.group(cls=Commands)
@click.version_option(__version__, prog_name="cogmap")
def main() -> None:
    r"""Glass-box classifiers from recurrence-aware Long-Term Cognitive Networks.

    \b
    From a table to an explained model:
      cogmap evaluate people.csv --target survived
      cogmap fit people.csv --target survived --model people.cogmap
      cogmap explain people.cogmap people.csv --row 0
      cogmap predict people.cogmap new.csv -o predicted.csv
      cogmap report people.cogmap people.csv -o report.html
      cogmap export people.cogmap people.onnx
    """


for command in (demo, fit, predict, evaluate, explain, edit, report, export, study):
    main.add_command(command)
