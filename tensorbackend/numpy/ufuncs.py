"""Universal functions: NumPy's names, dtypes and options, computed by the library's ops.

A universal function is generated from its row of `ufunc_table.py`. A call of arrays whose dtypes the op takes as NumPy
does is straight-line code: one look-up by the dtypes, one op, one array. Everything else (lists, other dtypes, `out=`,
`where=`, `dtype=`) goes through `call`. NumPy itself says which dtypes a function computes in and gives
(`numpy.ufunc.resolve_dtypes`), so promotion is NumPy's without a table of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce as fold
from typing import Any, Final, NamedTuple

import numpy

import tensorbackend as tb

from ..dtypes import DType
from ..errors import DTypeError, OperandError, expected
from ..tensor import Tensor
from .arrays import HERE, blank, functions, ndarray, replace, result, tensor_of
from .conversion import NUMBERS, cast, host, operand, tensor
from .dtypes import NUMPY_CLASSES, dtype_of, numpy_dtype


class Spec:
    """A universal function: its name, the op that computes it, and what NumPy says about it."""

    __slots__ = ("accumulator", "boolean", "by_numpy", "kinds", "name", "nin", "nout", "op", "reducer")

    def __init__(
        self,
        name: str,
        op: Callable[..., Any],
        *,
        boolean: Callable[..., Any] | None = None,
        reducer: Callable[..., Any] | None = None,
        accumulator: Callable[..., Any] | None = None,
    ) -> None:
        self.name, self.op, self.boolean = name, op, boolean
        self.reducer, self.accumulator = reducer, accumulator
        self.by_numpy: Final = getattr(numpy, name)
        self.nin: Final[int] = self.by_numpy.nin
        self.nout: Final[int] = self.by_numpy.nout
        self.kinds: Final[dict[Any, Plan | None]] = {}
        """How dtypes of tensors and classes of numbers are computed with: `None` by the op as they are."""


class Plan(NamedTuple):
    """How operands are computed with where the op's own promotion is not NumPy's."""

    op: Callable[..., Any]
    operands: tuple[DType, ...]
    results: tuple[DType, ...]


def _kind(value: Any) -> Any:
    return value.dtype if isinstance(value, Tensor) else value.__class__


def planned(spec: Spec, kinds: tuple[Any, ...]) -> Plan | None:
    """How a function computes with operands of these kinds, dtypes and classes of numbers; remembered."""
    try:
        return spec.kinds[kinds]
    except KeyError:
        plan = _straight(spec, _plan(spec, kinds, None, "same_kind"), kinds)
        spec.kinds[kinds] = plan
        return plan


def _plan(spec: Spec, kinds: Sequence[Any], dtype: DType | None, casting: Any) -> Plan:
    given = [
        numpy_dtype(kind) if isinstance(kind, DType) else numpy.dtype(bool) if kind is bool
        else kind if kind in (int, float, complex) else numpy.dtype(kind)
        for kind in kinds
    ]  # fmt: skip
    dtypes = (*given, *(None,) * spec.nout)
    options = {} if dtype is None else {"signature": (None,) * spec.nin + (numpy_dtype(dtype),) * spec.nout}
    try:
        found = spec.by_numpy.resolve_dtypes(dtypes, casting=casting, **options)
    except TypeError as error:
        raise DTypeError(f"{spec.name}: {error}") from error
    chosen = tuple([dtype_of(each) for each in found])
    operands, results = chosen[: spec.nin], chosen[spec.nin :]
    op = spec.op
    if {each.kind for each in operands} == {"bool"}:
        if spec.boolean is not None:
            return Plan(spec.boolean, operands, results)
        if _gives(op, operands) is None:
            operands = (tb.uint8,) * spec.nin
    if len({*operands}) > 1 and _gives(op, operands) is None:
        operands = (tb.float64,) * spec.nin  # NumPy compares int64 with uint64
    return Plan(op, operands, results)


def _gives(op: Callable[..., Any], operands: Sequence[Any]) -> tuple[DType, ...] | None:
    """The dtypes of what an op gives for operands of these dtypes and classes; `None` if it refuses them."""
    shape = (1, 1) if op is tb.matmul else (1,) if op is tb.vecdot else ()
    try:
        given = op(*[tb.template(shape, kind) if isinstance(kind, DType) else kind(1) for kind in operands])
    except tb.errors.TensorBackendError:
        return None
    return tuple([each.dtype for each in given]) if isinstance(given, tuple) else (given.dtype,)


def _straight(spec: Spec, plan: Plan, kinds: Sequence[Any]) -> Plan | None:
    """The plan, or `None` where the op computes as it says without any cast."""
    kinds = [float if kind is numpy.float64 else kind for kind in kinds]  # as the generated code passes it
    if plan.op is not spec.op or _gives(spec.op, kinds) != plan.results:
        return plan
    dtypes = [kind for kind in kinds if isinstance(kind, DType)]
    if any(
        (kind if isinstance(kind, DType) else _number_dtype(kind, dtypes)) is not wanted
        for kind, wanted in zip(kinds, plan.operands, strict=True)
    ):
        common = {*plan.operands}
        if len(common) > 1 or tb.result_type(*[_weak(kind) for kind in kinds]) not in common:
            return plan
    return None


def _weak(kind: Any) -> Any:
    return kind if isinstance(kind, DType) else NUMPY_CLASSES.get(kind) or kind(1)


def _number_dtype(kind: Any, dtypes: Sequence[DType]) -> DType:
    return NUMPY_CLASSES.get(kind) or tb.result_type(kind(1), *dtypes)


def call(
    spec: Spec, arguments: Sequence[Any], out: Any = None, where: Any = True, dtype: Any = None, casting: Any = None,
    signature: Any = None,
) -> Any:  # fmt: skip
    """A call of a universal function with anything that NumPy takes."""
    if signature is not None:
        dtype = _dtype_of_signature(signature)
    if len(arguments) > spec.nin:
        given = arguments[spec.nin :]
        arguments, out = arguments[: spec.nin], given if out is None else out
    if isinstance(out, tuple):
        out = out if any(each is not None for each in out) else None
    elif out is not None:
        out = (out,)
    if out is None and where is True:
        classes = [value.__class__ for value in arguments]
        if NUMBERS.issuperset(classes):
            options = {} if dtype is None else {"dtype": numpy_dtype(dtype_of(dtype))}
            return spec.by_numpy(*arguments, **options)
    operands = [operand(value) for value in arguments]
    if NUMBERS.issuperset([value.__class__ for value in operands]):
        operands = [tensor(operands[0]), *operands[1:]]
    kinds = tuple([_kind(value) for value in operands])
    if dtype is None and casting is None:
        plan = planned(spec, kinds)
    else:
        plan = _plan(spec, kinds, None if dtype is None else dtype_of(dtype), casting or "same_kind")
    results = computed(spec, plan, operands)
    if where is not True:
        results = _masked(results, where, out)
    if out is None:
        boxed = tuple(map(_result, results))
    else:
        targets = (*out, *(None,) * (len(results) - len(out)))
        boxed = tuple([
            _result(each) if target is None else written(spec.name, target, each, casting or "same_kind")
            for target, each in zip(targets, results, strict=True)
        ])  # fmt: skip
    return boxed if spec.nout > 1 else boxed[0]


_result: Callable[[Tensor], Any] = result


def _dtype_of_signature(signature: Any) -> Any:
    if isinstance(signature, str):
        return signature.partition("->")[2][:1] or signature
    return next((each for each in reversed(tuple(signature)) if each is not None), None)


def computed(spec: Spec, plan: Plan | None, operands: Sequence[Any]) -> tuple[Tensor, ...]:
    """What a function gives for tensors and numbers by a plan."""
    if plan is None:
        given = spec.op(*operands)
        return given if isinstance(given, tuple) else (given,)
    given = plan.op(*map(_as, operands, plan.operands))
    results = given if isinstance(given, tuple) else (given,)
    return tuple(map(cast, results, plan.results))


def _as(value: Any, dtype: DType) -> Any:
    if isinstance(value, Tensor):
        return value if value.dtype is dtype else cast(value, dtype)
    if value.__class__ in NUMPY_CLASSES:
        return tensor(value.astype(numpy_dtype(dtype)))
    if value.__class__ is bool:
        return int(value) if dtype.is_numeric else value
    return float(value) if value.__class__ is int and dtype.is_floating else value


def _masked(results: Sequence[Tensor], where: Any, out: Any) -> tuple[Tensor, ...]:
    """Results where a mask holds, elsewhere what is in `out`, or 0."""
    mask = tensor(where)
    if mask.dtype is not tb.bool:
        mask = cast(mask, tb.bool)
    before: Any = [0] * len(results) if out is None else [None if x is None else tensor(x) for x in out]
    return tuple([
        tb.where(mask, each, _zero(each) if old is None or old.__class__ is int else cast(old, each.dtype))
        for each, old in zip(results, [*before, *[None] * (len(results) - len(before))], strict=True)
    ])  # fmt: skip


def _zero(x: Tensor) -> Any:
    return False if x.dtype is tb.bool else 0


def written(name: str, out: Any, value: Tensor, casting: Any = "same_kind") -> ndarray:
    """An array that was given as `out`, with the elements of a tensor."""
    if out.__class__ is not ndarray:
        if isinstance(out, tuple) and len(out) == 1:
            return written(name, out[0], value, casting)
        if isinstance(out, numpy.ndarray):
            numpy.copyto(out, numpy.asarray(value), casting=casting)
            return out  # type: ignore[return-value]
        raise OperandError(expected("an array for out", out=out))
    template = out._template()
    if value.template.dtype is not template.dtype:
        if not numpy.can_cast(numpy_dtype(value.dtype), numpy_dtype(template.dtype), casting):
            from_, to = numpy_dtype(value.dtype), numpy_dtype(template.dtype)
            text = f"Cannot cast ufunc '{name}' output from {from_!r} to {to!r} with casting rule '{casting}'"
            raise DTypeError(text)
        value = cast(value, template.dtype)
    if value.template.shape != template.shape:
        try:
            fits = tb.broadcast_shapes(value.shape, template.shape) == template.shape
        except tb.errors.ShapeError:
            fits = False
        if not fits:
            text = f"non-broadcastable output operand with shape {template.shape} doesn't match the broadcast shape"
            raise tb.errors.ShapeError(f"{text} {value.shape}")
        value = tb.broadcast_to(value, template.shape)
    replace(out, value)
    return out  # type: ignore[no-any-return]


def changed(spec: Spec, x: ndarray, other: Any) -> Any:
    """`x += other` and the like: a new number for one without axes, else `x`, written to."""
    if not x._template().shape and x._t is not None and getattr(x, "_how", None) is None:
        return call(spec, (x, other))
    return call(spec, (x, other), out=x)


def operated(spec: Spec, x: Any, y: Any) -> Any:
    """`x + y` and the like, where it is not straight-line."""
    other = y if x.__class__ is ndarray else x
    kind = other.__class__
    if kind not in NUMBERS and kind is not ndarray:
        if getattr(other, "__array_ufunc__", 0) is None or _has_operators_of_its_own(other):
            return NotImplemented
        if other is None or isinstance(other, str):
            if spec.name in ("equal", "not_equal"):
                like = tensor(x if x.__class__ is ndarray else y)
                return _result(tb.full_like(like, spec.name == "not_equal", dtype=tb.bool))
            return NotImplemented
    return call(spec, (x, y))


def _has_operators_of_its_own(other: Any) -> bool:
    """Whether an operand is more than an array, such as a `pandas.Series` or a sparse matrix."""
    if isinstance(other, Tensor | numpy.ndarray | list | tuple | range):
        return False
    return hasattr(other, "__radd__") and not hasattr(other, "__array_interface__") and not hasattr(other, "__dlpack__")


# Methods of universal functions


def reduced(
    spec: Spec, array: Any, axis: Any = 0, dtype: Any = None, out: Any = None, keepdims: Any = False,
    initial: Any = None, where: Any = True,
) -> Any:  # fmt: skip
    """`np.add.reduce` and the like."""
    x = tensor(array)
    if spec.reducer is not None:
        options = {} if initial is None else {"initial": initial}
        if where is not True:
            options["where"] = where
        if dtype is not None or spec.name in ("add", "multiply"):
            options["dtype"] = dtype
        return spec.reducer(array, axis=axis, out=out, keepdims=keepdims, **options)
    if dtype is not None:
        x = cast(x, dtype_of(dtype))
    axes = range(x.ndim) if axis is None else (axis,) if isinstance(axis, int) else tuple(axis)
    moved = tb.moveaxis(x, list(axes), list(range(len(axes))))
    flat = tb.reshape(moved, (-1, *moved.shape[len(axes) :]))
    parts = list(tb.unstack(flat)) if flat.shape[0] else []
    if initial is not None or not parts:
        start = spec.by_numpy.identity if initial is None else initial
        if start is None:
            raise tb.errors.ShapeError(f"zero-size array to reduction operation {spec.name} which has no identity")
        parts = [
            cast(tb.full_like(moved[(0,) * len(axes)] if flat.shape[0] else tb.zeros(flat.shape[1:]), start), x.dtype),
            *parts,
        ]
    total = fold(lambda a, b: tensor(call(spec, (functions["box"](a), functions["box"](b)))), parts)
    if keepdims:
        total = tb.expand_dims(total, axis=tuple(axes))
    return _result(total) if out is None else written(spec.name, out, total)


def accumulated(spec: Spec, array: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
    """`np.add.accumulate` and the like."""
    x = tensor(array)
    if dtype is not None:
        x = cast(x, dtype_of(dtype))
    if spec.accumulator is not None and x.dtype is not tb.bool:
        options = {} if dtype is None or spec.name not in ("add", "multiply") else {"dtype": x.dtype}
        total = spec.accumulator(x, axis=axis, **options)
    else:
        parts = list(tb.unstack(x, axis=axis))
        boxed = functions["box"]
        running = [tensor(call(spec, (boxed(parts[0]), boxed(parts[0]))))][:0] + parts[:1]
        for part in parts[1:]:
            running.append(tensor(call(spec, (boxed(running[-1]), boxed(part)))))
        if len(running) > 1:
            running[0] = cast(running[0], running[-1].dtype)
        total = tb.stack(running, axis=axis) if parts else x
    return _result(total) if out is None else written(spec.name, out, total)


def reduced_at(spec: Spec, array: Any, indices: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
    """`np.add.reduceat` and the like: each pair of neighbouring indices bounds a reduction."""
    x = tb.moveaxis(tensor(array), axis, 0)
    starts = [int(each) for each in host(indices)]
    stops = [*starts[1:], x.shape[0]]
    boxed = functions["box"]
    parts = [
        tensor(reduced(spec, boxed(x[start:stop]), 0, dtype)) if start < stop else x[start]
        for start, stop in zip(starts, stops, strict=True)
    ]
    total = tb.moveaxis(tb.stack([cast(part, parts[0].dtype) for part in parts]), 0, axis)
    return _result(total) if out is None else written(spec.name, out, total)


def outer(spec: Spec, a: Any, b: Any, **options: Any) -> Any:
    """`np.add.outer` and the like: the function of each element of one array with each of another."""
    x, y = tensor(a), tensor(b)
    wide = functions["box"](tb.reshape(x, x.shape + (1,) * y.ndim))
    return call(spec, (wide, b if b.__class__ is ndarray else functions["box"](y)), **options)


def at(spec: Spec, a: Any, indices: Any, b: Any = None) -> None:
    """`np.add.at` and the like: the function on elements at indices, which may repeat, in place."""
    if a.__class__ is not ndarray:
        if isinstance(a, numpy.ndarray):
            spec.by_numpy.at(a, host(indices), *([] if b is None else [host(b)]))
            return
        raise OperandError(expected("an array to write to", a=a))
    x = tensor_of(a)
    flat = tb.reshape(x, (-1,))
    places = tb.iota(x.shape, backend=x.backend) if x.shape else tb.zeros((), dtype=tb.int64)
    chosen = tensor(functions["box"](places)[indices])
    where = tb.reshape(chosen, (-1, 1))
    if spec.nin == 1:
        for place in tb.unstack(where):
            old = functions["box"](tb.take(flat, place, axis=0))
            flat = tb.indexed_put(flat, place[None], cast(tensor(call(spec, (old,))), flat.dtype))
        replace(a, tb.reshape(flat, x.shape))
        return
    value = tensor(b)
    if not numpy.can_cast(numpy_dtype(value.dtype), numpy_dtype(x.dtype), "same_kind") and b.__class__ not in NUMBERS:
        from_, to = numpy_dtype(value.dtype), numpy_dtype(x.dtype)
        raise DTypeError(
            f"Cannot cast ufunc '{spec.name}' output from {from_!r} to {to!r} with casting rule 'same_kind'"
        )
    updates = tb.reshape(tb.broadcast_to(cast(value, x.dtype), chosen.shape), (-1,))
    quick = _UPDATES.get(spec.name) if x.dtype is not tb.bool else None
    if quick is not None:
        replace(a, tb.reshape(quick(flat, where, updates), x.shape))
        return
    for number in range(where.shape[0]):
        place = where[number, 0]
        old = functions["box"](tb.take(flat, tb.reshape(place, (1,)), axis=0))
        new = cast(tensor(call(spec, (old, functions["box"](updates[number : number + 1])))), flat.dtype)
        flat = tb.indexed_put(flat, tb.reshape(place, (1, 1)), new)
    replace(a, tb.reshape(flat, x.shape))


_UPDATES: Final[dict[str, Callable[..., Tensor]]] = {
    "add": tb.indexed_add,
    "subtract": lambda x, places, updates: tb.indexed_add(x, places, tb.negative(updates)),
    "maximum": tb.indexed_max,
    "minimum": tb.indexed_min,
}
"""Ops that update elements at places that may repeat, by the universal function that they do it with."""


# Straight-line code

_PARAMETERS: Final = "out=None, *, where=True, casting=None, order='K', dtype=None, subok=True, signature=None"
_PLAIN: Final = "out is None and where is True and dtype is None and casting is None and signature is None"

_READ: Final = """\
    if {x}.__class__ is ndarray:
        {a} = {x}._t
        if {a} is None:
            {a} = {x}._read()
        {k} = {a}.template.dtype
    else:
        {a} = {x}
        {k} = {x}.__class__
        if {k} is float64:
            {a} = float({x})
