"""The errors for names that a namespace or a tensor lacks, with what to write instead."""

from __future__ import annotations

import ast
import linecache
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from types import FrameType
from typing import Any, Final, NoReturn, TypeVar

from ..dtypes import DType
from ..errors import ArgumentError, MissingNameError, OperandError
from ..errors.hints import FUNCTIONS, advice, fold, lacking, rows
from ..registration import SuppliedFunction

TENSOR_OF: Final = {
    "EigResult": ".eigenvalues or .eigenvectors",
    "Eigenpairs": ".eigenvalues or .eigenvectors",
    "EighResult": ".eigenvalues or .eigenvectors",
    "LeastSquares": ".x",
    "LstsqResult": ".solution",
    "Minimum": ".x",
    "Root": ".x",
    "SVDResult": ".U, .S or .Vh",
    "Solution": ".x",
    "Trajectory": ".y",
}
"""The tensor that is meant where a result is used as one, by our classes."""

_DENSE: Final = {"ragged": "x.filled(0)", "sparse": "A.to_dense()"}
"""The tensor that a function of tensors takes in place of what these namespaces are for."""
_MOST_PARTS: Final = 20
"""The number of attributes of a result up to which an error lists them."""
_READ_ONLY: Final = ("T", "device", "dtype", "imag", "names", "real", "shape")
"""The attributes of a tensor that other libraries' arrays let one assign to."""

T = TypeVar("T")

find_public: SuppliedFunction[Callable[[str], str | None]] = SuppliedFunction(lambda name: None)
"""The public name, such as `"linalg.qr"`, of what is called `name` in the package or in one of its namespaces."""


def missing_name_error(name: str, space: str, *, obj: object) -> MissingNameError:
    """The error for a name that a namespace does not have, such as `"linalg"`, or `""` for the package itself.

    It says what to write instead if that is known.

    >>> import tensorbackend as tb
    >>> raise missing_name_error("pinverse", "linalg", obj=tb.linalg)
    Traceback (most recent call last):
    tensorbackend.errors.MissingNameError: module 'tensorbackend.linalg' has no attribute 'pinverse'; write \
tb.linalg.pinv(x)
    """
    return MissingNameError(partial(_missing_text, name, space, obj), name=name, obj=obj)


def _missing_text(name: str, space: str, obj: object) -> str:
    """The text for a name that a namespace does not have, with what to write instead."""
    package = __name__.partition(".")[0]
    text = f"module {f'{package}.{space}' if space else package!r} has no attribute {name!r}"
    remedy = None if name.startswith("_") else advice(name, space)
    if remedy is None and not name.startswith("_"):
        alike = next((other for other in dir(obj) if fold(other) == fold(name)), None)
        public = find_public.call(name) if alike is None else f"{space}.{alike}".lstrip(".")
        remedy = None if public is None else f"tb.{public}"
        if alike is None and space in _DENSE and hasattr(getattr(sys.modules[package], public or "", None), "__code__"):
            remedy = f"tb.{public}({_DENSE[space]}, ...)"
    if remedy is None and not name.startswith("_"):
        from difflib import get_close_matches  # slow to import, and only errors need it

        others = [other for other in dir(obj) if ("nan" in other) is ("nan" in name)]  # which are other quantities
        near = next(iter(get_close_matches(name, others, 1, 0.75)), None)
        text += "" if near is None else f"; did you mean tb.{f'{space}.{near}'.lstrip('.')}?"
    return f"{text}; write {remedy}" if remedy else text


def missing_names(module: str) -> Callable[[str], Any]:
    """The `__getattr__` of a namespace without names that are imported late: each is a `MissingNameError`.

    >>> import tensorbackend as tb
    >>> hasattr(tb.fft, "convolve")
    False
    """

    def get(name: str) -> NoReturn:
        raise missing_name_error(name, module.partition(".")[2], obj=sys.modules[module])

    return get


