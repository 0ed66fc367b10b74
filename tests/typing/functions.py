"""Functions of the Array API and of linear algebra, with one result and with several."""

from __future__ import annotations

from typing import assert_type

import tensorbackend as tb
from tensorbackend import Tensor

x = tb.random.uniform(tb.random.key(1), (4, 4), names=("row", "column"))
matrix = assert_type(x @ x.T.rename("column", "other") + 4 * tb.eye(4), Tensor)
assert_type(tb.where(x > 0.5, x, 0), Tensor)
assert_type(tb.einsum("ij,ij->i", x, x), Tensor)
assert_type(tb.softmax(x, axis="column"), Tensor)
assert_type(tb.concat([x, x]), Tensor)
assert_type(tb.stack([x, x]), Tensor)
assert_type(tb.split(x, 2), tuple[Tensor, ...])
assert_type(tb.sort(x), Tensor)
assert_type(tb.nonzero(x)[0], Tensor)
assert_type(tb.cumulative_sum(x, axis=0), Tensor)
assert_type(tb.clip(x, 0, 1), Tensor)
assert_type(tb.full((2,), 3.0), Tensor)
assert_type(tb.linspace(0, 1, 5), Tensor)
assert_type(tb.fft.fft(x), Tensor)
assert_type(tb.linalg.solve(matrix, x[:, 0]), Tensor)
assert_type(tb.linalg.cholesky(matrix), Tensor)
assert_type(tb.linalg.qr(matrix).Q, Tensor)
q, r = tb.linalg.qr(matrix)
assert_type((q, r), tuple[Tensor, Tensor])
u, s, v = tb.linalg.svd(matrix)
assert_type(s, Tensor)
assert_type(tb.linalg.det(matrix), Tensor)
values, indices = tb.top_k(x, 2)
assert_type((values, indices), tuple[Tensor, Tensor])
assert_type(tb.unique_all(x).counts, Tensor)
assert tb.all_close(tb.matmul(q, r.rename(None, None)), matrix.rename(None, None), rtol=1e-4, atol=1e-4)