"""

_RESULT: Final = """\
{indent}if r.template.shape or r.data.__class__ is not HOST:
{indent}    array = blank()
{indent}    array._t = r
{indent}    return array
{indent}return r.data[()]
"""

_UNARY: Final = f"""\
def {{name}}(x, /, {_PARAMETERS}):
    if x.__class__ is ndarray and {_PLAIN}:
        a = x._t
        if a is None:
            a = x._read()
        if kinds.get((a.template.dtype,), a) is None:
            r = op(a)
{_RESULT.format(indent=" " * 12)}
    return call(spec, (x,), out, where, dtype, casting, signature)
"""

_BINARY: Final = f"""\
def {{name}}(x1, x2, /, {_PARAMETERS}):
{_READ.format(x="x1", a="a", k="k")}
{_READ.format(x="x2", a="b", k="j")}
    if kinds.get((k, j), a) is None and {_PLAIN}:
        r = op(a, b)
{_RESULT.format(indent=" " * 8)}
    return call(spec, (x1, x2), out, where, dtype, casting, signature)
"""

_OTHER: Final = f"""\
def {{name}}({{arguments}}, /, {_PARAMETERS}):
    return call(spec, ({{arguments}},), out, where, dtype, casting, signature)
"""

_OPERATORS: Final = f"""\
def operator(x1, x2):
    a = x1._t
    if a is None:
        a = x1._read()
    k = a.template.dtype
{_READ.format(x="x2", a="b", k="j")}
    if kinds.get((k, j), a) is None:
        r = op(a, b)
{_RESULT.format(indent=" " * 8)}
    return operated(spec, x1, x2)

