"""Unusual tensors of PyTorch on every backend, and reversed tensors on their way to PyTorch."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorbackend as tb
import torch
from tensorbackend.dtypes import bfloat16
from tensorbackend.errors import ArgumentError, DTypeError, ExchangeError, OperandError, TensorBackendError

BACKENDS = ["binary", "numpy", "jax", "torch"]

Z = torch.tensor([1 + 1j, 2 - 3j])

HELD: dict[str, tuple[Callable[[], Any], list[Any]]] = {
    "negative bit": (lambda: Z.conj().imag, [-1.0, 3.0]),
    "negative bit, a view": (lambda: Z.conj().imag[1:], [3.0]),
    "conjugate bit": (lambda: Z.conj(), [1 - 1j, 2 + 3j]),
    "conjugate bit, transposed": (lambda: Z.reshape(2, 1).mH, [[1 - 1j, 2 + 3j]]),
    "requires a gradient": (lambda: torch.ones(2, requires_grad=True), [1.0, 1.0]),
    "part of a graph": (lambda: torch.ones(2, requires_grad=True) * 2, [2.0, 2.0]),
    "parameter": (lambda: torch.nn.Parameter(torch.ones(2)), [1.0, 1.0]),
    "frozen parameter": (lambda: torch.nn.Parameter(torch.ones(2), requires_grad=False), [1.0, 1.0]),
    "buffer": (lambda: torch.nn.Buffer(torch.ones(2)), [1.0, 1.0]),
    "lazy part of a graph": (lambda: (Z.clone().requires_grad_() * 1).conj().imag, [-1.0, 3.0]),
    "made in inference mode": (lambda: torch.inference_mode()(lambda: torch.ones(2))(), [1.0, 1.0]),
    "expanded": (lambda: torch.ones(1).expand(3), [1.0, 1.0, 1.0]),
    "transposed": (lambda: torch.arange(4.0).reshape(2, 2).T, [[0.0, 2.0], [1.0, 3.0]]),
    "overlapping": (lambda: torch.arange(3.0).as_strided((2, 2), (1, 1)), [[0.0, 1.0], [1.0, 2.0]]),
    "bfloat16": (lambda: torch.ones(2, dtype=torch.bfloat16, requires_grad=True), [1.0, 1.0]),
    "uint16": (lambda: torch.tensor([1, 65535], dtype=torch.uint16), [1, 65535]),
    "bool": (lambda: torch.tensor([True, False]), [True, False]),
    "no axes": (lambda: torch.tensor(2.5, requires_grad=True), 2.5),  # type: ignore[dict-item]
    "no elements": (lambda: torch.zeros(0, 3), []),
}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("kind", HELD)
def test_what_tensors_hold(kind: str, backend: str) -> None:
    make, right = HELD[kind]
    for way in (tb.asarray, tb.tensor, tb.from_dlpack):
        x = way(make(), backend=backend)
        assert (x.tolist(), x.shape, x.dtype.name) == (right, tuple(make().shape), str(make().dtype)[6:])
    zero = tb.zeros((), dtype="bool", backend=backend)
    if x.dtype.name != "bool":
        assert (zero + make()).tolist() == right
    assert tb.stack([make(), make()])[1].tolist() == right
    assert tb.jit(tb.positive if x.dtype.name != "bool" else tb.logical_not)(make()).shape == x.shape


def test_memory_is_shared_where_it_holds_the_elements() -> None:
    weights = torch.nn.Parameter(torch.zeros(4))
    for backend in ("numpy", "torch"):
        for way in (tb.asarray, tb.from_dlpack):
            x = way(weights, copy=False, backend=backend)
            with torch.no_grad():
                weights.add_(1)
            assert x.tolist() == weights.tolist()
            for lazy in (Z.conj(), Z.conj().imag):
                with pytest.raises(ArgumentError, match="expected an array whose memory holds its elements"):
                    way(lazy, copy=False, backend=backend)


REFUSED: dict[str, tuple[Callable[[], Any], type[TensorBackendError]]] = {
    "coo": (lambda: torch.eye(2).to_sparse(), OperandError),
    "csr": (lambda: torch.eye(2).to_sparse_csr(), OperandError),
    "meta": (lambda: torch.ones(2, device="meta"), OperandError),
    "nested": (lambda: torch.nested.nested_tensor([torch.ones(2), torch.ones(3)]), OperandError),
    "jagged": (
        lambda: torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], layout=torch.jagged),
        OperandError,
    ),
    "float8 of another form": (lambda: torch.ones(2).to(torch.float8_e4m3fnuz), DTypeError),
    "complex32": (lambda: torch.ones(2, dtype=torch.complex32), DTypeError),
    "fake": (lambda: _fake(), OperandError),
}


def _fake() -> Any:
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        return torch.ones(2)


@pytest.mark.filterwarnings("ignore:.*(Sparse|sparse|nested|ComplexHalf)")
@pytest.mark.parametrize("kind", REFUSED)
def test_what_no_tensor_can_hold(kind: str) -> None:
    make, error = REFUSED[kind]
    texts = set()
    for backend in BACKENDS:
        with pytest.raises(error) as raised:
            tb.asarray(make(), backend=backend)
        texts.add(str(raised.value))
        for way in (tb.tensor, tb.from_dlpack):
            with pytest.raises(error):
                way(make(), backend=backend)
        with pytest.raises(error):
            tb.multiply(tb.ones(2, backend=backend), make())
    assert len(texts) == 1


def test_values_of_a_transform_of_pytorch() -> None:
    """They have no memory that could be read."""
    for backend in BACKENDS:
        for transform in (torch.func.grad, torch.func.vmap):

            def inside(x: Any, backend: str = backend) -> Any:
                with pytest.raises(OperandError, match=r"got array=<traced torch\.Tensor>"):
                    tb.asarray(x, backend=backend)
                return x * 2

            transform(inside)(torch.tensor(1.0) if transform is torch.func.grad else torch.ones(2))


@pytest.mark.filterwarnings("ignore:.*quantiz")
def test_quantised_tensors() -> None:
    quantised = torch.quantize_per_tensor(torch.ones(2), 0.5, 0, torch.qint8)
    for backend in BACKENDS:
        with pytest.raises(OperandError, match=r"use its dequantize\(\)"):
            tb.asarray(quantised, backend=backend)
        assert tb.asarray(quantised.dequantize(), backend=backend).tolist() == [1.0, 1.0]


REVERSED: dict[str, Callable[[tb.Tensor], tb.Tensor]] = {
    "slice": lambda x: x[::-1],
    "steps": lambda x: x[::-2],
    "flip": lambda x: tb.flip(x),
    "sort": lambda x: tb.sort(x, descending=True),
    "cumulative_sum": lambda x: tb.cumulative_sum(x, reverse=True),
    "jit": lambda x: tb.jit(lambda x: x[::-1])(x),
    "transposed": lambda x: tb.permute_dims(x.reshape((2, 3))[:, ::-1], (1, 0)),
    "one row": lambda x: x.reshape((1, 6))[::-1],
    "nothing": lambda x: x[:0][::-1],
}


@pytest.mark.parametrize("source", ["binary", "numpy", "jax"])
@pytest.mark.parametrize("kind", REVERSED)
def test_reversed_tensors_come_to_pytorch(kind: str, source: str) -> None:
    """A negative stride ends the process in PyTorch."""
    for dtype in ("f64", bfloat16, "s8", "c64", "bool"):
        y = REVERSED[kind](tb.asarray(np.arange(6.0), backend=source)).astype(dtype)
        y = y if dtype != "f64" else REVERSED[kind](tb.asarray(np.arange(6.0), backend=source))
        right = y.tolist()
        assert y.backend_copy("torch").tolist() == right
        assert tb.asarray(y, backend="torch").tolist() == right
        assert tb.tensor(y, backend="torch").tolist() == right
        assert tb.from_dlpack(y, backend="torch").tolist() == right
        assert torch.utils.dlpack.from_dlpack(y).tolist() == right
        assert tb.stack([y.backend_copy("torch"), y.backend_copy("torch")])[0].tolist() == right
        assert y.backend_transfer("torch").tolist() == right


def test_reversed_arrays_come_to_pytorch() -> None:
    values = np.arange(6.0)
    for array in (values[::-1], values.reshape(2, 3)[:, ::-1], values[::-1].reshape(2, 3), values[:0][::-1]):
        for copies in (None, True):
            assert tb.from_dlpack(array, backend="torch", copy=copies).tolist() == array.tolist()
        assert tb.asarray(array, backend="torch").tolist() == array.tolist()
    with pytest.raises(ExchangeError, match="from_dlpack: expected an array without negative strides"):
        tb.from_dlpack(values[::-1], backend="torch", copy=False)
    assert tb.from_dlpack(values[:0][::-1], backend="torch").shape == (0,)


def test_no_capsule_of_ours_ends_the_process() -> None:
    program = (
        "import numpy, torch, tensorbackend as tb\n"
        "x = tb.flip(tb.asarray(numpy.arange(6.0)))\n"
        "try:\n    torch.from_dlpack(x, copy=False)\nexcept BufferError:\n    print('refused')"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "refused"), done.stderr


def test_a_tensor_of_pytorch_stays_on_pytorch() -> None:
    x = torch.tensor([1.0, 2.0], dtype=torch.bfloat16)
    ours = tb.asarray(x)
    for made in (ours, tb.tensor(x), tb.asarray([x, x]), tb.exp(x), tb.jit(lambda x: x * 2)(x), tb.softmax(x, axis=0)):
        assert (made.backend.name, made.dtype) == ("torch", tb.bfloat16)
    assert ours.data.data_ptr() == x.data_ptr()
    assert tb.asarray(x.float().requires_grad_()).backend.name == "torch"
    assert tb.add(tb.ones(2), x.float()).backend.name == "numpy"
