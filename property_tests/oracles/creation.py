"""Oracles of functions that make tensors, and of those about dtypes."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.dtypes import ALL_DTYPES, DType
from tensorbackend.protocol import Backend
from tensorbackend.rules.accuracy import Bound
from tensorbackend.testing import Invocation
from tensorbackend.testing.strategies import Draw, axis_names, elements, shapes, tensors

from .elementwise import cast, common
from .table import Recorder, law, reference, wide

ONE_DEVICE = {"device": "one device here", "like": "only says on which backend: tests/ops/test_creation_like.py"}


def filled(shape: Any, number: Any, dtype: DType | None) -> Any:
    """An array of one number, in the default dtype of its kind or in another one."""
    if dtype is None:
        return numpy.full(shape, number)
    return cast(numpy.full(shape, number), dtype)


def _draw_filled(draw: Draw, dtype: DType) -> Invocation:
    shape = draw(shapes())
    size: Any = shape[0] if len(shape) == 1 and draw(st.booleans()) else shape
    names = draw(st.sampled_from([None, axis_names(len(shape))]))
    return Invocation("", (size,), {"dtype": draw(st.sampled_from([None, dtype])), "names": names}, creates=True)


@reference("zeros", "empty", by="NumPy", draw=_draw_filled, fixed=ONE_DEVICE)
def zeros(shape: Any, *, dtype: DType | None = None, names: Any = None, backend: Any = None) -> Any:
    return filled(shape, 0.0, dtype)


@reference("ones", by="NumPy", draw=_draw_filled, fixed=ONE_DEVICE)
def ones(shape: Any, *, dtype: DType | None = None, names: Any = None, backend: Any = None) -> Any:
    return filled(shape, 1.0, dtype)


def _draw_full(draw: Draw, dtype: DType) -> Invocation:
    drawn = _draw_filled(draw, dtype)
    default = dtype.name in ("bool", "int64", "float32", "complex64") and draw(st.booleans())
    chosen = {**drawn.options, "dtype": None if default else dtype}
    return drawn._replace(arguments=(*drawn.arguments, draw(elements(dtype))), options=chosen)


@reference("full", by="NumPy", draw=_draw_full, fixed=ONE_DEVICE)
def full(shape: Any, fill_value: Any, *, dtype: DType | None = None, names: Any = None, backend: Any = None) -> Any:
    return filled(shape, fill_value, dtype)


def _draw_like(draw: Draw, dtype: DType) -> Invocation:
    return Invocation("", (draw(tensors(dtype)),), {"dtype": draw(st.sampled_from([None, *ALL_DTYPES]))})


@reference("zeros_like", "empty_like", by="NumPy", draw=_draw_like, fixed=ONE_DEVICE)
def zeros_like(x: Any, /, *, dtype: DType | None = None) -> Any:
    return numpy.zeros_like(x) if dtype is None else filled(x.shape, 0.0, dtype)


@reference("ones_like", by="NumPy", draw=_draw_like, fixed=ONE_DEVICE)
def ones_like(x: Any, /, *, dtype: DType | None = None) -> Any:
    return numpy.ones_like(x) if dtype is None else filled(x.shape, 1.0, dtype)


def _draw_full_like(draw: Draw, dtype: DType) -> Invocation:
    target = draw(st.sampled_from([None, *ALL_DTYPES]))
    number = draw(elements(dtype if target is None else target))
    return Invocation("", (draw(tensors(dtype)), number), {"dtype": target})


@reference("full_like", by="NumPy", draw=_draw_full_like, fixed=ONE_DEVICE)
def full_like(x: Any, /, fill_value: Any, *, dtype: DType | None = None) -> Any:
    return numpy.full_like(x, fill_value) if dtype is None else filled(x.shape, fill_value, dtype)


NUMBERS = [dtype for dtype in ALL_DTYPES if dtype.kind != "bool" and not dtype.is_complex]


def _draw_iota(draw: Draw, dtype: DType) -> Invocation:
    shape = draw(shapes())
    names = axis_names(len(shape)) if draw(st.booleans()) else None
    places = [None, *range(-len(shape), len(shape)), *(names or ())]
    chosen = {"axis": draw(st.sampled_from(places)), "names": names, "dtype": draw(st.sampled_from([None, dtype]))}
    return Invocation("", (shape,), chosen, creates=True)


@reference("iota", by="NumPy", draw=_draw_iota, dtypes=NUMBERS, raw=True, fixed=ONE_DEVICE)
def iota(call: Invocation) -> Any:
    (shape,), axis, dtype = call.arguments, call.options["axis"], call.options["dtype"]
    if axis is None:
        out = numpy.arange(math.prod(shape)).reshape(shape)
    else:
        at = call.options["names"].index(axis) if isinstance(axis, str) else axis % len(shape)
        out = numpy.zeros(shape, int) + numpy.arange(shape[at]).reshape(
            [-1 if n == at else 1 for n in range(len(shape))]
        )
    return out if dtype is None else cast(out, dtype)


def _draw_eye(draw: Draw, dtype: DType) -> Invocation:
    rows, columns = draw(st.integers(0, 4)), draw(st.none() | st.integers(0, 4))
    batch = draw(shapes(most=1))
    names = draw(st.sampled_from([None, axis_names(len(batch) + 2)]))
    chosen = {"k": draw(st.integers(-5, 5)), "batch_shape": batch, "names": names}
    return Invocation("", (rows, columns), {**chosen, "dtype": draw(st.sampled_from([None, dtype]))}, creates=True)


@reference("eye", by="NumPy", draw=_draw_eye, fixed=ONE_DEVICE)
def eye(
    n_rows: int, n_cols: int | None = None, /, *, k: int = 0, batch_shape: Any = (), dtype: DType | None = None,
    names: Any = None, backend: Any = None,
) -> Any:  # fmt: skip
    matrix = numpy.eye(n_rows, n_cols, k)
    return filled((*batch_shape, 1, 1), 1.0, dtype) * (matrix if dtype is None else cast(matrix, dtype))


def _draw_tri(draw: Draw, dtype: DType) -> Invocation:
    rows, columns = draw(st.integers(0, 4)), draw(st.none() | st.integers(0, 4))
    names = draw(st.sampled_from([None, axis_names(2)]))
    chosen = {"k": draw(st.integers(-5, 5)), "names": names, "dtype": draw(st.sampled_from([None, dtype]))}
    return Invocation("", (rows, columns), chosen, creates=True)


@reference("tri", by="NumPy", draw=_draw_tri, fixed=ONE_DEVICE)
def tri(
    n_rows: int, n_cols: int | None = None, /, *, k: int = 0, dtype: DType | None = None, names: Any = None,
    backend: Any = None,
) -> Any:  # fmt: skip
    matrix = numpy.tri(n_rows, n_cols, k)
    return matrix if dtype is None else cast(matrix, dtype)


def _draw_arange(draw: Draw, dtype: DType) -> Invocation:
    scale = 1 if dtype.is_integer else 0.25
    least = 0 if dtype.kind == "uint" else -9
    start, stop = (draw(st.integers(least, 9)) * scale for _ in range(2))
    step = draw(st.integers(-4, 4).filter(bool)) * scale
    if dtype.kind == "uint":
        step, start, stop = abs(step), min(start, stop), max(start, stop)
    arguments = draw(st.sampled_from([(start, stop, step), (start, stop), (max(stop, 0),)]))
    default = dtype.name in ("int64", "float32")
    chosen = {"dtype": None if default and draw(st.booleans()) else dtype, "name": draw(st.sampled_from([None, "n"]))}
    return Invocation("", arguments, chosen, creates=True)


@reference("arange", by="NumPy", draw=_draw_arange, dtypes=NUMBERS, fixed=ONE_DEVICE)
def arange(
    start: Any, /, stop: Any = None, step: Any = 1, *, dtype: DType | None = None, name: Any = None, backend: Any = None
) -> Any:
    out = numpy.arange(start) if stop is None else numpy.arange(start, stop, step)
    return out if dtype is None else cast(out, dtype)


def _draw_linspace(draw: Draw, dtype: DType) -> Invocation:
    """Numbers as ends, or tensors, whose axes are next to the new one."""
    chosen: dict[str, Any] = {"endpoint": draw(st.booleans()), "name": draw(st.sampled_from([None, "n"]))}
    count = draw(st.integers(0, 9))
    if draw(st.booleans()):
        start, stop = (draw(st.integers(-9, 9)) * 0.5 for _ in range(2))
        chosen["dtype"] = draw(st.sampled_from([None, dtype]))
        return Invocation("", (start, stop, count), chosen, creates=True)
    shape = draw(shapes(most=2))
    ends = [draw(tensors(dtype, shape, values=st.integers(-9, 9))) for _ in range(2)]
    return Invocation("", (*ends, count), {**chosen, "axis": draw(st.integers(-len(shape) - 1, len(shape)))})


@reference(
    "linspace", by="NumPy", draw=_draw_linspace, dtypes=[dtype for dtype in ALL_DTYPES if dtype.is_inexact],
    bound=Bound(2, "roundings of the ends, whose difference may cancel", "operand"), fixed=ONE_DEVICE,
)  # fmt: skip
def linspace(
    start: Any, stop: Any, /, num: int, *, dtype: DType | None = None, endpoint: bool = True, name: Any = None,
    axis: int = 0, backend: Any = None,
) -> Any:  # fmt: skip
    out = numpy.linspace(start, stop, num, endpoint, axis=axis)
    return out if dtype is None else cast(out, dtype)


def _draw_logspace(draw: Draw, dtype: DType) -> Invocation:
    """Small exponents, as numbers or tensors."""
    drawn = _draw_linspace(draw, dtype)
    return drawn._replace(options={**drawn.options, "base": draw(st.sampled_from([2.0, 10.0]))})


@reference(
    "logspace", by="NumPy", draw=_draw_logspace, dtypes=[dtype for dtype in ALL_DTYPES if dtype.is_inexact],
    bound=Bound(32, "an exponent magnifies its rounding errors"), fixed=ONE_DEVICE,
)  # fmt: skip
def logspace(
    start: Any, stop: Any, /, num: int, *, base: float = 10.0, dtype: DType | None = None, endpoint: bool = True,
    name: Any = None, axis: int = 0, backend: Any = None,
) -> Any:  # fmt: skip
    out = numpy.power(base, numpy.linspace(start, stop, num, endpoint, axis=axis))
    return out if dtype is None else cast(out, dtype)


def _draw_geomspace(draw: Draw, dtype: DType) -> Invocation:
    """Numbers of one sign."""
    first, last = (draw(st.sampled_from([0.25, 1, 3.0, 50, 1000.0])) for _ in range(2))
    sign = draw(st.sampled_from([1, -1]))
    chosen: dict[str, Any] = {"endpoint": draw(st.booleans()), "name": draw(st.sampled_from([None, "n"]))}
    chosen["dtype"] = draw(st.sampled_from([None, dtype]))
    return Invocation("", (sign * first, sign * last, draw(st.integers(0, 9))), chosen, creates=True)


@reference(
    "geomspace", by="NumPy", draw=_draw_geomspace, dtypes=[dtype for dtype in ALL_DTYPES if dtype.is_floating],
    bound=Bound(16, "an exponential of a logarithm"), fixed=ONE_DEVICE,
)  # fmt: skip
def geomspace(
    start: Any, stop: Any, /, num: int, *, dtype: DType | None = None, endpoint: bool = True, name: Any = None,
    backend: Any = None,
) -> Any:  # fmt: skip
    out = numpy.geomspace(start, stop, num, endpoint)
    return out if dtype is None else cast(out, dtype)


# Values of others


def _array(draw: Draw) -> Any:
    """An array of NumPy's in a drawn dtype and layout."""
    x = draw(tensors(draw(st.sampled_from(ALL_DTYPES)), shapes()))
    array = numpy.asarray(x)
    layout = draw(st.sampled_from(["C", "F", "reversed", "strided"]))
    if layout == "reversed":
        return array[::-1] if array.ndim else array
    if layout == "strided":
        return numpy.repeat(array, 2, -1)[..., ::2] if array.ndim else array
    return numpy.asfortranarray(array) if layout == "F" else array


