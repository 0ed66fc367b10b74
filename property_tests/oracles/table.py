"""The table of oracles: for each public function, what its results are by somebody else's measure.

Comparing backends with each other cannot find a function that is wrong on all of them. So each public function has an
oracle: NumPy in float64, SciPy, JAX, or brute force, never this library. There are two kinds:

- A *reference* computes what a drawn call must give. It gets the operands as NumPy arrays, floats and complex numbers
  in double precision, and returns NumPy arrays; the result is held to the bound that the function declares.
  Elements that a masked array hides are not judged.
- A *law* draws operands, calls the function itself and asserts what must be true, for functions without a result that
  an array could hold, such as `grad` or `save`.

A family of functions is a module of this package. `laws/test_oracles.py` runs the table, and fails for a function
without an oracle, and for an option that has had the same value in all calls.
"""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from inspect import Signature, isfunction, signature
from types import ModuleType
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy
from hypothesis import assume, reject
from hypothesis import strategies as st

import tensorbackend as tb
from tensorbackend.dtypes import ALL_DTYPES, DType, as_dtype, finfo, float32
from tensorbackend.dtypes.packing import pack
from tensorbackend.errors import DataError, TensorBackendError
from tensorbackend.expr.trees import flatten
from tensorbackend.ops.creation.filled import from_binary
from tensorbackend.protocol import Backend
from tensorbackend.rules.accuracy import Bound
from tensorbackend.testing import Invocation, assert_equal, calls
from tensorbackend.testing.calls import Generator, bound_of
from tensorbackend.testing.strategies import Draw

NAMESPACES = ("", "linalg", "fft", "nn", "random", "sparse", "ragged", "solvers", "optimize")
"""Where public functions are: at the top level, and in the namespaces of functions of tensors."""

Judge: TypeAlias = Literal["NumPy", "SciPy", "mpmath", "JAX", "optax", "brute force", "definition"]
"""Whose measure an oracle is. A `definition` is a property that defines the function, such as A x = b."""

Draws: TypeAlias = Literal["kit", "generator", "law"]
Reference: TypeAlias = Callable[..., Any]
Law: TypeAlias = "Callable[[Draw, Recorder, Backend], None]"

FLOATING = [dtype for dtype in ALL_DTYPES if dtype.is_floating]
INEXACT = [dtype for dtype in ALL_DTYPES if dtype.is_inexact]
INTEGER = [dtype for dtype in ALL_DTYPES if dtype.is_integer]
NUMERIC = [dtype for dtype in ALL_DTYPES if dtype.is_numeric]


class Refusal(Exception):
    """Raised by a reference where the function must raise a `DataError`."""


class Oracle(NamedTuple):
    """What judges a public function."""

    name: str
    judge: Judge
    strategy: st.SearchStrategy[Any]
    """What is drawn: calls for a reference, `st.data()` for a law."""
    check: Callable[[Any, Recorder], None]
    """Asserts that the function is right about what was drawn."""
    fixed: Mapping[str, str]
    """Options that keep one value, with the reasons."""
    family: str
    """The module that has it."""
    draws: Draws
    """Who draws the operands: the testing kit, a generator next to the reference, or the law."""


ORACLES: dict[str, Oracle] = {}
"""The oracles by the qualified name of the function, such as `"linalg.qr"`."""


class Recorder:
    """A public function on a backend that notes which values each of its options had."""

    def __init__(self, name: str, backend: Backend) -> None:
        self.name, self.backend = name, backend
        self.function = public_functions()[name]
        self.signature: Signature = signature(self.function)
        self.values: dict[str, set[str]] = {}
        self.compared = 0

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        self.note(*arguments, **options)
        return self.function(*arguments, **options)

    def note(self, *arguments: Any, **options: Any) -> None:
        """Notes the options of a call, such as one that another process makes."""
        bound = self.signature.bind(*arguments, **options)
        bound.apply_defaults()
        for name, value in bound.arguments.items():
            self.values.setdefault(name, set()).add(_told(value))

    def unvaried(self) -> list[str]:
        """The options, parameters with a default, that had one value in all calls."""
        return [name for name in options_of(self.function) if len(self.values.get(name, ())) < 2]


