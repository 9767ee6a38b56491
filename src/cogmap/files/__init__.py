"""Fitted classifiers as files: `model` (``.cogmap``, read without executing anything), `onnx` (for any runtime)."""
