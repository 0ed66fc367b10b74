"""Arrays that no tensor can hold: NumPy's own, on the host.

Texts, objects, dates, fields, masked arrays and subclasses of NumPy's array are `numpy.ndarray`s on every backend. A
function of the namespace that is given one, or is asked to make one, is NumPy's function of that name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from inspect import Parameter, Signature, signature
from operator import attrgetter
from types import CodeType, FunctionType, MethodType
from typing import Any, Final

import numpy

from ..select import call_with_default
from ..select.default import process_default
from .arrays import HERE, functions, ndarray, replace
from .conversion import back, from_numpy, host
from .dtypes import HostOnlyError
from .homes import call_at_home, home_of, scoped, split_values
from .overrides import home_or_numpy, leave_to_numpy

NAMES: Final = [
    "asmatrix", "bmat", "busday_count", "busday_offset", "busdaycalendar", "bytes_", "character", "clongdouble",
    "complex256", "datetime64", "datetime_as_string", "datetime_data", "float128", "frompyfunc", "fromregex",
    "is_busday", "isnat", "longdouble", "matrix", "memmap", "object_", "recarray", "record", "str_", "timedelta64",
    "void",
]  # fmt: skip
"""NumPy's names that make such arrays, or compute with them alone."""


def call_on_host(
    function: Callable[..., Any], only: HostOnlyError, arguments: Sequence[Any], options: Mapping[str, Any]
) -> Any:
    """The result of NumPy's function of arguments that tensors cannot hold; arrays of numbers are arrays here again.

    Parameters
    ----------
    function : Callable
        NumPy's function.
    only : HostOnlyError
        What was wrong with the arguments: raised if NumPy would write to an array of the namespace, of which it has a
        copy.
    arguments, options
        Its arguments.

    Returns
    -------
    Any
        The result: `out`, if it is an array that was written to.

    Raises
    ------
    HostOnlyError
        For an array of the namespace that NumPy would write to, other than `out`.

    Examples
    --------
    >>> import numpy
    >>> call_on_host(numpy.char.upper, HostOnlyError(), (["a", "b"],), {})
    array(['A', 'B'], dtype='<U1')
    """
    given, named = [host(each) for each in arguments], {name: host(each) for name, each in options.items()}
    targets = options.get("out")
    targets = targets if isinstance(targets, tuple) else (targets,)
    written = [numpy.array(each) if each.__class__ is ndarray else each for each in targets]
    if "out" in named:
        named["out"] = tuple(written) if isinstance(options["out"], tuple) else written[0]
    try:
        made = function(*given, **named)
    except ValueError as error:
        if "read-only" in str(error):
            raise only from None
        raise
    for target, array in zip(targets, written, strict=True):
        if target.__class__ is ndarray:
            replace(target, from_numpy(array))
            made = target if made is array else made
    home = home_of([*arguments, *options.values()])
    return back(made) if home is None else call_with_default(home, back, made)


def by_numpy(name: str, only: HostOnlyError, given: Signature, values: Mapping[str, Any]) -> Any:
    """The result of a call of the namespace by NumPy's function of the same name.

    Parameters
    ----------
    name : str
        The name, such as `linalg.norm`.
    only : HostOnlyError
        What was wrong with the arguments, raised if NumPy has no such function.
    given : Signature
        The parameters of the function here, which are NumPy's; those left at their defaults are left to NumPy.
    values : Mapping
        The values of the parameters by name, among others.

    Returns
    -------
    Any
        The result.

    Raises
    ------
    HostOnlyError
        If NumPy has no function of that name.
    """
    for module in (numpy, numpy.lib.stride_tricks):
        with suppress(AttributeError):
            function = attrgetter(name)(module)
            break
    else:
        raise only
    return call_on_host(function, only, *split_values(given, values, changed=True))


FALL_BACK: Final = """\
    except HostOnlyError as error:
        only = error
    return by_numpy({name!r}, only, given, locals())
"""
"""The end of a function whose code is in a `try`: the same call of NumPy's, after the `except` so that no error is
chained."""

SCOPE: Final[dict[str, Any]] = {
    "HostOnlyError": HostOnlyError, "by_numpy": by_numpy, "call_at_home": call_at_home, "default": process_default,
    "home_of": home_or_numpy, "leave_to_numpy": leave_to_numpy, "ndarray": ndarray, "scoped": scoped,
}  # fmt: skip
"""The names that `FALL_BACK` and `AT_HOME` need."""


