"""How a backend supports an op: by itself, by other ops, or not at all."""

from __future__ import annotations

from typing import Literal, TypeAlias

from .. import fft, linalg, random  # noqa: F401 # their ops are declared too
from ..declarations.op_specs import CALLBACKS, OPS
from ..dispatch.fallbacks import fallbacks, missing_needs
from ..dtypes import DTypeLike, as_dtype
from ..errors import ArgumentError, expected
from ..protocol import Backend, BackendLike, defines
from ..select import backend_class, get_backend

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
        return "override" if defines(cls, op) else "default"
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
