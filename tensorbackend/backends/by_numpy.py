"""Kernels that NumPy's backend computes for another backend, whose library lacks a function or has it less accurate."""

from __future__ import annotations

from typing import Any

from ..protocol import Backend, Kernel, Payload, kernel_of
from ..select import get_backend
from ..template import Template
from ..tensor import Tensor


def kernel_by_numpy(backend: Backend, name: str, out: Any, /, *inputs: Template, **options: Any) -> Kernel:
    """The kernel of a callback of NumpyBackend, for payloads of another backend.

    The payloads move by `from_backend` of both backends: where `to_numpy` shares memory, inputs are not copied.

    Parameters
    ----------
    backend : Backend
        The backend whose payloads the kernel takes and returns.
    name : str
        The name of a planned callback of NumpyBackend.
    out : Template or tuple of Template
        The template of each result.
    *inputs : Template
        The templates of the inputs.
    **options
        The options of the callback.

    Returns
    -------
    callable
        The kernel.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> from tensorbackend.extending import kernel_by_numpy
    >>> binary, x = tb.get_backend("binary"), tb.tensor([1.0, 2.0], backend="binary")
    >>> negate = kernel_by_numpy(binary, "negate", x.template, x.template)
    >>> tb.Tensor(x.template, binary, negate(x.data)).tolist()
    [-1.0, -2.0]
    """
    numpy = get_backend("numpy")
    kernel = numpy.enter(kernel_of(getattr(numpy, name), out, *inputs, **options))

    def taken(x: Template, payload: Payload) -> Payload:
        return numpy.from_backend(Tensor(x, backend, payload), copy=False)

    def given(template: Template, data: Payload) -> Payload:
        return backend.from_backend(Tensor(template, numpy, data), copy=False)

    def moved(*payloads: Payload) -> Payload:
        results = kernel(*map(taken, inputs, payloads))
        return given(out, results) if isinstance(out, Template) else tuple(map(given, out, results))

    return moved