def options_of(function: Callable[..., Any]) -> list[str]:
    """The parameters with a default, except the backend, which each test chooses."""
    parameters = signature(function).parameters
    return [name for name, one in parameters.items() if one.default is not one.empty and name != "backend"]


def _told(value: Any) -> str:
    if isinstance(value, tb.Tensor):
        return f"tensor {value.template}"
    return f"{type(value).__name__} {value}" if isinstance(value, str | int | float | tuple | None) else repr(value)


def public_functions() -> dict[str, Callable[..., Any]]:
    """The public functions by qualified name; a function that two namespaces offer is listed under the first."""
    if not _FUNCTIONS:
        seen: set[int] = set()
        for space in NAMESPACES:
            module = getattr(tb, space) if space else tb
            for name in dir(module):
                value = getattr(module, name)
                if name.startswith("_") or isinstance(value, type | ModuleType) or not isfunction(value):
                    continue
                if value.__module__.startswith("tensorbackend.") and id(value) not in seen:
                    seen.add(id(value))
                    _FUNCTIONS[f"{space}.{name}" if space else name] = value
    return _FUNCTIONS


_FUNCTIONS: dict[str, Callable[..., Any]] = {}


# References


def reference(
    *names: str,
    by: Judge,
    draw: Generator | None = None,
    dtypes: Sequence[DType] = tuple(ALL_DTYPES),
    bound: Bound | None = None,
    raw: bool = False,
    narrow: int = 0,
    fixed: Mapping[str, str] | None = None,
) -> Callable[[Reference], Reference]:
    """Enters a function that computes what a call must give.

    Parameters
    ----------
    *names : str
        The qualified names of the functions that it judges.
    by : str
        Whose measure it is.
    draw : Callable, optional
        A generator of calls, given a draw function and a dtype; by default the one that the testing kit has.
    dtypes : sequence of DType, optional
        The dtypes of the calls' operands.
    bound : Bound, optional
        How near the results must be; by default as near as the function declares, or within one ulp.
    raw : bool, default False
        Whether it gets the call itself instead of NumPy arrays, as where the names of axes of several tensors matter.
    narrow : int, default 0
        How many steps are rounded to float16 or bfloat16 before the last one; other results are computed in float32
        and rounded once.
    fixed : mapping of str to str, optional
        Options that keep one value in all calls, with the reasons.
    """
    family = _family()

    def declare(function: Reference) -> Reference:
        for name in names:
            strategy = st.one_of([_calls(name, dtype, draw) for dtype in dtypes])

            def check(call: Invocation, run: Recorder) -> None:
                _check_reference(function, call, run, bound, raw, narrow)

            draws: Draws = "kit" if draw is None else "generator"
            _register(Oracle(name, by, strategy, check, fixed or {}, family, draws))
        return function

    return declare


def _family() -> str:
    """The name of the module that calls `reference` or `law`; the function itself may be NumPy's."""
    module: str = sys._getframe(2).f_globals["__name__"]
    return module.rpartition(".")[2]


def _calls(name: str, dtype: DType, draw: Generator | None) -> st.SearchStrategy[Invocation]:
    return calls(name, dtype) if draw is None else _drawn(name, dtype, draw)


@st.composite
def _drawn(choose: Draw, name: str, dtype: DType, draw: Generator) -> Invocation:
    """Calls of a generator; one strategy for all, as Hypothesis reads the source of each."""
    return draw(choose, dtype)._replace(name=name)


def _check_reference(
    function: Reference, call: Invocation, run: Recorder, bound: Bound | None, raw: bool, narrow: int
) -> None:
    moved = call.on(run.backend)
    try:
        actual = run(*moved.arguments, **moved.options)
    except DataError:
        try:
            expected = compute(function, call, raw)
        except (Refusal, IndexError, ValueError, numpy.linalg.LinAlgError, OverflowError):
            run.compared += 1
            return
        raise AssertionError(f"{call!r}: raises a DataError where {expected!r} was expected") from None
    except TensorBackendError:
        reject()  # a mistake, which the kit's own tests judge
    try:
        expected = compute(function, call, raw)
    except Refusal as refusal:
        raise AssertionError(f"{call!r}: gives {actual!r} where an error was expected: {refusal}") from None
    compare(call, actual, expected, bound, magnitudes=lambda: _of_magnitudes(function, call, raw), narrow=narrow)
    run.compared += 1


