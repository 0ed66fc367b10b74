"""Universal functions and operators as generated code, and methods of arrays that are functions of the namespace."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from inspect import Parameter, Signature
from typing import Any, Final

import numpy

from ..dtypes import bool_
from ..errors import OutOfRangeError, TemplateDataError
from ..ops.indexing import assignment as assignments
from . import ufunc_table as table
from .arrays import LASTING, blank, functions, ndarray, release, replace
from .conversion import back, host, tensor
from .dtypes import NUMBERS
from .functions import PUBLIC
from .host_arrays import RESULT, compile_late, hosted, without_binding
from .in_place import writeable_part
from .layouts import LOCKED, refuse_read_only
from .promotion import Spec
from .reductions import ROWS as REDUCTIONS
from .ufunc_methods import accumulate, at, outer, reduce, reduceat
from .ufuncs import call, change, operate, write_out

_PARAMETERS: Final = "out=None, **options"
"""Options in one dictionary: a default for each would be looked up in every call, which takes twice as long."""
_PLAIN: Final = "out is None and not options"

_VIEW: Final = """\
{indent}{a} = {x}._t
{indent}if {a} is None:
{indent}    {a} = {x}._read()"""
"""The tensor of an array."""

_READ: Final = f"""\
    if {{x}}.__class__ is ndarray:
{_VIEW.format(indent=" " * 8, a="{a}", x="{x}")}
        {{k}} = {{a}}.template.dtype
    else:
        {{a}} = {{x}}
        {{k}} = {{x}}.__class__
        if {{k}} is float64:
            {{a}} = float({{x}})
"""

_UNARY: Final = f"""\
def {{name}}(x, /, {_PARAMETERS}):
    if x.__class__ is ndarray and {_PLAIN}:
{_VIEW.format(indent=" " * 8, a="a", x="x")}
        if a.template.dtype in alike:
            r = op(a)
{RESULT.format(indent=" " * 12)}
    elif x.__class__ in NUMBERS and {_PLAIN}:
        return by_numpy(x)
    return call(spec, (x,), out, **options)
"""

_BINARY: Final = f"""\
def {{name}}(x1, x2, /, {_PARAMETERS}):
{_READ.format(x="x1", a="a", k="k")}
{_READ.format(x="x2", a="b", k="j")}
    if (k in alike if k is j else kinds.get((k, j), a) is None) and {_PLAIN}:
        r = op(a, b)
{RESULT.format(indent=" " * 8)}
    return call(spec, (x1, x2), out, **options)
"""

_OTHER: Final = f"""\
def {{name}}({{arguments}}, /, {_PARAMETERS}):
    return call(spec, ({{arguments}},), out, **options)
"""

_OPERATOR: Final = f"""\
def {{name}}(x1, x2):
{_VIEW.format(indent=" " * 4, a="a", x="x1")}
    k = a.template.dtype
{_READ.format(x="x2", a="b", k="j")}
    if k in alike if k is j else kinds.get((k, j), a) is None:
        r = op(a, b)
{RESULT.format(indent=" " * 8)}
    return operate(spec, x1, x2)
"""

_REFLECTED: Final = f"""\
def {{name}}(x2, x1):
{_VIEW.format(indent=" " * 4, a="b", x="x2")}
    j = b.template.dtype
    k = x1.__class__
    if kinds.get((k, j), b) is None:
        r = op(float(x1) if k is float64 else x1, b)
{RESULT.format(indent=" " * 8)}
    return operate(spec, x1, x2)
"""

_IN_PLACE: Final = f"""\
def {{name}}(x1, x2):
    try:
        assignments.acquire()
        return write_result(x1, x2)
    finally:
        try:
            assignments.release()
        except RuntimeError:
            pass

def write_result(x1, x2):
    a = x1._t
    part = None
    if a is None:
        a = part = writeable_part(x1)
        if a is None:
            a = x1._read()
{_READ.format(x="x2", a="b", k="j")}
    k = a.template.dtype
    if (k in alike if k is j else kinds.get((k, j), a) is None) and a.template.shape:
        r = op(a, b)
        if r.template is a.template and r.backend is a.backend:
            if part is not None:
                part.data[...] = r.data
            elif x1._t is not None:
                if LASTING:
                    release(x1)
                if LOCKED:
                    refuse_read_only(x1)
                x1._t = r
            else:
                a = b = None
                replace(x1, r)
            return x1
    return change(spec, x1, x2)
"""

_SOLE: Final = f"""\
def {{name}}(x):
{_VIEW.format(indent=" " * 4, a="a", x="x")}
    if a.template.dtype in alike:
        r = op(a)
{RESULT.format(indent=" " * 8)}
    return call(spec, (x,))
