"""Errors with a name of their own; each says in one sentence what is wrong, and the way out."""


class ModelFileError(ValueError):
    """A model file is damaged, from a newer version, or no model file; or a model holds what no file can."""
