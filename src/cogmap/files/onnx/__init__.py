"""Export of a fitted classifier to ONNX: plain operators in double precision, for any runtime and language."""

try:
    import onnx as _onnx  # noqa: F401
except ImportError as error:
    raise ImportError('Export to ONNX needs the onnx package: pip install "cogmap[onnx]".') from error

from .model_file import export
from .table import table_inputs

__all__ = ["export", "table_inputs"]