"""

_OF_ANY_NUMBER: Final = """\
\\1try:
\\1    \\2
\\1except OutOfRangeError:
\\1    return {}"""
"""An op that a number may be out of range for: it is compared with integers, or infinite among floating numbers."""

_SHARED: Final = {
    "NUMBERS": NUMBERS, "OutOfRangeError": OutOfRangeError, "float64": numpy.float64, "float": float,
    "HOST": numpy.ndarray, "LASTING": LASTING, "LOCKED": LOCKED, "assignments": assignments, "blank": blank,
    "bool_": bool_, "functions": functions, "call": call, "change": change, "ndarray": ndarray, "operate": operate,
    "refuse_read_only": refuse_read_only,
    "release": release, "replace": replace, "writeable_part": writeable_part,
}  # fmt: skip


def _function_of(spec: Spec, source: str, *, binds: bool = True) -> Any:
    """The function of a specification in some source, with the names that the source needs."""
    scope = {
        **_SHARED, "__name__": __package__, "alike": spec.alike, "by_numpy": spec.by_numpy, "kinds": spec.kinds,
        "op": spec.op, "spec": spec,
    }  # fmt: skip

    def write_source() -> str:
        text = source.format(name=spec.name)
        again = "change(spec, x1, x2)" if source is _IN_PLACE else "call(spec, (x1, x2))"
        return re.sub(r"^( +)(r = op\(.*, b\))$", _OF_ANY_NUMBER.format(again), text, flags=re.MULTILINE)

    return compile_late(spec.name, write_source, scope, binds=binds)


_METHODS: Final[dict[str, Callable[..., Any]]] = {
    "reduce": reduce, "accumulate": accumulate, "reduceat": reduceat, "outer": outer, "at": at,
}  # fmt: skip


def make_ufunc(spec: Spec) -> Callable[..., Any]:
    """The public function of a specification."""
    if spec.nout == 1 and spec.nin in (1, 2):
        function = _function_of(spec, _UNARY if spec.nin == 1 else _BINARY, binds=False)
    else:
        arguments = ", ".join(f"x{number}" for number in range(1, spec.nin + 1))
        function = _function_of(spec, _OTHER.replace("{arguments}", arguments), binds=False)
    function.__module__, function.__qualname__ = __package__, spec.name
    summary = (spec.op.__doc__ or "").strip().partition("\n")[0]
    function.__doc__ = f"{summary}\n\nNumPy's `{spec.name}`, with its options and methods."
    function.__signature__ = _signature(spec.nin, bool(spec.by_numpy.signature))
    function.spec, function.nin, function.nout = spec, spec.nin, spec.nout
    function.nargs, function.identity = spec.nin + spec.nout, spec.by_numpy.identity
    function.types, function.ntypes = spec.by_numpy.types, spec.by_numpy.ntypes
    function.signature = spec.by_numpy.signature
    function.resolve_dtypes = spec.by_numpy.resolve_dtypes
    for name, method in (_METHODS if spec.nin == 2 and spec.nout == 1 else {"at": at}).items():
        setattr(function, name, hosted(partial(method, spec), f"{spec.name}.{name}"))
    return without_binding(function)


@cache
def _signature(operands: int, generalized: bool) -> Signature:
    """What `help` shows: NumPy's options, those of `call` that follow `out` by keyword."""
    names = ["x"] if operands == 1 else [f"x{number}" for number in range(1, operands + 1)]
    along = {"axes": None, "axis": None, "keepdims": False} if generalized else {"where": True}
    options = {**along, "casting": None, "order": "K", "dtype": None, "subok": True, "signature": None}
    return Signature([
        *[Parameter(name, Parameter.POSITIONAL_ONLY) for name in names],
        Parameter("out", Parameter.POSITIONAL_OR_KEYWORD, default=None),
        *[Parameter(name, Parameter.KEYWORD_ONLY, default=default) for name, default in options.items()],
    ])  # fmt: skip


_MODULUS: Final = ("(x1, x2):\n", """\
(x1, x2, modulus=None):
    if modulus is not None:
        return NotImplemented
""")  # fmt: skip
"""How the operator of `pow` begins in place of any other."""

_SQUARE: Final = ("    k = a.template.dtype\n", """\
    k = a.template.dtype
    if k is bool_ and x2.__class__ is int and x2 == 2:
        return functions["square"](x1)
""")  # fmt: skip
"""What it asks first: bools to the power 2 are int8, those to another power int64."""


def operator_of(spec: Spec, part: str) -> Callable[..., Any]:
    """The method of arrays for a function's operator: the plain one, or that which `part` says."""
    source, face = _OPERATORS[part]
    if spec.name == "power" and part == "operator":
        source, face = source.replace(*_MODULUS).replace(*_SQUARE), lambda x1, x2, modulus=None: x1
    made = _function_of(spec, source)
    made.__wrapped__ = face
    operator: Callable[..., Any] = made
    return operator


_OPERATORS: Final[dict[str, tuple[str, Callable[..., Any]]]] = {
    "operator": (_OPERATOR, lambda x1, x2: x1),
    "reflected": (_REFLECTED, lambda x2, x1: x1),
    "in_place": (_IN_PLACE, lambda x1, x2: x1),
    "sole": (_SOLE, lambda x: x),
}
"""The sources of operators, and functions that show their parameters."""


