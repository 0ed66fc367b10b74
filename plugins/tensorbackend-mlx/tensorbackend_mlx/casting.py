"""Conversions between dtypes by the rules of the protocol: integers wrap, floats saturate, and are rounded once."""

from __future__ import annotations

from tensorbackend import Template
from tensorbackend.dtypes import REAL_OF, DType, bool_, finfo, float32, float64, iinfo

from .kernels import NARROW, Function, MlxBase
from .library import Array, mlx_dtype, mx


def caster(backend: MlxBase, x: Template, target: DType) -> Function:
    """The function that casts arrays of a template to a dtype, by the rules of `as_type`."""
    source, dtype = x.dtype, mlx_dtype(target)
    if source is target:
        return lambda values: values
    if target is bool_:
        return lambda values: values != 0
    if target.is_complex:
        real = caster(backend, x, REAL_OF[target])
        return lambda values: real(values).astype(dtype)
    if source.is_complex:
        part = caster(backend, x.replace(dtype=REAL_OF[source]), target)
        return lambda values: part(mx.real(values))
    if target.is_integer and source.is_floating:
        return _saturating(source, target)
    if target in NARROW and (source is float64 or (source.is_integer and source.bits > 16)):
        return backend.by_numpy("as_type", x.replace(dtype=target), x)  # MLX rounds twice
    return lambda values: values.astype(dtype)


def _saturating(source: DType, target: DType) -> Function:
    """Truncates floats, clips them to the limits of an integer dtype, maps NaN to 0.

    By products and sums, as `mx.where` takes many times as long on a CPU.
    """
    limits, dtype = iinfo(target), mlx_dtype(target)
    computed = float32 if source in NARROW else source
    wide = mlx_dtype(computed)
    least, beyond = float(limits.min), float(limits.max + 1)
    greatest = beyond - beyond * finfo(computed).eps / 2  # the float below `beyond`, which is a power of two
    missing = number(limits.max - int(greatest), target) if int(greatest) < limits.max else None

    def saturate(values: Array) -> Array:
        values = values.astype(wide)
        whole = mx.clip(values, least, greatest).astype(dtype) * (values == values).astype(dtype)
        return whole if missing is None else whole + (values >= beyond).astype(dtype) * missing

    return saturate


def number(value: complex, dtype: DType) -> Array:
    """An array without axes. MLX takes Python's numbers, but not those of 64 bits."""
    if not dtype.is_integer:
        return mx.array(value, mlx_dtype(dtype))
    bits = int(value.real) % (1 << 64)
    high, low = (mx.array(half, mx.uint32).astype(mx.uint64) for half in (bits >> 32, bits & 0xFFFFFFFF))
    return (high << 32 | low).astype(mlx_dtype(dtype))
