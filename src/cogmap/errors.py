"""Errors with a name of their own; each says in one sentence what is wrong, and the way out."""


class DataFileError(ValueError):
    """A file of data cannot be read as one table."""


class ModelFileError(ValueError):
    """A model file is damaged, from a newer version, or no model file; or a model holds what no file can."""
