"""`numpy.lib`: its modules that programs import."""

from __future__ import annotations

from typing import Any

from numpy.lib import NumpyVersion as NumpyVersion

from ..refused import missing_name_error
from . import array_utils as array_utils
from . import scimath as scimath
from . import stride_tricks as stride_tricks


def __getattr__(name: str) -> Any:
    raise missing_name_error(name, __name__)
