"""Warnings that say when a result is not to be trusted."""


class IllConditionedWarning(UserWarning):
    """Rounding errors decide part of the result: another machine or row order may give another one."""


class UnreliableRelevanceWarning(UserWarning):
    """Relevance or attributions owe more to cancelling weights or to rounding than to the decision."""
