"""Parquet, Arrow and Feather files, some rows at a time or at once, through pyarrow.

Easy to get wrong: pyarrow converts part by part. Whole numbers become floats, and true and false objects, where a value
is missing; `scan` finds the columns in which one is, so that all parts have the types of the whole file.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import DataFileError
from ..intake.progress import Meter
from .contents import Contents, refusing
from .layout import check_names
from .limits import CELL_BYTES, check_room, part_rows

if TYPE_CHECKING:
    import pandas as pd

PARQUET = b"PAR1"
FAULT = "{} is not a readable Parquet, Arrow or Feather file"


def is_arrow(path: Path, start: bytes) -> bool:
    """Say whether a file that starts so is Parquet, Arrow or Feather rather than CSV."""
    said = path.suffix.lower() in (".parquet", ".pq", ".arrow", ".feather")
    return said or start[:4] in (PARQUET, b"ARRO", b"FEA1", b"\xff\xff\xff\xff")


@dataclass
class ArrowParts:
    """A Parquet, Arrow or Feather file; `gaps` are columns of which a part may lack the missing values of others."""

    contents: Contents
    schema: Any
    names: list[str]
    n_rows: int
    notes: list[str] = field(default_factory=list)
    gaps: set[str] = field(default_factory=set)

    @classmethod
    def opened(cls, contents: Contents) -> "ArrowParts":
        """Look at the schema."""
        path = contents.path
        try:
            import pyarrow as pa  # noqa: F401 # what is not installed is no fault of the file
        except ImportError as error:
            raise ImportError(f'Reading {path.name} needs pyarrow: pip install "cogmap[parquet]".') from error
        with refusing(FAULT.format(path)):
            schema, n_rows = _shape(contents)
            names = [] if schema is None else [str(name) for name in schema.empty_table().to_pandas().columns]
        check_names(path, names)
        if n_rows == 0:
            raise DataFileError(f"{path} has columns but no rows.")
        return cls(contents, schema, names, n_rows)

    @property
    def n_bytes(self) -> int:
        """About how much memory it takes to read the file at once."""
        return CELL_BYTES * self.n_rows * len(self.names)

    def scan(self, meter: Meter, *, last: int | None = None) -> None:
        """Find the columns of whole numbers or of true and false in which a value is missing."""
        import pyarrow as pa

        if self.n_rows <= part_rows(len(self.names)):
            return
        may = [f.name for f in self.schema if pa.types.is_integer(f.type) or pa.types.is_boolean(f.type)]
        with refusing(FAULT.format(self.contents.path)):
            for batch in _batches(self.contents, may) if may else ():
                self.gaps |= {name for name in may if batch.column(name).null_count}

    def at_once(self) -> "pd.DataFrame":
        """Return all rows."""
        import pyarrow as pa

        check_room(self.contents.path, self.n_bytes)
        with refusing(FAULT.format(self.contents.path)):
            table = pa.Table.from_batches(_batches(self.contents), self.schema)
            table.validate(full=True)
            frame: pd.DataFrame = table.to_pandas()
        return frame

    def __call__(self) -> "Iterator[pd.DataFrame]":
        """Yield the rows, some at a time, in their order."""
        with refusing(FAULT.format(self.contents.path)):
            for table in _tables(_batches(self.contents), part_rows(len(self.names))):
                table.validate(full=True)
                yield self._typed(table.to_pandas().reset_index(drop=True).set_axis(self.names, axis=1))

    def _typed(self, part: "pd.DataFrame") -> "pd.DataFrame":
        """Give columns the types that missing values in other parts give them."""
        types = {name: part[name].dtype for name in self.gaps & set(self.names)}
        whole = {name: float for name, kind in types.items() if isinstance(kind, np.dtype) and kind.kind in "iu"}
        truth = {name: object for name, kind in types.items() if isinstance(kind, np.dtype) and kind.kind == "b"}
        return part.astype(whole | truth)


def _shape(contents: Contents) -> tuple[Any, int]:
    """Return the schema and the number of rows."""
    if contents.start[:4] == PARQUET:
        with _parquet(contents) as file:
            return file.schema_arrow, file.metadata.num_rows
    schema, n_rows = None, 0
    for batch in _batches(contents):
        schema, n_rows = batch.schema, n_rows + batch.num_rows
    return schema, n_rows


def _parquet(contents: Contents) -> Any:
    from pyarrow import BufferReader, parquet

    # Without buffers nothing is read ahead, which would count as memory too.
    source = str(contents.path) if contents.held is None else BufferReader(contents.held)
    return parquet.ParquetFile(source, pre_buffer=False)


def _batches(contents: Contents, columns: list[str] | None = None) -> Iterator[Any]:
    """Yield the rows in batches of pyarrow; of Parquet, these columns only."""
    import pyarrow as pa
    from pyarrow import feather

    if contents.start[:4] == PARQUET:
        with _parquet(contents) as file:
            # Threads would read ahead, too.
            yield from file.iter_batches(part_rows(len(file.schema_arrow)), columns=columns, use_threads=False)
        return
    with pa.OSFile(str(contents.path)) if contents.held is None else pa.BufferReader(contents.held) as file:
        if contents.start[:4] == b"FEA1":  # the first version of Feather has no parts
            yield from feather.read_table(file).to_batches()
        elif contents.start[:4] == b"\xff\xff\xff\xff":
            yield from pa.ipc.open_stream(file)
        else:
            reader = pa.ipc.open_file(file)
            for i in range(reader.num_record_batches):
                yield reader.get_batch(i)


def _tables(batches: Iterable[Any], size: int) -> Iterator[Any]:
    """Yield tables of `size` rows, the last one less, whatever the batches were."""
    import pyarrow as pa

    held: list[Any] = []
    room = size
    for batch in batches:
        begin = 0
        while begin < batch.num_rows:
            held.append(batch.slice(begin, room))
            begin, room = begin + held[-1].num_rows, room - held[-1].num_rows
            if room == 0:
                yield pa.Table.from_batches(held)
                held, room = [], size
    if held:
        yield pa.Table.from_batches(held)
