"""Arrays: operators, methods, indexing keys, and conversion from and to NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_type

import numpy as np

import tensorbackend as tb
from tensorbackend import Tensor

x = assert_type(tb.asarray(np.arange(12.0).reshape(3, 4), names=("row", "column")), Tensor)
assert_type(x + 1, Tensor)
assert_type(1 - x, Tensor)
assert_type(2**x, Tensor)
assert_type(-x, Tensor)
assert_type(x @ x.T.rename("column", "other"), Tensor)
assert_type(x == 1, Tensor)
assert_type(x > 2, Tensor)
assert_type(~(x > 2), Tensor)
assert_type(divmod(x, 2), tuple[Tensor, Tensor])
assert_type(round(x), Tensor)
assert_type(abs(x), Tensor)
assert_type(x[0], Tensor)
assert_type(x[0, ::2], Tensor)
assert_type(x[x > 2], Tensor)
assert_type(x[..., None, [0, 1]], Tensor)
assert_type(x.isel(row=0), Tensor)
assert_type(x.rename(row="line"), Tensor)
assert_type(x.sum("row"), Tensor)
assert_type(float(x.mean().item().real), float)
assert_type(x.astype("f64").reshape((-1,)), Tensor)
assert_type(x.argmax(0), Tensor)
assert_type(list(x), list[Tensor])
assert_type(x.shape, tuple[int, ...])
assert_type(x.names, tuple[str | None, ...])
assert_type(x.dtype, tb.DType)
assert_type(float(x[0, 0]), float)
assert_type(tb.to_batched(x, 2), Iterator[Tensor])
x += 1
x[0, 0] = 5
assert_type(x, Tensor)
assert np.asarray(x)[0, 0] == 5
