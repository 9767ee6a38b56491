"""The workbench in a notebook: the page's own modules in a widget, and calls as messages.

Easy to get wrong: a widget has no server. Its modules are sent along with it, and the seam is the same as the page's.
"""

from functools import cache
from importlib import resources
from typing import Any

from ..intake.checks import module
from . import seam
from .bench import Workbench
from .server import page_files

MAIN = "main.js"
"""The page's own beginning, which a notebook has no use for: it asks for the token."""


def workbench(model: Any, X: Any, y: Any, **options: Any) -> Any:
    """Show the workbench in a notebook.

    Parameters
    ----------
    model : LTCNClassifier, LTCNClassifierCV or TabularClassifier
        A fitted model.
    X : DataFrame or array-like of shape (n_samples, n_columns)
        Rows, most often those that the model was fitted on.
    y : array-like of shape (n_samples,)
        Their classes.
    **options
        Those of `Workbench`: `session`, `folder`, `title`, `n_folds`.

    Returns
    -------
    anywidget.AnyWidget
        The widget; its `bench` is the `Workbench`, by which Python can do all that the page does. Needs the extra
        ``notebook``.
    """
    kind = _widget_class()
    return kind(Workbench(model, X, y, **options))


@cache
def _widget_class() -> Any:
    anywidget, traitlets = module("anywidget", "notebook"), module("traitlets", "notebook")
    base: Any = anywidget.AnyWidget
    files = {name: content.decode() for name, content in page_files().items() if name.endswith((".js", ".css"))}

    class WorkbenchWidget(base):
        """A workbench as a widget."""

        _esm = (resources.files(__package__) / "widget.js").read_text(encoding="utf-8")
        sources = traitlets.Dict({k: v for k, v in files.items() if k.endswith(".js") and k != MAIN}).tag(sync=True)
        style = traitlets.Unicode(files["app.css"]).tag(sync=True)

        def __init__(self, bench: Workbench) -> None:
            super().__init__()
            self.bench = bench
            self.on_msg(self._answer)

        def _answer(self, _: Any, content: Any, buffers: Any) -> None:
            """Answer a call of the page."""
            _, answer = seam.answer(self.bench, str(content.get("name")), content.get("payload", {}))
            self.send({"id": content.get("id"), "answer": answer})

        def close(self) -> None:
            """Take the widget away, and end the fit at work."""
            self.bench.close()
            super().close()

    return WorkbenchWidget