def _bits(x: Any) -> bytes:
    return numpy.ascontiguousarray(x).tobytes()


@law("asarray", "tensor", by="NumPy", fixed=ONE_DEVICE)
def asarray(draw: Draw, run: Recorder, backend: Backend) -> None:
    array = _array(draw)
    names = draw(st.sampled_from([None, axis_names(array.ndim)]))
    targets = [dtype for dtype in ALL_DTYPES if dtype.is_complex or array.dtype.kind != "c"]
    dtype = draw(st.sampled_from([None, *targets]))
    copy = {} if run.name == "tensor" else {"copy": draw(st.sampled_from([None, True]))}
    out = run(array, names=names, dtype=dtype, backend=backend, **copy)
    assert out.names == (names or (None,) * array.ndim)
    known = array.astype("f8") if array.dtype == ml_dtypes.bfloat16 or array.dtype == numpy.float16 else array
    if dtype is None:
        assert out.dtype.name == array.dtype.name
        assert _bits(numpy.asarray(out)) == _bits(array)
    else:
        assert out.dtype is dtype
        wanted = cast(known.astype("c16") if known.dtype.kind == "c" else known, dtype)
        if dtype.is_inexact:  # -2147483648 is -inf in float16
            narrow: Any = ml_dtypes.bfloat16 if dtype is tb.bfloat16 else dtype.name
            with numpy.errstate(over="ignore"):
                wanted = wanted.astype(narrow).astype("c16" if dtype.is_complex else "f8")
        numpy.testing.assert_allclose(wide(out), wanted.astype(wide(out).dtype), rtol=2.0**-7, atol=1e-37)


