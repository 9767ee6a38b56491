"""Errors that have a name, so that a program can tell them from others."""


class ModelFileError(ValueError):
    """A model file is damaged, from a newer version, or no model file; or a model holds what no file can."""
