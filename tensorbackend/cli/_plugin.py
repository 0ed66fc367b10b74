"""The distribution that reads ONNX models, which commands import when they need it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ..errors import ArgumentError, expected


def onnx_plugin(module: str) -> Any:
    """A module of tensorbackend-onnx; `ArgumentError` if that is not installed."""
    try:
        return import_module(f"tensorbackend_onnx.{module}")
    except ModuleNotFoundError as error:
        remedy = "install the distribution tensorbackend-onnx"
        raise ArgumentError(expected("tensorbackend-onnx to be installed", remedy, error=str(error))) from error