@law("from_dlpack", by="NumPy", fixed=ONE_DEVICE)
def from_dlpack(draw: Draw, run: Recorder, backend: Backend) -> None:
    x = draw(tensors(draw(st.sampled_from([tb.float32, tb.float64, tb.int8, tb.int64, tb.complex64])), shapes()))
    array = numpy.array(numpy.asarray(x))
    out = run(array, copy=draw(st.sampled_from([None, True])), backend=backend)
    assert _bits(numpy.asarray(out)) == _bits(array)


@law("from_binary", by="NumPy")
def from_binary(draw: Draw, run: Recorder, backend: Backend) -> None:
    x = draw(tensors(draw(st.sampled_from(ALL_DTYPES)), shapes()))
    out = run(_bits(numpy.asarray(x)), x.template, backend)
    assert out.template is x.template
    assert _bits(numpy.asarray(out)) == _bits(numpy.asarray(x))


@law("template", by="definition")
def template(draw: Draw, run: Recorder, backend: Backend) -> None:
    shape, dtype = draw(shapes()), draw(st.sampled_from(ALL_DTYPES))
    names = draw(st.sampled_from([None, axis_names(len(shape))]))
    out = run(shape, dtype, names)
    assert (out.shape, out.dtype, out.names) == (shape, dtype, names or (None,) * len(shape))


