"""What an argument of the command line names in a module or a file: a function, templates, or a backend."""

from __future__ import annotations

import os
import re
import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, Final

from ..errors import ArgumentError, expected

PLACE: Final = re.compile(r"(?P<module>[\w./\\-]+):(?P<name>[A-Za-z_][\w.]*)")
"""The text of a place, `module:name` or `file.py:name`."""


def place(text: str) -> Any:
    """The object that a module or a file holds under a name; `ArgumentError` if there is none."""
    match = PLACE.fullmatch(text)
    if match is None:
        raise ArgumentError(expected("module:name or file.py:name", function=text))
    name = match["module"]
    sys.path.insert(0, os.getcwd())  # as `python -m` does
    try:
        resolved: Any = _import_file(Path(name)) if name.endswith(".py") else import_module(name)
        for part in match["name"].split("."):
            resolved = getattr(resolved, part)
    except Exception as error:  # whatever the user's module raises
        came = f"{type(error).__name__}: {error}"
        raise ArgumentError(expected(f"{text} to exist", "check the name and the folder", error=came)) from error
    return resolved


def _import_file(path: Path) -> Any:
    spec = spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise FileNotFoundError(f"no file {path}")
    sys.path.insert(0, str(path.resolve().parent))  # as Python does for a script
    if path.stem not in sys.modules:
        sys.modules[path.stem] = module = module_from_spec(spec)
        spec.loader.exec_module(module)
    return sys.modules[path.stem]


def onnx_plugin(module: str) -> Any:
    """A module of tensorbackend-onnx; `ArgumentError` if that is not installed."""
    try:
        return import_module(f"tensorbackend_onnx.{module}")
    except ModuleNotFoundError as error:
        remedy = "install the distribution tensorbackend-onnx"
        raise ArgumentError(expected("tensorbackend-onnx to be installed", remedy, error=str(error))) from error
