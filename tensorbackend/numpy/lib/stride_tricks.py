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

from ..arrays import functions
from ..refused import missing_name_error
from ..strides import as_strided as as_strided

sliding_window_view = functions["sliding_window_view"]
broadcast_to = functions["broadcast_to"]
broadcast_arrays = functions["broadcast_arrays"]
broadcast_shapes = functions["broadcast_shapes"]


def __getattr__(name: str) -> Any:
    raise missing_name_error(name, __name__)