def compute(function: Reference, call: Invocation, raw: bool = False) -> Any:
    """What the reference gives for a call."""
    with numpy.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if raw:
            return function(call)
        names = next((x.names for x in call.tensors), ())

        def plain(value: Any) -> Any:
            """The value with arrays for tensors and positions for the names of the first tensor's axes."""
            if isinstance(value, tb.Tensor):
                return wide(value)
            if isinstance(value, str) and value in names:
                return names.index(value)
            if isinstance(value, list | tuple) and not hasattr(value, "_fields"):
                return type(value)(map(plain, value))
            return value

        return function(*map(plain, call.arguments), **{key: plain(value) for key, value in call.options.items()})


def wide(x: tb.Tensor) -> Any:
    """The elements of a tensor as a NumPy array: floats and complex numbers in double precision, others unchanged."""
    array = numpy.asarray(x.backend_copy("binary"))
    if x.dtype.is_inexact:
        return array.astype(numpy.complex128 if x.dtype.is_complex else numpy.float64)
    return array.copy()


# Laws


def law(*names: str, by: Judge, fixed: Mapping[str, str] | None = None) -> Callable[[Law], Law]:
    """Enters a function that draws operands, calls the function that it is given, and asserts what must be true.

    Parameters
    ----------
    *names : str
        The qualified names of the functions that it judges.
    by : str
        Whose measure it is.
    fixed : mapping of str to str, optional
        Options that keep one value in all calls, with the reasons.
    """
    family = _family()

    def declare(function: Law) -> Law:
        for name in names:

            def check(data: st.DataObject, run: Recorder) -> None:
                with numpy.errstate(all="ignore"):
                    function(data.draw, run, run.backend)  # type: ignore[arg-type] # it draws as a DrawFn does
                run.compared += 1

            _register(Oracle(name, by, st.data(), check, fixed or {}, family, "law"))
        return function

    return declare


def _register(oracle: Oracle) -> None:
    if oracle.name in ORACLES:
        raise ValueError(f"{oracle.name!r} has two oracles")
    ORACLES[oracle.name] = oracle


# Comparison


def compare(
    call: Invocation,
    actual: Any,
    expected: Any,
    bound: Bound | None = None,
    *,
    magnitudes: Callable[[], list[Any]] | None = None,
    narrow: int = 0,
) -> None:
    """Assert that the results of a call are those expected, within the bound that its function declares.

    Parameters
    ----------
    call : Invocation
        The call, for the bound and the text of an error.
    actual : tree of Tensor
        Its results.
    expected : tree of arrays
        What they must be.
    bound : Bound, optional
        How near they must be; by default as near as the function declares, or within one ulp.
    magnitudes : Callable, optional
        Returns the results for the absolute values of the operands, where the bound counts their roundings.
    narrow : int, default 0
        How many steps are rounded to float16 or bfloat16 before the last one.
    """
    results, wanted = flatten(actual)[0], _leaves(expected)
    assert len(results) == len(wanted), f"{call!r}: expected {len(wanted)} results, got {len(results)}"
    dtypes = {x.dtype for x in [*call.tensors, *results] if isinstance(x, tb.Tensor)}
    bound = bound_of(call.name, dtypes) if bound is None else bound
    ulps = max(bound.ulps, 1)
    sizes = _sizes(bound, call, wanted, magnitudes)
    for result, want, size in zip(results, wanted, sizes, strict=True):
        if not isinstance(result, tb.Tensor):
            assert result == want or (result != result and want != want), f"{call!r}: expected {want!r}, got {result!r}"
            continue
        array = numpy.asarray(want)
        if isinstance(want, numpy.ma.MaskedArray):
            array = numpy.where(want.mask, wide(result).astype(array.dtype), array)
        assert result.shape == array.shape, f"{call!r}: expected the shape {array.shape}, got {result.template}"
        names = getattr(want, "names", result.names)
        assert result.names == names, f"{call!r}: expected the names {names}, got {result.template}"
        kinds = {"b": "bool", "i": "int", "u": "uint", "f": "float", "c": "complex"}
        # NumPy has no kind for the dtypes of ml_dtypes.
        kind = kinds[array.dtype.kind] if array.dtype.kind in kinds else as_dtype(array.dtype).kind
        assert kind == result.dtype.kind or {kind, result.dtype.kind} == {"int", "uint"}, (
            f"{call!r}: expected elements of kind {kind}, got {result.template}"
        )
        tensor = from_binary(pack(array.ravel().tolist(), result.dtype), result.template, "binary")
        allowed: Any = 0.0
        near = ulps if result.dtype.is_inexact else 0
        if result.dtype.bits == 16 and result.dtype.is_floating:
            # Such results are computed in float32 and rounded once: the bound counts the roundings of float32.
            near, rounding = 1, max(bound.ulps, 1) * finfo(float32).eps + narrow * finfo(result.dtype).eps
            if bound.scale == "element":
                size = numpy.abs(array)
            allowed = [rounding * each for each in numpy.broadcast_to(size, array.shape).ravel().tolist()]
        elif result.dtype.is_inexact and bound.scale != "element":
            rounding = bound.ulps * finfo(result.dtype).eps
            allowed = [rounding * each for each in numpy.broadcast_to(size, array.shape).ravel().tolist()]
        assert_equal(result.backend_copy("binary"), tensor, ulps=near, absolute=allowed, call=call)


