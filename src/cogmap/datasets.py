"""The paper's datasets: see `load`."""

from .study.datasets import NAMES, PAPER, Dataset, UnknownDatasetError, load

__all__ = ["NAMES", "PAPER", "Dataset", "UnknownDatasetError", "load"]