# Dtypes


def _theirs(dtype: DType) -> Any:
    ours: Any = ml_dtypes.bfloat16 if dtype.name == "bfloat16" else dtype.name
    return ml_dtypes.finfo(ours)  # type: ignore[no-untyped-call] # untyped in ml_dtypes


@law("finfo", by="NumPy")
def finfo(draw: Draw, run: Recorder, backend: Backend) -> None:
    dtype = draw(st.sampled_from([dtype for dtype in ALL_DTYPES if dtype.is_inexact]))
    ours, theirs = run(dtype), _theirs(dtype)
    for field in ("bits", "eps", "max", "min", "smallest_normal"):
        assert getattr(ours, field) == float(getattr(theirs, field)), field


@law("iinfo", by="NumPy")
def iinfo(draw: Draw, run: Recorder, backend: Backend) -> None:
    dtype = draw(st.sampled_from([dtype for dtype in ALL_DTYPES if dtype.is_integer]))
    ours, theirs = run(dtype), numpy.iinfo(dtype.name)
    assert (ours.bits, ours.min, ours.max) == (theirs.bits, theirs.min, theirs.max)


@law("result_type", by="NumPy")
def result_type(draw: Draw, run: Recorder, backend: Backend) -> None:
    dtypes = draw(st.lists(st.sampled_from(ALL_DTYPES), min_size=1, max_size=3))
    kinds = {dtype.kind for dtype in dtypes}
    if any(dtype.name == "uint64" for dtype in dtypes) and "int" in kinds and not kinds & {"float", "complex"}:
        return  # an error, which others test
    assert run(*dtypes).name == common(*dtypes)


