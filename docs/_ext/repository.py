"""Links that work in the repository, on the site: examples become the pages that are built from them.

Pages are read in two places. In the repository an example is a script under `examples/`; on the site it is a page.
"""

import re

from sphinx.application import Sphinx

EXAMPLE = re.compile(r"\]\(((?:\.\./)*)\.\./examples/([a-z-]+)/(\w+)\.py(#[\w-]+)?\)")


def to_pages(app: Sphinx, name: str, source: list[str]) -> None:
    """Replace links to scripts by links to their pages."""
    source[0] = EXAMPLE.sub(r"](\1\2/\3.rst\4)", source[0])


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the replacement."""
    app.connect("source-read", to_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
