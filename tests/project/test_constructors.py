"""What makes tensors without operands puts all parts of its result on the default backend."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy
import pytest
import scipy.sparse

import tensorbackend as tb
from tensorbackend.expr.trees import flatten

NAMESPACES = {"": tb, **{word: getattr(tb, word) for word in ("fft", "linalg", "nn", "ragged", "random", "sparse")}}

TEMPLATE = tb.template((2,), "f32").template
DIAGONAL = numpy.array([1.0, 2.0], dtype="float32")

CALLS: dict[str, list[Callable[[], Any]]] = {
    "arange": [lambda: tb.arange(3)],
    "asarray": [lambda: tb.asarray([1.0, 2.0]), lambda: tb.asarray(DIAGONAL)],
    "empty": [lambda: tb.empty(2)],
    "eye": [lambda: tb.eye(2)],
    "fft.fftfreq": [lambda: tb.fft.fftfreq(4)],
    "fft.rfftfreq": [lambda: tb.fft.rfftfreq(4)],
    "from_binary": [lambda: tb.from_binary(b"\0" * 8, TEMPLATE)],
    "from_dlpack": [lambda: tb.from_dlpack(DIAGONAL)],
    "full": [lambda: tb.full(2, 3.0)],
    "iota": [lambda: tb.iota(3)],
    "geomspace": [lambda: tb.geomspace(1, 4, 3)],
    "linspace": [lambda: tb.linspace(0, 1, 3)],
    "logspace": [lambda: tb.logspace(0, 1, 3)],
    "ones": [lambda: tb.ones(2)],
    "random.key": [lambda: tb.random.key(0)],
    "sparse.eye": [lambda: tb.sparse.eye(2), lambda: tb.sparse.eye(2, format="coo")],
    "sparse.from_function": [
        lambda: tb.sparse.from_function(lambda x: 2 * x, "f32[2]"),
        lambda: tb.sparse.from_function(lambda x: x[::-1], "f32[2]"),
        lambda: tb.sparse.from_function(lambda x: x * DIAGONAL, "f32[2]"),
        lambda: tb.sparse.from_function(lambda x: x * tb.asarray(DIAGONAL), tb.ones(2)),
        lambda: tb.sparse.from_function(lambda x: x * 2 + 1, "f32[2]", affine=True),
        lambda: tb.sparse.from_function(lambda x: tb.zeros(2), "f32[2]"),
    ],
    "sparse.from_scipy": [lambda: tb.sparse.from_scipy(scipy.sparse.csr_array(numpy.diag(DIAGONAL)))],
    "sparse.identity": [lambda: tb.sparse.identity(2)],
    "tensor": [lambda: tb.tensor([1.0, 2.0])],
    "tri": [lambda: tb.tri(2)],
    "zeros": [lambda: tb.zeros(2)],
    # Without a parameter for a backend, but of values that have none:
    "ragged.from_list": [lambda: tb.ragged.from_list([[1.0], [2.0, 3.0]])],
    "ragged.sequence_mask": [lambda: tb.ragged.sequence_mask(numpy.array([2, 1]), 3)],
    "nn.blackman": [lambda: tb.nn.blackman(3)],
    "nn.hamming": [lambda: tb.nn.hamming(3)],
    "nn.hann": [lambda: tb.nn.hann(3)],
    "nn.kaiser": [lambda: tb.nn.kaiser(3, 5.0)],
    "random.generator": [lambda: tb.random.generator(0)],
    "random.normal": [lambda: tb.random.normal(tb.random.key(0), shape=(2,))],
    "sparse.coo": [lambda: tb.sparse.coo([1.0, 2.0], [0, 1], [1, 0], shape=(2, 2))],
    "sparse.csr": [lambda: tb.sparse.csr([1.0, 2.0], [0, 1], [0, 1, 2], shape=(2, 2))],
    "sparse.diagonals": [lambda: tb.sparse.diagonals([DIAGONAL, 1.0], [0, 1], shape=(2, 2))],
    "sparse.from_dense": [lambda: tb.sparse.from_dense([[1.0, 0.0], [0.0, 2.0]])],
    "nn.one_hot": [lambda: tb.nn.one_hot(numpy.array([0, 1]), 2)],
    "solvers.solve": [lambda: tb.solvers.solve([[2.0, 0.0], [0.0, 4.0]], DIAGONAL)],
}
"""Calls of each function that makes tensors of values without a backend."""

ELSEWHERE = {
    *("backend_copy", "backend_transfer", "default_backend", "devices", "empty_like", "full_like", "get_backend"),
    *(
        "load",
        "load_gguf",
        "load_graph",
        "load_quantized",
        "machine_limits",
        "ones_like",
        "record_run",
        "register_backend",
        "set_default_backend",
        "zeros_like",
    ),
}
"""Functions with a backend as an argument that make no tensors, read a file, or follow an operand."""


@pytest.mark.parametrize("backend", ["numpy", "jax", "binary"])
@pytest.mark.parametrize("name", CALLS)
def test_all_parts_are_on_the_default_backend(name: str, backend: str) -> None:
    for call in CALLS[name]:
        with tb.default_backend(backend):
            leaves = [leaf for leaf in flatten(call())[0] if isinstance(leaf, tb.Tensor)]
        assert leaves
        assert {leaf.backend.name for leaf in leaves} == {backend}


def test_each_function_with_a_backend_has_a_call() -> None:
    found = set()
    for word, namespace in NAMESPACES.items():
        for name in dir(namespace):
            function = getattr(namespace, name)
            if name.startswith("_") or inspect.isclass(function) or not callable(function):
                continue
            if "backend" in inspect.signature(function).parameters:
                found.add(f"{word}.{name}" if word else name)
    assert found - ELSEWHERE - CALLS.keys() == set()
