"""Kernels that NumPy's backend computes for another one."""

import tensorbackend as tb
from tensorbackend.extending import kernel_by_numpy


def test_a_result_of_several_parts_is_the_other_backends() -> None:
    binary = tb.get_backend("binary")
    x = tb.tensor([[2.0, 0.0], [0.0, 3.0]], backend=binary)
    parts = tb.Template((2,), tb.float32), tb.Template((2, 2), tb.float32)
    values, vectors = kernel_by_numpy(binary, "eigh", parts, x.template)(x.data)
    assert tb.Tensor(parts[0], binary, values).tolist() == [2.0, 3.0]
    assert tb.Tensor(parts[1], binary, vectors).tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_options_reach_the_callback() -> None:
    binary = tb.get_backend("binary")
    x = tb.tensor([[1, 2], [3, 4]], backend=binary)
    out = tb.Template((2,), tb.int64)
    kernel = kernel_by_numpy(binary, "sum", out, x.template, axes=(1,), keepdims=False)
    assert tb.Tensor(out, binary, kernel(x.data)).tolist() == [3, 7]
