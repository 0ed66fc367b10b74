"""How a backend supports an op: by itself, by other ops, by a kernel of NumPy's backend, or not at all."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from .. import fft, linalg, random  # noqa: F401 # their ops are declared too
from ..declarations.op_specs import CALLBACKS, OPS, misfit
from ..dispatch.fallbacks import fallbacks, missing_needs
from ..dtypes import DTypeLike, as_dtype
from ..errors import ArgumentError, expected
from ..protocol import Backend, BackendLike, Kernel, Payload, defines, kernel_of
from ..select import backend_class, get_backend
from ..template import Template
from ..tensor import Tensor

Way: TypeAlias = Literal["native", "override", "default", "fall-back", "missing"]
"""How a backend supports an op: a primitive by its own callback, by a fall-back or not at all; a composite by the
backend's own method or by the default in public ops."""


def support_of(backend: BackendLike, op: str, dtype: DTypeLike | None = None) -> Way:
    """How a backend supports an op, for inputs of a dtype if one is given.

    The answer comes from the class and the declared fall-backs: no instance is made, and no array library is imported.

    Parameters
    ----------
    backend : Backend, class of one, str or None
        The backend; `None` for the default one.
    op : str
        The name of a callback or of a composite, as a backend would define it.
    dtype : DTypeLike, default None
        The dtype in which inputs reach the callback; `None` for any.

    Returns
    -------
    Way
        A primitive is `"native"` (the backend's own callback), a `"fall-back"` (derived from other primitives) or
        `"missing"` (it raises `UnsupportedOp`). A composite is an `"override"` or runs its `"default"`.

    Raises
    ------
    ArgumentError
        For an unknown op.

    Examples
    --------
    >>> support_of("numpy", "sin"), support_of("numpy", "softmax"), support_of("binary", "softmax")
    ('native', 'override', 'default')
    """
    cls = _class_of(backend)
    declared = CALLBACKS.get(op)
    if declared is None or declared.optional:
        if declared is None and not any(spec.callback == op for spec in OPS.values()):
            raise ArgumentError(expected("the name of a callback or of a composite", "tb.Backend has them", op=op))
        return "override" if defines(cls, op) and not misfit(cls, op) else "default"
    kind = None if dtype is None else as_dtype(dtype)
    if kind is not None and kind not in cls.dtypes:
        return "missing"
    if defines(cls, op) and (kind is None or kind in getattr(getattr(cls, op), "__dtypes__", cls.dtypes)):
        return "native"
    takes = (fallback for fallback in fallbacks(op) if kind is None or fallback.takes(kind))
    return "fall-back" if any(not missing_needs(cls, fallback) for fallback in takes) else "missing"


def _class_of(backend: BackendLike) -> type[Backend]:
    if isinstance(backend, str):
        return backend_class(backend)
    return backend if isinstance(backend, type) else type(get_backend(backend))


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
