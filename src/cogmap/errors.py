"""Errors that have a name, so that a program can tell them from others."""


class DataFileError(ValueError):
    """A file of data cannot be read as one table."""


class ModelFileError(ValueError):
    """A model file is damaged, from a newer version, or no model file; or a model holds what no file can."""