@law("can_cast", by="NumPy")
def can_cast(draw: Draw, run: Recorder, backend: Backend) -> None:
    plain = [dtype for dtype in ALL_DTYPES if dtype.name not in ("bfloat16", "bool")]
    first, second = draw(st.sampled_from(plain)), draw(st.sampled_from(plain))
    same_kind = first.kind == second.kind or {first.kind, second.kind} == {"int", "uint"}
    if same_kind:  # between kinds the standard leaves it open
        assert run(first, second) == numpy.can_cast(first.name, second.name)


@law("isdtype", by="NumPy")
def isdtype(draw: Draw, run: Recorder, backend: Backend) -> None:
    kinds = ["bool", "signed integer", "unsigned integer", "integral", "real floating", "complex floating", "numeric"]
    dtype, kind = draw(st.sampled_from(ALL_DTYPES)), draw(st.sampled_from(kinds) | st.tuples(*map(st.just, kinds[:2])))
    if dtype.name != "bfloat16":
        assert run(dtype, kind) == numpy.isdtype(numpy.dtype(dtype.name), kind)
    assert run(dtype, dtype)


@law("default_dtype", by="definition")
def default_dtype(draw: Draw, run: Recorder, backend: Backend) -> None:
    kind, wanted = draw(
        st.sampled_from([("bool", "bool"), ("int", "int64"), ("float", "float32"), ("complex", "complex64")])
    )
    assert run(kind).name == wanted
    with tb.precision(64):
        assert run(kind).name == {"float32": "float64", "complex64": "complex128"}.get(wanted, wanted)


@law("precision", by="definition")
def precision(draw: Draw, run: Recorder, backend: Backend) -> None:
    bits, cast_ = draw(st.sampled_from([16, 32, 64])), draw(st.booleans())
    x = tb.ones(2, dtype="float32", backend=backend)
    with run(bits, cast=cast_):
        assert tb.zeros(2, backend=backend).dtype.name == f"float{bits}"
        assert (x + x).dtype.name == (f"float{bits}" if cast_ else "float32")
    assert tb.zeros(2, backend=backend).dtype.name == "float32"


@law("autocast", by="NumPy")
def autocast(draw: Draw, run: Recorder, backend: Backend) -> None:
    """Products are those of operands rounded to the narrow dtype, sums those of float32."""
    narrow = draw(st.sampled_from(["bfloat16", "float16"]))
    dtype = draw(st.sampled_from(["float32", "bfloat16", "float16", "float64"]))
    size = draw(st.sampled_from([0, 1, 2, 5]))
    numbers = draw(st.lists(st.integers(-9, 9), min_size=2 * size, max_size=2 * size))
    x = tb.asarray(numpy.array(numbers).reshape(2, size) / 8 + 2.0**-10, dtype=dtype, backend=backend)
    with run(narrow):
        product, total, kept = x @ x.mT, tb.sum(x), x + x
    assert product.dtype.name == (dtype if dtype == "float64" else narrow)
    assert total.dtype.name == ("float32" if dtype in ("bfloat16", "float16") else dtype)
    assert kept.dtype is x.dtype
    exact = numpy.asarray(tb.astype(tb.astype(x, product.dtype), "float64"))
    numpy.testing.assert_allclose(
        numpy.asarray(product, "f8"), exact @ exact.T, rtol=2.0**-7, atol=1e-2 if dtype != "float64" else 0
    )
    wanted = numpy.asarray(tb.astype(x, "float64")).sum()
    numpy.testing.assert_allclose(numpy.asarray(total, "f8"), wanted, rtol=1e-5, atol=1e-5)


@law("get_precision", "set_precision", by="definition")
def set_precision(draw: Draw, run: Recorder, backend: Backend) -> None:
    bits, cast_ = draw(st.sampled_from([16, 32, 64])), draw(st.booleans())
    setting = run.name == "set_precision"
    (run if setting else tb.set_precision)(bits, cast=cast_)
    try:
        assert (tb.get_precision if setting else run)() == bits
        assert tb.zeros(2, backend=backend).dtype.name == f"float{bits}"
    finally:
        tb.set_precision(32)
