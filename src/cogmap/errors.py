"""Errors with a name of their own; each says in one sentence what is wrong, and the way out."""


class DataFileError(ValueError):
    """A file of data cannot be read as one table."""
