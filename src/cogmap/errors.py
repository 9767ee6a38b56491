"""Errors and warnings with names of their own.

An error says in one sentence what is wrong, and the way out; a warning says when a result is not to be trusted.
"""


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


class IllConditionedWarning(UserWarning):
    """Rounding errors decide part of the result: another machine or row order may give another one."""


class KnowledgeWarning(UserWarning):
    """What was stated about the edges has no effect, or a price: the data has no such edge, or a safeguard is off."""


class ManyClassesWarning(UserWarning):
    """There are so many classes that a fit takes long; most often y is a quantity."""


class NoInformationWarning(UserWarning):
    """The rows tell nothing about the class, by leave-one-out: a model gives every row the classes' shares."""


class RestartWarning(UserWarning):
    """`partial_fit` begins anew: what the classifier knew came from `fit` or a file, which keep no sums to add to."""


class UnreliableRelevanceWarning(UserWarning):
    """Relevance or attributions owe more to cancelling weights or to rounding than to the decision."""


class UnseenValueWarning(UserWarning):
    """Rows have categories that no training row had; these count as "other", or as none of the known ones.

    Attributes
    ----------
    unseen : dict of dict of int
        For each column, its values that `fit` did not see, and the number of rows that have each.
    """

    def __init__(self, message: str, unseen: dict[str, dict[str, int]]) -> None:
        super().__init__(message)
        self.unseen = unseen
