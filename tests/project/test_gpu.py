"""What needs a GPU, and is skipped for no other reason."""

from __future__ import annotations

import numpy as np
import pytest

import tensorbackend as tb
from tensorbackend.errors import BackendError


def test_cupy() -> None:
    try:
        backend = tb.get_backend("cupy")
    except BackendError as error:
        pytest.skip(f"needs a GPU: {error}")
    x = tb.tensor([[1.0, 2.0], [3.0, 4.0]], names=("row", None), backend=backend)
    assert (x @ x).backend_transfer("numpy").tolist() == [[7.0, 10.0], [15.0, 22.0]]
    assert tb.from_dlpack(x.data, backend=backend).data.data.ptr == x.data.data.ptr
    assert np.asarray(x.block_until_ready()).tolist() == x.tolist()
    assert x.__cuda_array_interface__["shape"] == (2, 2)
