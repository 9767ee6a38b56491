r"""The command line: arguments to the public API. Data goes to stdout, messages to stderr.

Exit codes: 2 for a user's mistake (an option, a file, a column), 1 for a failure. Each command has its file; `inputs`,
`passes`, `output` and `console` are what they share. Importing one must stay cheap, since ``cogmap --help`` imports
all: the library itself is imported inside the functions.

Easy to get wrong: click keeps the lines of a paragraph that begins with the character backspace. Docstrings are raw, so
they hold ``\b`` as two characters; `_keep_lines` makes them one.
"""

import warnings
from collections.abc import Callable
from typing import Any

import click

from .. import __version__
from .console import printable
from .demo import demo
from .edit import edit
from .evaluate import evaluate
from .explain import explain
from .export import export
from .fit import fit
from .maps import map_group
from .output import say
from .predict import predict
from .report import report
from .study import study
from .workbench import workbench


class Mistake(click.ClickException):
    """Something that the user can put right."""

    exit_code = 2

    def format_message(self) -> str:
        """Return the message as a terminal may show it."""
        return printable(self.message)


class Failure(Mistake):
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
        except MemoryError as error:
            raise Failure(_memory_sentence(error)) from error
        except ModuleNotFoundError as error:
            raise Failure(f'{error}: pip install "cogmap[cli]".') from error
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


def _memory_sentence(error: MemoryError) -> str:
    """Say that memory does not suffice, and the way out, unless the error says so itself."""
    from ..errors import TooLargeError

    if isinstance(error, TooLargeError):
        return str(error)
    reason = f" ({error})" if str(error) else ""
    return (
        f"The memory does not suffice{reason}: use fewer columns (--only, --drop) or rows, --no-tune, or for fit a "
        "smaller --memory."
    )


def _keep_lines(command: click.Command) -> None:
    r"""Turn the two characters \b of a raw docstring into the one by which click keeps a paragraph's lines."""
    command.help = (command.help or "").replace("\\b\n", "\b\n")
    for inner in getattr(command, "commands", {}).values():
        _keep_lines(inner)


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
      cogmap workbench people.cogmap people.csv
    """


for command in (demo, fit, predict, evaluate, explain, edit, report, export, map_group, study, workbench):
    main.add_command(command)
_keep_lines(main)
