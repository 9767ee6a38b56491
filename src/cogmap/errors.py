"""Errors with a name of their own; each says in one sentence what is wrong, and the way out."""


class DataFileError(ValueError):
    """A file of data cannot be read as one table."""


class TooLargeError(MemoryError):
    """What is asked for takes more memory than there is; raised before any of it is taken."""


class ModelFileError(ValueError):
    """A model file is damaged, from a newer version, or no model file; or a model holds what no file can."""


class UnusableColumnError(ValueError):
    """A column of a table cannot become concepts, as it is.

    Attributes
    ----------
    name, reason, way_out : str
        The column, what is wrong with it, and what to do.
    """

    def __init__(self, name: str, reason: str, way_out: str) -> None:
        super().__init__(name, reason, way_out)
        self.name, self.reason, self.way_out = name, reason, way_out

    def __str__(self) -> str:
        """Return one sentence."""
        return f"Column {self.name!r} {self.reason}: {self.way_out}"
