"""The workbench: where an expert and the model talk, in a page of a local server or in a notebook.

The module itself can be called: ``cogmap.workbench(clf, X, y)`` shows the workbench in a notebook. Read `history` (what
was stated), `held` (the values, and how they change), `fitting` (fits in a process of their own), `views`, `stating`,
`mapping`, `scenarios`, `exporting` (what can be done, each action a method), `bench`, `seam` (the one way in for page
and notebook), `guard` and `server`, `widget`.
"""

import sys
from types import ModuleType
from typing import Any

from .bench import Workbench

__all__ = ["Workbench"]


class _Room(ModuleType):
    """A module that can be called."""

    def __call__(self, model: Any, X: Any, y: Any, **options: Any) -> Any:
        """Show the workbench in a notebook; see `cogmap.workbench.widget.workbench`."""
        from .widget import workbench

        return workbench(model, X, y, **options)


sys.modules[__name__].__class__ = _Room