def explain_missing(owner: type[T]) -> type[T]:
    """Give a class of results or matrices an error for attributes that those of other libraries have.

    The error says what to write: a hint, an attribute that differs in capitals or underscores, or the function of that
    name in the namespace of the class. For any other name it lists the parts, unless there are many.

    Parameters
    ----------
    owner : type
        The class. It gets a `__getattr__`.

    Returns
    -------
    type
        The class, for use as a decorator.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> tb.linalg.eigh(tb.eye(2)).w
    Traceback (most recent call last):
    tensorbackend.errors.MissingNameError: 'EighResult' object has no attribute 'w'; write x.eigenvalues
    """
    space = ".".join(owner.__module__.split(".")[:2])

    def explain(self: object, name: str) -> str:
        text = f"{type(self).__name__!r} object has no attribute {name!r}"
        remedy = None if name.startswith("_") else rows(f"results.{owner.__name__}").get(name)
        if remedy is None and not name.startswith("_"):
            alike = next((other for other in dir(self) if fold(other) == fold(name) and other[:1] != "_"), None)
            remedy = f"{'result' if hasattr(owner, 'x') else 'x'}.{alike}" if alike is not None else None
            if alike is None and space.endswith(tuple(_DENSE)) and name in dir(sys.modules[space]):
                remedy = f"tb.{space.rpartition('.')[2]}.{name}(x, ...)"
            elif alike is None and owner.__name__ in TENSOR_OF and _is_of_tensors(name):
                remedy = _taking(owner)
        remedy = f"write {remedy}" if remedy else ""
        if not remedy and not name.startswith("_"):
            parts = getattr(self, "_fields", None) or [other for other in dir(self) if other[:1] != "_"]
            remedy = f"its parts are {', '.join(parts)}" if len(parts) <= _MOST_PARTS else ""
        return f"{text}; {remedy}" if remedy else text

    def get(self: object, name: str) -> NoReturn:
        raise MissingNameError(partial(explain, self, name), name=name, obj=self)

    owner.__getattr__ = get  # type: ignore[attr-defined] # no declaration, so that type checkers report such names
    if owner.__name__ in TENSOR_OF:
        _refuse_use_as_tensor(owner, f"write {_taking(owner)}")
    return owner


def _taking(owner: type) -> str:
    """What to write for the tensor of a result that was taken for one."""
    attributes = TENSOR_OF[owner.__name__]
    return f"{attributes} for {'a' if ' or ' in attributes else 'the'} tensor of this result"


def _is_of_tensors(name: str) -> bool:
    """Whether a name is one of a tensor's attributes or methods, here or in another library."""
    tensor = sys.modules[__name__.rpartition(".")[0]].Tensor
    return name in dir(tensor) or isinstance(vars(MissingAttributes).get(name), MissingAttribute)


_ARITHMETIC = {"add": "add", "mul": "multiply", "matmul": "matmul", "sub": "subtract", "truediv": "divide"}
_ARITHMETIC |= {"pow": "pow"}
_OTHERS = {"neg": "negative", "abs": "abs", "array": ""}
_OTHERS |= {"lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal"}


def _refuse_use_as_tensor(owner: Any, remedy: str) -> None:
    """Make `solve(A, b) * 2`, `numpy.asarray(solve(A, b))` and the like errors, which take a result for its tensor.

    Python would repeat or compare the tuple, and NumPy would join its parts.
    """

    def refusal(op: str) -> Callable[..., NoReturn]:
        def refuse(self: object, *others: object, **options: object) -> NoReturn:
            error = OperandError(f"expected a tensor, got {type(self).__name__}", remedies={"": remedy})
            raise error.named(op) if op else error

        return refuse

    for method, op in (_ARITHMETIC | _OTHERS).items():
        setattr(owner, f"__{method}__", refusal(op))
        if method in _ARITHMETIC:
            setattr(owner, f"__r{method}__", refusal(op))
    owner.operand_remedies = {"": remedy}
    fields: tuple[str, ...] = owner._fields
    parts = f"expected {len(fields)} names on the left, for {', '.join(fields)}; {remedy}"

    def iterate(self: tuple[Any, ...]) -> Iterator[Any]:
        caller = sys._getframe().f_back
        target = None if caller is None else expression_at(caller)
        names = target.elts if isinstance(target, ast.Tuple | ast.List) else None
        if names is not None and len(names) != len(fields) and not any(isinstance(name, ast.Starred) for name in names):
            raise ArgumentError(parts)
        return tuple.__iter__(self)

    owner.__iter__ = iterate