def parameters_of(given: Signature, scope: dict[str, Any]) -> list[str]:
    """The parameters of a function as text, with the defaults in the scope of its code."""
    head: list[str] = []
    parameters = list(given.parameters.values())
    star = False
    for number, parameter in enumerate(parameters):
        if parameter.kind is Parameter.KEYWORD_ONLY and not star:
            head.append("*")
        star = star or parameter.kind in (Parameter.KEYWORD_ONLY, Parameter.VAR_POSITIONAL)
        text = STARS.get(parameter.kind, "") + parameter.name
        if parameter.default is not Parameter.empty:
            scope[f"default_{parameter.name}"] = parameter.default
            text += f"=default_{parameter.name}"
        head.append(text)
        if parameter.kind is Parameter.POSITIONAL_ONLY and (
            number + 1 == len(parameters) or parameters[number + 1].kind is not Parameter.POSITIONAL_ONLY
        ):
            head.append("/")
    return head


STARS: Final[dict[Any, str]] = {Parameter.VAR_POSITIONAL: "*", Parameter.VAR_KEYWORD: "**"}
"""What stands before the name of a parameter, by its kind."""


_FIRST: Final = """\
def function(*arguments, **options):
    return _compile_code()(*arguments, **options)
"""
(_first_code,) = (code for code in compile(_FIRST, __file__, "exec").co_consts if isinstance(code, CodeType))


def compile_late(
    name: str, write_source: Callable[[], str], scope: dict[str, Any], *, binds: bool = True
) -> FunctionType:
    """The function of a name in some source, written and compiled at its first call: hundreds are made at the import.

    Until then the function has no defaults, so its `__wrapped__` or `__signature__` must show the parameters. One that
    does not bind gets one parameter more in front, for `without_binding`.
    """

    def compile_code() -> FunctionType:
        source = write_source()
        if not binds:
            head, end, body = source.partition("):\n")
            source = head.replace("(", "(_, " if "/" in head else "(_, /, ", 1) + end + body
        exec(compile(source, f"{HERE}/<{name}>", "exec"), scope)
        function = scope[name]
        made.__defaults__, made.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
        made.__code__ = function.__code__  # last, as another thread may call the function
        return made

    scope["_compile_code"] = compile_code
    made = FunctionType(_first_code, scope, name)
    return made


class _Namespace:
    """What a function that does not bind is bound to: Python binds no method again. Pickle finds the function there."""

    def __repr__(self) -> str:
        return str(__package__)

    def __getattr__(self, name: str) -> Any:
        return getattr(functions["namespace"](), name)

    def __reduce__(self) -> str:
        return "NAMESPACE"


NAMESPACE: Final = _Namespace()


def binds(name: str) -> bool:
    """Whether NumPy's function of a name is a method where a class has it as an attribute: those in C are not.

    >>> binds("sum"), binds("tanh")
    (True, False)
    """
    return "." in name or not hasattr(numpy, name) or hasattr(type(getattr(numpy, name)), "__get__")


def dispatches(name: str) -> bool:
    """Whether an operand may take NumPy's function of a name over: not those in C that convert it, as `asarray`."""
    return binds(name) or isinstance(getattr(numpy, name.partition(".")[0], None), numpy.ufunc)


