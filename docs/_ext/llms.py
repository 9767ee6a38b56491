"""llms.txt: the site for language models, as a Markdown list of its pages with their first sentences.

It is made from the pages themselves, in the order of the navigation, so that no page can be forgotten. A link leads
to the source of a page, which is text.
"""

import re
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

SKIPPED = ("gallery/index", "how-to/index", "learn/index", "reference/index", "evidence/index")


def first_sentence(page: nodes.document) -> str:
    """Return the first sentence of the first paragraph that is text."""
    for paragraph in page.findall(nodes.paragraph):
        if isinstance(paragraph.parent, nodes.section):
            text = " ".join(paragraph.astext().split())
            return re.split(r"(?<=[.?!])\s", text)[0]
    return ""


def below(env: BuildEnvironment, name: str) -> list[str]:
    """Return the pages under one, depth first, in the order of the toctrees."""
    found: list[str] = []
    for child in env.toctree_includes.get(name, []):
        found += [child, *below(env, child)]
    return found


def line(app: Sphinx, name: str) -> str:
    """Return the entry of a page."""
    page = app.env.get_doctree(name)
    made = "/generated/" in name  # its source says nothing but which docstring to take
    link = f"{name}.html" if made else f"_sources/{name}{Path(app.env.doc2path(name)).suffix}"
    about = first_sentence(page)
    return f"- [{app.env.titles[name].astext()}]({link})" + (f": {about}" if about else "")


def write(app: Sphinx, error: Exception | None) -> None:
    """Write the file beside the pages."""
    if error is not None or app.builder.format != "html":
        return
    home = app.config.root_doc
    lines = [f"# {app.config.project}", "", f"> {first_sentence(app.env.get_doctree(home))}", ""]
    for part in app.env.toctree_includes[home]:
        pages = [name for name in below(app.env, part) if name not in SKIPPED]
        lines += [f"## {app.env.titles[part].astext()}", "", *(line(app, name) for name in dict.fromkeys(pages)), ""]
    (Path(app.outdir) / "llms.txt").write_text("\n".join(lines), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Write llms.txt when the pages are there."""
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