def explain_assignments(owner: type[T]) -> type[T]:
    """Give the properties of a tensor an error for `x.names = value` and the like that says what to write instead.

    They stay plain properties, because only those are read quickly; type checkers see no setter.

    >>> import tensorbackend as tb
    >>> tb.eye(2).names = ("row", "column")
    Traceback (most recent call last):
    tensorbackend.errors.MissingNameError: property 'names' of 'Tensor' object has no setter; write \
y = x.rename(old='new'), or y = x.rename(names) with a name for each axis
    """
    for name in _READ_ONLY:

        def refuse(self: object, value: object, /, *, name: str = name) -> NoReturn:
            remedy = rows("assigned")[name]
            text = f"property {name!r} of {type(self).__name__!r} object has no setter; write {remedy}"
            raise MissingNameError(text, name=name, obj=self)

        setattr(owner, name, getattr(owner, name).setter(refuse))
    return owner


class MissingAttribute:
    """An attribute that tensors do not have, but those of other libraries do: to read it is an error with a remedy.

    A class with a `__getattr__` would make every look-up of an optional protocol slower; this costs nothing.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, tensor: object, owner: type) -> NoReturn:
        text = f"{owner.__name__!r} object has no attribute {self.name!r}"
        base = self.name if self.name in rows("tensor", *FUNCTIONS) else self.name.removesuffix("_")
        public = None if base in rows("tensor", *FUNCTIONS) else find_public.call(base)
        remedy = advice(base, "Tensor") if public is None else f"tb.{public}(x, ...)"
        remedy = f"x = {remedy}" if remedy and base != self.name else remedy
        raise MissingNameError(f"{text}; write {remedy}" if remedy else text, name=self.name, obj=tensor)

    def __set__(self, tensor: object, value: object) -> NoReturn:
        self.__get__(tensor, type(tensor))


class MissingArrayAttribute(MissingAttribute):
    """An attribute that tensors have, but not the arrays of the NumPy namespace, or one of NumPy's that is left out."""

    def __get__(self, tensor: object, owner: type) -> NoReturn:
        remedy = rows("ndarray").get(self.name) or f"x.tensor.{self.name}"
        text = f"{owner.__name__!r} object has no attribute {self.name!r}; write {remedy}"
        raise MissingNameError(text, name=self.name, obj=tensor)


class MissingAttributes:
    """The base class of `Tensor` that has them; what a tensor does have comes first."""

    __slots__ = ()


def explain_attributes(names: Iterable[str]) -> None:
    """Adds names that people look for among the attributes of a tensor, with PyTorch's `_` for in-place ones too."""
    for name in names:
        for spelling in (name, f"{name}_"):
            if spelling not in vars(MissingAttributes):
                setattr(MissingAttributes, spelling, MissingAttribute(spelling))


explain_missing(DType)
explain_attributes(lacking())


def existing(owner: type, names: Iterable[str]) -> list[str]:
    """The names of the attributes that a class with `MissingAttributes` has, for its `__dir__`."""
    from inspect import getattr_static  # slow to import, and only prompts and documentation need it

    return [name for name in names if not isinstance(getattr_static(owner, name, None), MissingAttribute)]


def expression_at(frame: FrameType) -> ast.expr | None:
    """The expression or the target of an assignment that a frame evaluates.

    `None` if its source is not known, or if a whole statement runs.

    >>> import sys
    >>> names = {"at": lambda: expression_at(sys._getframe(1))}
    >>> exec("answer = at()", names)
    >>> names["answer"] is None  # code without a source
    True
    """
    code = frame.f_code
    # One place for each two bytes of the instructions, as the standard library's `traceback` takes it.
    place = next(islice(code.co_positions(), frame.f_lasti // 2, None), None)
    if place is None or None in place:
        return None
    first, last, start, end = (part or 0 for part in place)
    lines = [linecache.getline(code.co_filename, line, frame.f_globals).encode() for line in range(first, last + 1)]
    lines[-1] = lines[-1][:end]
    lines[0] = lines[0][start:]
    text = b"".join(lines)
    try:
        return ast.parse(b"(" + text + b"\n)", mode="eval").body if text.strip() else None
    except (SyntaxError, ValueError):
        return None
