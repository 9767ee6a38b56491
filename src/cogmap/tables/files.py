"""Tables in files as blocks of rows, through pyarrow: Parquet, Arrow (Feather) and CSV; one file or a folder.

Easy to get wrong: pyarrow holds a whole Parquet file in memory while it is read, unless it is told not to.
"""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import DataFileError
from ..intake.checks import module
from ..knowledge.names import no_column

FORMATS = {".parquet": "parquet", ".pq": "parquet", ".arrow": "feather", ".feather": "feather", ".csv": "csv"}


def table_blocks(
    source: Any, target: str | None, weight: str | None, block_rows: int
) -> Callable[[], Iterator[tuple[Any, ...]]]:
    """Return a function that yields (X, y) or (X, y, weight) of a file, a folder or a pyarrow dataset anew."""
    dataset = source if hasattr(source, "to_batches") else _opened(source)
    names = list(dataset.schema.names)
    for name in (target, weight):
        if name is not None and name not in names:
            raise DataFileError(no_column(name, names))
    if target is None:
        raise ValueError(f"Say which column holds the classes, target=…: one of {', '.join(map(repr, names))}.")
    features = [name for name in names if name not in (target, weight)]

    def start() -> Iterator[tuple[Any, ...]]:
        pandas = module("pandas", "parquet")
        # Read ahead as little as possible: what is read and not used yet counts as memory too.
        sparing = {"use_threads": False, "batch_readahead": 1, "fragment_readahead": 1}
        options = _unbuffered(dataset)
        for batch in dataset.to_batches(batch_size=block_rows, fragment_scan_options=options, **sparing):
            X = np.column_stack([_numbers(batch.column(name), name) for name in features])
            rows = [pandas.DataFrame(X, columns=features), _labels(batch.column(target), target)]
            yield (*rows, _numbers(batch.column(weight), weight)) if weight is not None else tuple(rows)

    return start


def _opened(path: str | os.PathLike[str]) -> Any:
    file = Path(path)
    if not file.exists():
        raise DataFileError(f"There is no file {str(path)!r}.")
    if not (file.is_file() or file.is_dir()):
        raise DataFileError(f"{str(path)!r} is a pipe or a device, which can be read once only: save it to a file.")
    names = [file.name] if file.is_file() else sorted(part.name for part in file.iterdir())
    kinds = {kind for name in names for ending, kind in FORMATS.items() if name.removesuffix(".gz").endswith(ending)}
    if len(kinds) != 1:
        raise DataFileError(f"{str(path)!r} must be, or hold, files of one kind among {', '.join(FORMATS)}.")
    return module("pyarrow.dataset", "parquet").dataset(str(path), format=kinds.pop())


def _unbuffered(dataset: Any) -> Any:
    """Return the options by which pyarrow reads a Parquet file piece by piece; None for other formats."""
    library = module("pyarrow.dataset", "parquet")
    if isinstance(getattr(dataset, "format", None), library.ParquetFileFormat):
        return library.ParquetFragmentScanOptions(pre_buffer=False)
    return None


def _numbers(column: Any, name: str) -> NDArray[np.float64]:
    try:
        return np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataFileError(
            f"Column {name!r} holds {column.type}, not numbers: encode it first, or leave it out of the file."
        ) from error


def _labels(column: Any, name: str) -> NDArray[Any]:
    if column.null_count:
        raise DataFileError(f"Column {name!r} misses a class in {column.null_count} rows of a block: drop these rows.")
    if hasattr(column, "dictionary_decode"):
        column = column.dictionary_decode()
    return np.asarray(column.to_numpy(zero_copy_only=False))