UFUNCS: Final[dict[str, Any]] = {}
"""The universal functions by name."""

for _name, _op in table.OPS.items():
    UFUNCS[_name] = make_ufunc(
        Spec(
            _name, _op, boolean=table.OF_BOOLS.get(_name), complex=table.OF_COMPLEX.get(_name),
            accumulator=table.ACCUMULATORS.get(_name),
            reducer=functions[table.REDUCERS[_name]] if table.REDUCERS.get(_name) in REDUCTIONS else None,
        )
    )  # fmt: skip
for _name, _same in table.SYNONYMS.items():
    UFUNCS[_name] = UFUNCS[_same]
functions.update(UFUNCS)
PUBLIC.update(UFUNCS)

for _method, _name in table.OPERATORS.items():
    for _prefix, _part in (("", "operator"), ("r", "reflected"), ("i", "in_place")) if _name != "divmod" else ():
        setattr(ndarray, f"__{_prefix}{_method}__", operator_of(UFUNCS[_name].spec, _part))
for _method, _name in table.COMPARISON_METHODS.items():
    setattr(ndarray, f"__{_method}__", operator_of(UFUNCS[_name].spec, "operator"))
for _method, _name in table.SOLE.items():
    setattr(ndarray, f"__{_method}__", operator_of(UFUNCS[_name].spec, "sole"))


def _divmod(self: ndarray, other: Any) -> Any:
    return operate(UFUNCS["divmod"].spec, self, other)


def _rdivmod(self: ndarray, other: Any) -> Any:
    return operate(UFUNCS["divmod"].spec, other, self)


setattr(ndarray, "__divmod__", _divmod)  # noqa: B010 # a type checker reads the stub
setattr(ndarray, "__rdivmod__", _rdivmod)  # noqa: B010

METHODS: Final = [
    "all", "any", "argmax", "argmin", "argpartition", "argsort", "choose", "clip", "cumprod", "cumsum", "diagonal",
    "dot", "max", "mean", "min", "nonzero", "prod", "put", "ravel", "repeat", "round", "searchsorted", "squeeze", "std",
    "sum", "swapaxes", "take", "trace", "var",
]  # fmt: skip
"""Methods of arrays that are the functions of their names."""


def _conjugate(self: ndarray, out: Any = None) -> Any:
    """The complex conjugates: a real array itself."""
    return self if out is None and not self._template().dtype.is_complex else PUBLIC["conjugate"](self, out=out)


def bind() -> None:
    """Adds the methods of arrays that are functions of the namespace."""
    for name in METHODS:
        setattr(ndarray, name, PUBLIC[name])
    for name in ("conj", "conjugate"):
        setattr(ndarray, name, _conjugate)
    setattr(ndarray, "T", property(functions["transpose"], doc="The axes in reverse order: a view."))  # noqa: B010


def _numpy_ufunc(ufunc: Any, method: str, inputs: Any, options: Any) -> Any:
    """A universal function of NumPy's with arrays, by ours of that name."""
    ours = UFUNCS.get(ufunc.__name__)
    if ours is None:
        given = {name: value for name, value in options.items() if name != "out"}
        made = back(getattr(ufunc, method)(*host(inputs), **host(given)))
        out = options.get("out")
        return made if out is None else write_out(ufunc.__name__, out, tensor(made))
    if method == "__call__" and not options:
        return ours(*inputs)
    if "out" in options and len(options["out"]) == 1:
        options = {**options, "out": options["out"][0]}
    return (ours if method == "__call__" else getattr(ours, method))(*inputs, **options)


_TO_NUMPY: Final = {"atleast_1d", "atleast_2d", "atleast_3d"}
"""Functions with which SciPy makes arrays of NumPy's for code in C, as with `asarray`."""


def _numpy_function(function: Any, types: Any, arguments: Any, options: Any) -> Any:
    """A function of NumPy's with arrays, by ours of that name, else by NumPy on the host."""
    if function.__name__ in _TO_NUMPY:
        with suppress(TemplateDataError):
            return function(*map(numpy.array, arguments))
    space = (getattr(function, "__module__", None) or "").partition(".")[2]
    name = f"{space}.{function.__name__}" if space in ("linalg", "fft") else function.__name__
    ours = PUBLIC.get(name)
    return ours(*arguments, **options) if ours is not None else back(function(*host(arguments), **host(options)))


def _array_ufunc(self: ndarray, ufunc: Any, method: str, /, *inputs: Any, **options: Any) -> Any:
    if not options and method == "__call__":
        ours = _OF_NUMPY.get(ufunc)
        if ours is not None:
            return ours(*inputs)
    return _numpy_ufunc(ufunc, method, inputs, options)


_OF_NUMPY: Final = {ours.spec.by_numpy: ours for ours in UFUNCS.values()}
"""The universal functions by NumPy's."""

setattr(ndarray, "__array_ufunc__", _array_ufunc)  # noqa: B010
functions["numpy_function"] = _numpy_function
