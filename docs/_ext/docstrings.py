"""Docstrings as reStructuredText: names that end in an underscore, and bars around a size, are no markup.

Docstrings are written for people who read them in an editor. There `n_iter_` and |x| mean what they say; Sphinx would
take the one for a link and the other for a substitution.
"""

import re
from typing import Any

from sphinx.application import Sphinx

LITERAL = re.compile(r"(``.*?``|`.*?`)")
NAME = re.compile(r"(?<=\w)_(?!\w)")
BAR = re.compile(r"(?<!\\)\|")


def escaped(line: str) -> str:
    """Return a line with such marks escaped, outside of what is literal."""
    parts = LITERAL.split(line)
    return "".join(part if k % 2 else BAR.sub(r"\|", NAME.sub(r"\_", part)) for k, part in enumerate(parts))


def escape(app: Sphinx, what: str, name: str, found: Any, options: Any, lines: list[str]) -> None:
    """Escape a docstring, after numpydoc has laid it out; examples stay as they are."""
    in_example = False
    for k, line in enumerate(lines):
        in_example = line.lstrip().startswith(">>>") or (in_example and bool(line.strip()))
        if not in_example and not line.lstrip().startswith(".. "):
            lines[k] = escaped(line)


def plain_defaults(app: Sphinx, context: Any, lines: list[str]) -> None:
    """Show the default of an option of the command line as one types it."""
    lines[:] = [re.sub(r"(?:Posix|Windows)Path\('(.*?)'\)", r"\1", line) for line in lines]


def setup(app: Sphinx) -> dict[str, bool]:
    """Run after numpydoc, whose priority is the default."""
    app.connect("autodoc-process-docstring", escape, priority=900)
    app.connect("sphinx-click-process-options", plain_defaults)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