class Named(numpy.ndarray[Any, Any]):
    """An array with names of axes."""

    names: tuple[str | None, ...]


def named(array: Any, names: Sequence[str | None]) -> Named:
    """The array as an expected result whose axes have these names; of other results only the elements are compared."""
    view = numpy.array(array).view(Named)
    view.names = tuple(names)
    return view


def _leaves(expected: Any) -> list[Any]:
    """The arrays and numbers of an expected result, in order."""
    if isinstance(expected, tuple | list):  # also a named tuple, such as that of `eigh`
        return [leaf for member in expected for leaf in _leaves(member)]
    if isinstance(expected, dict):
        return [leaf for key in sorted(expected) for leaf in _leaves(expected[key])]
    return [] if expected is None else [expected]


def _sizes(
    bound: Bound, call: Invocation, wanted: Sequence[Any], magnitudes: Callable[[], list[Any]] | None
) -> list[Any]:
    """The quantities whose roundings a bound allows, one or an array for each result."""
    if bound.scale in ("magnitudes", "norm", "exponent"):
        arrays = magnitudes() if magnitudes is not None else [numpy.abs(want) for want in wanted]
        if bound.scale == "norm":
            return [_largest([array]) for array in arrays]
        sizes = (numpy.abs(numpy.ma.getdata(array)) for array in arrays)
        return [numpy.nan_to_num(size, nan=0.0, posinf=0.0) for size in sizes]
    operand = max(1.0, _largest(wide(x) for x in call.tensors if x.dtype.is_numeric))
    size = {"one": 1.0, "operand": operand, "square": operand * operand, "element": 0.0}.get(bound.scale)
    return [_largest([want]) if size is None else size for want in wanted]


def _largest(arrays: Iterable[Any]) -> float:
    """The maximum of the finite absolute values, 0 if there are none."""
    sizes = [float(size) for array in arrays for size in numpy.abs(numpy.asarray(array, "c16")).ravel()]
    return max((size for size in sizes if math.isfinite(size)), default=0.0)


def _of_magnitudes(function: Reference, call: Invocation, raw: bool) -> list[Any]:
    """The reference's results for the absolute values of the operands, infinity and NaN as 0.

    Integers next to other operands may be indices, and are unchanged. The least one has no absolute value in its
    dtype, so these are floating.
    """
    alone = len(call.tensors) == 1

    def absolute(x: tb.Tensor) -> tb.Tensor:
        if not (x.dtype.is_inexact or (alone and x.dtype.kind == "int")):
            return x
        sizes = numpy.nan_to_num(
            numpy.abs(wide(x) if x.dtype.is_inexact else wide(x).astype(float)), nan=0.0, posinf=0.0
        )
        return tb.asarray(sizes + 0j if x.dtype.is_complex else sizes, backend="binary").rename(*x.names)

    return _leaves(compute(function, call.mapped(absolute), raw))


def finite(x: tb.Tensor) -> tb.Tensor:
    """The tensor; rejects the draw if it holds infinity or NaN."""
    assume(bool(numpy.isfinite(wide(x)).all()))
    return x