def reflected(x2, x1):
    b = x2._t
    if b is None:
        b = x2._read()
    j = b.template.dtype
    k = x1.__class__
    if kinds.get((k, j), b) is None:
        r = op(float(x1) if k is float64 else x1, b)
{_RESULT.format(indent=" " * 8)}
    return operated(spec, x1, x2)

def in_place(x1, x2):
    a = x1._t
    if a is None:
        a = x1._read()
{_READ.format(x="x2", a="b", k="j")}
    if kinds.get((a.template.dtype, j), a) is None and a.template.shape:
        r = op(a, b)
        if r.template is a.template and r.backend is a.backend:
            if x1._t is not None:
                x1._t = r
            else:
                a = b = None
                replace(x1, r)
            return x1
    return changed(spec, x1, x2)

def sole(x):
    a = x._t
    if a is None:
        a = x._read()
    if kinds.get((a.template.dtype,), a) is None:
        r = op(a)
{_RESULT.format(indent=" " * 8)}
    return call(spec, (x,))
"""

_SHARED: Final = {
    "float64": numpy.float64, "float": float,
    "HOST": numpy.ndarray, "blank": blank, "call": call, "changed": changed, "ndarray": ndarray, "operated": operated,
    "replace": replace,
}  # fmt: skip


def _compiled(source: str, spec: Spec, name: str) -> dict[str, Any]:
    scope = {**_SHARED, "__name__": __package__, "kinds": spec.kinds, "op": spec.op, "spec": spec}
    exec(compile(source, f"{HERE}/<{name}>", "exec"), scope)
    return scope


class UfuncType(type):
    """Makes `isinstance(np.add, np.ufunc)` true: universal functions are functions with methods."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return hasattr(instance, "spec") and hasattr(instance, "nin")


