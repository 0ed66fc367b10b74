"""`numpy.lib.stride_tricks`: memory in other steps, windows and broadcasting.

Examples
--------
>>> import tensorbackend.numpy as np
>>> from tensorbackend.numpy.lib.stride_tricks import sliding_window_view
>>> sliding_window_view(np.arange(4), 2)
array([[0, 1],
       [1, 2],
       [2, 3]])
"""

from __future__ import annotations

from typing import Any

from ..functions import PUBLIC
from ..host_modules import missing_name_error
from ..strides import as_strided as as_strided

sliding_window_view = PUBLIC["sliding_window_view"]
broadcast_to = PUBLIC["broadcast_to"]
broadcast_arrays = PUBLIC["broadcast_arrays"]
broadcast_shapes = PUBLIC["broadcast_shapes"]


def __getattr__(name: str) -> Any:
    raise missing_name_error(name, __name__)
