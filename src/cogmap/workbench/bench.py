"""The workbench: one object with everything that its page can do, each under the same name."""

from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from ..report.subject import subject
from . import seam
from .exporting import Exporting
from .stating import Stating
from .views import Views


class Workbench(Views, Stating, Exporting):
    """A fitted model, its rows, and a session in which experts correct it.

    Statements go into a history that only grows, each with who made it and why; every change is fitted and measured in
    a process of its own, against the version before. With a file, the session can be opened again.

    Parameters
    ----------
    model : LTCNClassifier, LTCNClassifierCV or TabularClassifier
        A fitted model.
    X : DataFrame or array-like of shape (n_samples, n_columns)
        Rows, most often those that the model was fitted on.
    y : array-like of shape (n_samples,)
        Their classes.
    session : path-like, default=None
        The file of the session; one that is there is opened. None for a session that ends with the object.
    folder : path-like, default=None
        Where files are read and written; by default the folder of the session, or the present one.
    title : str, default=None
        What the session is about; by default the name of the classes.
    n_folds : int, default=5
        Folds of the cross-validation.
    kept : sequence of path-like, default=()
        Files in the folder that no export may replace.
    refit : bool, default=True
        Whether changes are fitted at once; otherwise `begin_refit` and `refit` do nothing.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from cogmap import LTCNClassifier
    >>> from cogmap.workbench import Workbench
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> bench = Workbench(LTCNClassifier().fit(X, y), X, y, refit=False)
    >>> state = bench.forbid("petal width (cm)", "sepal width (cm)", author="A. Botanist", reason="they grow apart")
    >>> state["version"], [one["claim"] for one in state["statements"]]
    (1, ['no edge petal width (cm) → sepal width (cm)'])
    >>> bench.what_if({"petal width (cm)": 0.2, "petal length (cm)": 1.4})["predicted"]
    '0'
    >>> [entry["title"] for entry in bench.call("undo", {}) and bench.history()["entries"]][-1]
    'undo: no edge petal width (cm) → sepal width (cm)'
    """

    def __init__(
        self,
        model: Any,
        X: Any,
        y: ArrayLike,
        *,
        session: Any = None,
        folder: Any = None,
        title: str | None = None,
        n_folds: int = 5,
        kept: Any = (),
        refit: bool = True,
    ) -> None:
        about = subject(model, X, y)
        path = None if session is None else Path(session).absolute()
        place = Path(folder) if folder is not None else path.parent if path is not None else Path.cwd()
        super().__init__(
            about,
            title=title or about.target or type(model).__name__,
            n_folds=n_folds,
            session=path,
            folder=place,
            kept=tuple(Path(one) for one in kept),
            refit=refit,
        )

    def call(self, name: str, payload: dict[str, Any]) -> dict[str, Any]:
        """Call a method by its name with arguments from JSON; the page and notebooks do nothing else.

        Parameters
        ----------
        name : str
            One of `seam.NAMES`.
        payload : dict
            Its arguments; of names that Python keeps for itself, such as "class", without the mark behind.

        Returns
        -------
        dict
            Plain data, as JSON has it.
        """
        return seam.call(self, name, payload)