class ufunc(metaclass=UfuncType):
    """The class of universal functions, for `isinstance`."""


ufunc.__module__ = __package__


def made(spec: Spec) -> Callable[..., Any]:
    """The public function of a specification."""
    if spec.nout == 1 and spec.nin in (1, 2):
        source = (_UNARY if spec.nin == 1 else _BINARY).format(name=spec.name)
    else:
        source = _OTHER.format(name=spec.name, arguments=", ".join(f"x{n}" for n in range(1, spec.nin + 1)))
    function: Any = _compiled(source, spec, spec.name)[spec.name]
    function.__module__, function.__qualname__ = __package__, spec.name
    summary = (spec.op.__doc__ or "").strip().partition("\n")[0]
    function.__doc__ = f"{summary}\n\nNumPy's `{spec.name}`, with its options and methods."
    function.spec, function.nin, function.nout = spec, spec.nin, spec.nout
    function.nargs, function.identity = spec.nin + spec.nout, spec.by_numpy.identity
    function.types, function.ntypes = spec.by_numpy.types, spec.by_numpy.ntypes
    function.signature = spec.by_numpy.signature
    function.resolve_dtypes = spec.by_numpy.resolve_dtypes
    function.at = lambda a, indices, b=None, /: at(spec, a, indices, b)
    if spec.nin == 2 and spec.nout == 1:

        def reduce(array: Any, axis: Any = 0, dtype: Any = None, out: Any = None, keepdims: Any = False,
                   initial: Any = None, where: Any = True) -> Any:  # fmt: skip
            return reduced(spec, array, axis, dtype, out, keepdims, initial, where)

        def accumulate(array: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
            return accumulated(spec, array, axis, dtype, out)

        def reduceat(array: Any, indices: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
            return reduced_at(spec, array, indices, axis, dtype, out)

        function.reduce, function.accumulate, function.reduceat = reduce, accumulate, reduceat
        function.outer = lambda a, b, /, **options: outer(spec, a, b, **options)
    return function


def operators(spec: Spec) -> dict[str, Callable[..., Any]]:
    """The methods of arrays for a function's operator: the plain, the reflected and the one in place, or the sole."""
    scope = _compiled(_OPERATORS, spec, f"ndarray.{spec.name}")
    return {name: scope[name] for name in ("operator", "reflected", "in_place", "sole")}
