"""Fitted classifiers as files: `model` (``.cogmap``, read without executing anything) and `onnx` (for any runtime).

Both write a `Fitted`. `files.model.read` returns plain values, which `estimators.loading` makes an estimator again.
"""
