"""Annotations of tensors with dtypes and names of axes, and a decorator that checks them at each call.

>>> import tensorbackend as tb
>>> from tensorbackend.axis_types import Float
>>> @tb.check_axes
... def scores(x: Float[tb.Tensor, "batch feature"], weight: Float[tb.Tensor, "feature unit"]) -> tb.Tensor:
...     return tb.dot(x, weight, contract="feature")
>>> scores(tb.ones((2, 3), names=("batch", "time")), tb.ones((3, 4), names=("feature", "unit")))
Traceback (most recent call last):
tensorbackend.errors.NamesError: scores: expected x as Float[batch feature], got x=f32[batch: 2][time: 3]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple, ParamSpec, TypeVar, Union, get_args, get_origin

from .declarations.argument_errors import check_arguments_early
from .display import directory as _directory
from .dtypes import DType
from .errors import ArgumentError, DTypeError, NamesError, OperandError, ShapeError, expected
from .errors.tracebacks import name_in_errors
from .template import Template
from .tensor import Tensor
from .tensor.missing_names import missing_names as _missing_names

P = ParamSpec("P")
R = TypeVar("R")

__all__ = ["AxisPattern", "Bool", "Complex", "Float", "Inexact", "Int", "Number", "Shaped", "check_axes"]


class AxisPattern(NamedTuple):
    """The dtypes and the axes that an annotation allows."""

    kind: str
    """The class of dtypes, such as `"Float"`."""
    takes: Callable[[DType], bool]
    """Whether it allows a dtype."""
    axes: str
    """The axes in order: `batch`, `feature=3`, `3` (any name), `_` (any axis), `...` (any number of axes)."""

    def __repr__(self) -> str:
        return f"{self.kind}[{self.axes}]"

    def check(self, label: str, value: Any, sizes: dict[str, int]) -> None:
        """Raises an error unless a value is a tensor that matches; notes the sizes of its axes by their names."""
        template = value if isinstance(value, Template) else getattr(value, "template", None)
        if not isinstance(template, Template):
            raise OperandError(expected(f"{label} as {self}", **{label: value}))
        if not self.takes(template.dtype):
            raise DTypeError(expected(f"{label} as {self}", "cast it with astype()", **{label: template}))
        if not _matches(self.axes.split(), [*zip(template.names, template.shape, strict=True)]):
            named = any(part.isidentifier() and part != "_" for part in self.axes.split())
            error = NamesError if named else ShapeError
            raise error(expected(f"{label} as {self}", **{label: template}))
        for name, size in zip(template.names, template.shape, strict=True):
            if name is not None and sizes.setdefault(name, size) != size:
                raise ShapeError(expected(f"{label} with {name}={sizes[name]}, as before", **{label: template}))


def _matches(parts: list[str], axes: list[tuple[str | None, int]]) -> bool:
    """Whether axes, given as pairs of name and size, match the parts of a pattern."""
    if not parts:
        return not axes
    first, *rest = parts
    if first == "...":
        return any(_matches(rest, axes[count:]) for count in range(len(axes) + 1))
    if not axes:
        return False
    (name, size), *others = axes
    wanted, _, number = first.partition("=")
    if wanted.isdigit():
        wanted, number = "_", wanted
    fits = (wanted == "_" or wanted == name) and (not number or int(number) == size)
    return fits and _matches(rest, others)


class _Kind:
    """A class of dtypes, which an annotation combines with axes."""

    def __init__(self, name: str, takes: Callable[[DType], bool]) -> None:
        self._name, self._takes = name, takes

    def __getitem__(self, parts: tuple[Any, str]) -> Any:
        """The annotation of a tensor: `Float[Tensor, "batch feature"]`."""
        if not isinstance(parts, tuple) or len(parts) != 2 or not isinstance(parts[1], str):
            raise ArgumentError(expected(f"a class and axes, as in {self._name}[Tensor, 'batch feature']", parts=parts))
        array, axes = parts
        for part in axes.split():
            name, equals, size = part.partition("=")
            if (part not in ("...", "_") and not (name.isidentifier() or (part.isdigit()))) or (
                equals and not size.isdigit()
            ):
                raise ArgumentError(expected("names, name=size, sizes, _ and ...", axes=axes))
        return Annotated[array, AxisPattern(self._name, self._takes, axes)]

    def __repr__(self) -> str:
        return self._name


if TYPE_CHECKING:
    from typing import Annotated as Bool
    from typing import Annotated as Complex
    from typing import Annotated as Float
    from typing import Annotated as Inexact
    from typing import Annotated as Int
    from typing import Annotated as Number
    from typing import Annotated as Shaped
else:
    Float: Final = _Kind("Float", lambda dtype: dtype.is_floating)
    Complex: Final = _Kind("Complex", lambda dtype: dtype.is_complex)
    Inexact: Final = _Kind("Inexact", lambda dtype: dtype.is_inexact)
    Int: Final = _Kind("Int", lambda dtype: dtype.is_integer)
    Bool: Final = _Kind("Bool", lambda dtype: not (dtype.is_inexact or dtype.is_integer))
    Number: Final = _Kind("Number", lambda dtype: dtype.is_inexact or dtype.is_integer)
    Shaped: Final = _Kind("Shaped", lambda dtype: True)


@check_arguments_early
def check_axes(function: Callable[P, R]) -> Callable[P, R]:
    """Check the annotated tensors of a function at each call: dtypes, names and sizes of axes.

    Annotations are those of this module, such as `Float[Tensor, "batch feature"]`, or of jaxtyping; any others are left
    alone. Equal names have equal sizes in all arguments and the result. Under a trace the function is checked once.

    Parameters
    ----------
    function : Callable
        A function with annotations.

    Returns
    -------
    Callable
        The function, whose calls are checked.

    Raises
    ------
    NamesError
        At a call, for other names of axes.
    ShapeError
        For other sizes, or another number of axes.
    DTypeError
        For another dtype.
    OperandError
        For anything but a tensor.

    Examples
    --------
    >>> from tensorbackend.axis_types import Float, Int
    >>> @tb.check_axes
    ... def rows(x: Float[tb.Tensor, "_ feature"], places: Int[tb.Tensor, "batch=2"]) -> Float[tb.Tensor, "batch ..."]:
    ...     return tb.take(x, places, axis=0)
    >>> rows(tb.ones((5, 3), names=(None, "feature")), tb.asarray([0, 4], names=("batch",))).names
    ('batch', 'feature')
    """
    if not callable(function):
        raise ArgumentError(expected("a function", function=function)).named("check_axes")
    patterns: dict[str, tuple[AxisPattern, bool]] = {}
    ready = False

    @wraps(function)
    def call(*arguments: P.args, **keywords: P.kwargs) -> R:
        nonlocal ready
        if not ready:  # at the first call, when all names in the annotations are known
            patterns.update(_patterns(function))
            ready = True
        sizes: dict[str, int] = {}
        for label, value in _bound(function, arguments, keywords).items():
            if label in patterns:
                _check(patterns[label], label, value, sizes)
        result = function(*arguments, **keywords)
        if "return" in patterns:
            _check(patterns["return"], "result", result, sizes)
        return result

    return name_in_errors(call, getattr(function, "__name__", "check_axes"))


def _check(pattern: tuple[AxisPattern, bool], label: str, value: Any, sizes: dict[str, int]) -> None:
    allowed, optional = pattern
    if not (optional and value is None):
        allowed.check(label, value, sizes)


def _bound(function: Callable[..., Any], arguments: Any, keywords: Mapping[str, Any]) -> Mapping[str, Any]:
    """The arguments by the names of their parameters; none if the function will refuse them."""
    from inspect import signature

    try:
        return signature(function).bind(*arguments, **keywords).arguments
    except TypeError:
        return {}


def _patterns(function: Callable[..., Any]) -> Iterator[tuple[str, tuple[AxisPattern, bool]]]:
    """The patterns in the annotations of a function, and whether each may be `None`."""
    import inspect
    from functools import partial
    from typing import get_type_hints

    while isinstance(function, partial):
        function = function.func
    declared = function if inspect.isroutine(function) else type(function).__call__
    if isinstance(function, type):
        declared = vars(function).get("__init__", declared)
    try:
        hints = get_type_hints(declared, include_extras=True)
    except NameError as error:
        remedy = "import what annotations name outside of `if TYPE_CHECKING:`"
        raise ArgumentError(expected("annotations of names that are defined", remedy, name=error.name)) from error
    for label, annotation in hints.items():
        members = get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)
        found = [pattern for member in members if (pattern := _pattern(member)) is not None]
        if len(found) == 1:
            yield label, (found[0], NoneType in members)


def _pattern(annotation: Any) -> AxisPattern | None:
    """The pattern of an annotation of this module or of jaxtyping."""
    if get_origin(annotation) is Annotated:
        return next((each for each in annotation.__metadata__ if isinstance(each, AxisPattern)), None)
    axes, dtypes = getattr(annotation, "dim_str", None), getattr(annotation, "dtypes", None)
    if not isinstance(axes, str) or getattr(annotation, "array_type", None) is not Tensor:
        return None
    names = frozenset(map(str, dtypes)) if isinstance(dtypes, list | tuple) else None
    kind = str(getattr(annotation, "__name__", "tensor")).partition("[")[0]
    return AxisPattern(kind, lambda dtype: names is None or str(dtype) in names, axes)


__dir__ = _directory(__name__)
__getattr__ = _missing_names(__name__)
