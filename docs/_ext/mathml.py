"""Formulas as MathML, by the converter of docutils: nothing to load, nothing to run.

Easy to get wrong: a formula that the converter does not know must stop the build, or it would stand there as TeX.
"""

from docutils import nodes
from docutils.utils.math import MathError, latex2mathml
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError


def mathml(source: str, *, block: bool) -> str:
    """Return a formula as a MathML element."""
    try:
        tree = latex2mathml.tex2mathml(source, as_block=block)
    except MathError as error:
        raise ExtensionError(f"The formula {source!r} cannot become MathML: {error}.") from error
    return str(tree)


def inline(translator, node: nodes.math) -> None:
    """Write a formula within a line."""
    translator.body.append(mathml(node.astext(), block=False))
    raise nodes.SkipNode


def display(translator, node: nodes.math_block) -> None:
    """Write a formula on a line of its own, which scrolls where it is wider than the page."""
    translator.body.append(f'<div class="formula">{mathml(node.astext(), block=True)}</div>\n')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer."""
    app.add_html_math_renderer("mathml", inline_renderers=(inline, None), block_renderers=(display, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
