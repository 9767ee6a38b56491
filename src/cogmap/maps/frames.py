"""Results as frames of pandas, which is imported only here."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pandas import DataFrame


def data_frame(rows: Any, columns: tuple[str, ...] | None = None) -> "DataFrame":
    """Return rows as a frame; say what to install where there is no pandas."""
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError('Frames need pandas: pip install "cogmap[cli]".') from error
    return pd.DataFrame(rows, columns=None if columns is None else list(columns))
