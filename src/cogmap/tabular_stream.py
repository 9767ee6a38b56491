"""Fit to raw tables in files, in passes: see `fit`."""

from .estimators.tabular_stream import FittedFile, fit

__all__ = ["FittedFile", "fit"]
