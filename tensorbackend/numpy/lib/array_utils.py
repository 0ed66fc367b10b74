"""`numpy.lib.array_utils`: positions of axes, and where an array's memory begins and ends.

Examples
--------
>>> from tensorbackend.numpy.lib.array_utils import normalize_axis_index
>>> normalize_axis_index(-1, 3)
2
"""

from __future__ import annotations

from typing import Any

import numpy.lib.array_utils

from ..arrays import ndarray
from ..host_modules import missing_name_error
from ..layouts import layout_of
from ..shapes import axis_position

normalize_axis_tuple = numpy.lib.array_utils.normalize_axis_tuple


def normalize_axis_index(axis: int, ndim: int, msg_prefix: str | None = None) -> int:
    """The position of an axis from 0 on; `AxisError` outside."""
    return axis_position(axis, ndim, "axis" if msg_prefix is None else f"{msg_prefix}: axis")


def byte_bounds(a: Any) -> tuple[int, int]:
    """The first byte of an array's memory, and the one behind the last; of arrays here, in the layout of their base."""
    return numpy.lib.array_utils.byte_bounds(layout_of(a) if a.__class__ is ndarray else a)


def __getattr__(name: str) -> Any:
    raise missing_name_error(name, __name__)
