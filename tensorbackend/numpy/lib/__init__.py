"""`numpy.lib`: its modules that programs import."""

from __future__ import annotations

from typing import Any

from numpy.lib import Arrayterator as Arrayterator
from numpy.lib import NumpyVersion as NumpyVersion
from numpy.lib import add_docstring as add_docstring
from numpy.lib import add_newdoc as add_newdoc
from numpy.lib import tracemalloc_domain as tracemalloc_domain

from ..host_modules import NAMES, host_module, missing_name_error
from . import array_utils as array_utils
from . import scimath as scimath
from . import stride_tricks as stride_tricks


def __getattr__(name: str) -> Any:
    if f"lib.{name}" in NAMES:
        return host_module(f"lib.{name}")
    raise missing_name_error(name, __name__)