def without_binding(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that a class may have as an attribute, `activation = np.tanh`, as NumPy's own: it gets no `self`.

    The function has one positional parameter more in front, which means nothing.
    """
    given = signature(function)
    own: Any = function
    own.__module__, own.__qualname__ = __package__, f"{own.__name__}.__func__"  # where pickle finds it
    method = MethodType(function, NAMESPACE)
    show_signature(method, given.replace(parameters=[each for each in given.parameters.values() if each.name != "_"]))
    return method


def show_signature(function: Callable[..., Any], given: Signature) -> None:
    """Give a function of the namespace the signature that `help` shows."""
    own: Any = getattr(function, "__func__", function)
    unused = [] if own is function else [Parameter("_", Parameter.POSITIONAL_ONLY)]
    own.__signature__ = given.replace(parameters=[*unused, *given.parameters.values()])


AT_HOME: Final = """\
{indent}home = home_of({values})
{indent}if home is not None:
{indent}    return call_at_home(home, {function}, given, locals())
"""
"""The call of a function with the backend of its arrays as the default, where that is another."""

RESULT: Final = """\
{indent}if r.template.shape or r.data.__class__ is not HOST:
{indent}    array = blank()
{indent}    array._t = r
{indent}    return array
{indent}return r.data[()]
"""
"""Code that returns the array of a tensor `r`, or the number that it is, as `arrays.result` does."""

_NOT_HERE: Final = """\
{indent}if {first}.__class__ is not ndarray or (_t := {first}._t) is None or _t.backend is not (scoped() or default[0]):
"""
"""The quick answer where the first argument is an array on the default backend."""

_SEVERAL: Final = "{indent}if len({first}) > 1:\n"
"""That where the arguments are any number of arrays."""


def _may_be_array(parameter: Parameter) -> bool:
    return parameter.default.__class__ not in (bool, str) and parameter.name not in _NO_ARRAYS


_HOME_OF: Final[dict[Any, str]] = {Parameter.VAR_POSITIONAL: "*{}", Parameter.VAR_KEYWORD: "*{}.values()"}
"""What `home_of` gets of several arguments together."""

_NO_ARRAYS: Final = {"axis", "axes", "device", "dtype", "like", "order"}
"""Parameters that say how a function computes, by name."""


def hosted(function: Callable[..., Any], name: str, home: bool = True) -> Callable[..., Any]:
    """A function of the namespace that is NumPy's for what tensors cannot hold: straight-line code of one call.

    It runs with the backend of its arrays as the default. `home=False` saves the question where no answer matters: for
    a function that makes no array but views of the one that it is given, or asks for the home itself.
    """
    short = name.rpartition(".")[2]
    scope: dict[str, Any] = {**SCOPE, "implementation": function, "__name__": __package__}
    is_bound = binds(name)
    made: Any = compile_late(short, lambda: _hosted_source(function, name, home, scope), scope, binds=is_bound)
    own: Any = getattr(function, "func", function)  # also of a `partial`
    made.__doc__, made.__module__, made.__qualname__ = own.__doc__, own.__module__, own.__qualname__
    made.__wrapped__ = function
    result: Callable[..., Any] = made if is_bound else without_binding(made)
    return result


_JOINED: Final = {"arrays", "arys", "tup"}
"""Parameters that are sequences of operands, each of which may take the function over."""


def _question_of_others(given: Signature, home: bool) -> str:
    """The code that asks whether an operand takes the function over, where the question for a home does not."""
    operands = [each for each in given.parameters.values() if each.kind not in STARS and _may_be_array(each)]
    first = next(iter(given.parameters.values()))
    if first.kind is Parameter.VAR_POSITIONAL:
        return f"        leave_to_numpy({first.name})\n"
    if first.name in _JOINED:
        return f"        if {first.name}.__class__ in (list, tuple):\n            leave_to_numpy({first.name})\n"
    last = 1 if str(given.return_annotation) == "None" else None  # one that writes gets the elements of what it writes
    asked = [each.name for each in operands[home:last] if each.default is Parameter.empty]  # the home is the first's
    values = ", ".join(each.name for each in operands)
    condition = " or ".join(f"{each}.__class__ is not ndarray" for each in asked)
    return f"        if {condition}:\n            leave_to_numpy(({values},))\n" if asked else ""


def _hosted_source(function: Callable[..., Any], name: str, home: bool, scope: dict[str, Any]) -> str:
    """The source of a function that `hosted` makes; what it reads besides is entered in the scope."""
    scope["given"] = given = signature(function)
    if not dispatches(name):
        scope["home_of"] = home_of
    head = parameters_of(given, scope)
    positional, named, plain = [], [], []
    for parameter in given.parameters.values():
        text = STARS.get(parameter.kind, "") + parameter.name
        if parameter.kind is Parameter.KEYWORD_ONLY:
            named.append(f"{text}={text}")
            plain.append(f"{text} is default_{text}" if f"default_{text}" in scope else "False")
        elif parameter.kind is Parameter.VAR_KEYWORD:
            named.append(text)
            plain.append(f"not {parameter.name}")
        else:
            positional.append(text)
    lines = [f"return implementation({', '.join([*positional, *named])})"]
    if named:  # passing them by name takes as long as the rest of the call
        lines = [f"if {' and '.join(plain)}:", f"    return implementation({', '.join(positional)})", *lines]
    code = "".join(f"        {line}\n" for line in lines)
    if home and given.parameters:
        first = next(iter(given.parameters.values()))
        starred = first.kind in STARS
        arrays = [
            _HOME_OF.get(each.kind, "{}").format(each.name) for each in given.parameters.values() if _may_be_array(each)
        ]
        values = first.name if starred else f"({', '.join(arrays)},)"
        question = (_SEVERAL if starred else _NOT_HERE).format(indent=" " * 8, first=first.name)
        asked = AT_HOME.format(indent=" " * 12, values=values, function="implementation")
        code = question + asked + code
    if given.parameters and dispatches(name):
        code = _question_of_others(given, home) + code
    return f"def {name.rpartition('.')[2]}({', '.join(head)}):\n    try:\n{code}{FALL_BACK.format(name=name)}"
