"""Kernels with tensors of narrow dtypes: ops that move elements move their codes, and casts are made of other ops.

A payload of a narrow dtype is a payload of uint8, which holds the codes of the elements. So a backend's callbacks
never meet narrow dtypes, and every backend that imports and exports such payloads has all of this.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..dtypes import DType, as_dtype, uint8
from ..dtypes.packing import element_type, pack
from ..protocol import Backend, Kernel, Payload
from ..protocol.planned import payloads_of, templates_of
from ..registration import SuppliedFunction
from ..rules.plan import Out
from ..template import Template
from ..tensor import Tensor
from .fallbacks import load_fallbacks
from .kernels import default_kernel, kernel, primitive_kernel
from .narrow import by_codes

cast: SuppliedFunction[Callable[[Tensor, DType, DType], Tensor]] = SuppliedFunction(lambda x, source, target: x)
"""Casts from or to a narrow dtype, with the codes of such tensors as tensors of uint8."""


@by_codes.supply
def _find_codes_kernel(backend: Backend, name: str) -> Callable[..., Payload]:
    """The function that computes a primitive with narrow dtypes."""

    def plan(backend: Backend, out: Out, inputs: Sequence[Any], options: Mapping[str, Any]) -> Kernel:
        return _kernel(backend, name, out, inputs, options)

    def callback(out: Out, /, *inputs: Any, **options: Any) -> Payload:
        return plan(backend, out, templates_of(inputs), options)(*payloads_of(inputs))

    callback.__kernel__ = plan  # type: ignore[attr-defined] # read by `dispatch.kernels`
    return callback


def _kernel(backend: Backend, name: str, out: Any, inputs: Sequence[Any], options: Mapping[str, Any]) -> Kernel:
    if name == "as_type":
        (x,) = inputs
        return _casting(backend, out, x)
    if inputs:
        return primitive_kernel(backend, name, _codes(out), tuple(map(_codes, inputs)), options)
    if name == "constant":
        value = pack([element_type(out.dtype)(options["value"])], out.dtype)[0]
        return primitive_kernel(backend, name, _codes(out), (), {"value": value})
    names = ("float64", "float32") if out.dtype.kind == "float" else ("int64", "int32")
    wide = out.replace(dtype=next(dtype for dtype in map(as_dtype, names) if dtype in backend.dtypes))
    made, narrow = primitive_kernel(backend, name, wide, (), options), _casting(backend, out, wide)
    return lambda: narrow(made())


def _casting(backend: Backend, out: Template, x: Template) -> Kernel:
    """The kernel of a cast: by the backend's callback if that takes narrow dtypes, else by other ops."""
    if x.dtype is out.dtype:
        return lambda data: data
    if backend.casts_narrow:
        return kernel(backend, "as_type", backend.as_type, out, (x,), {})
    load_fallbacks.call()
    source, target = x.dtype, out.dtype

    def body(out: Any, inputs: Sequence[Tensor], options: Mapping[str, Any]) -> Tensor:
        return cast.call(inputs[0], source, target)

    return default_kernel(backend, "as_type", _codes(out), (_codes(x),), {}, body)


def _codes(templates: Any) -> Any:
    """A template with uint8 in place of a narrow dtype; of several templates, each."""
    if isinstance(templates, Template):
        return templates.replace(dtype=uint8) if templates.dtype.is_narrow else templates
    return None if templates is None else tuple(map(_codes, templates))
