"""How a function of tensors becomes one of NumPy's: straight-line code generated from its signature.

The annotations of a body determine the wrapper. `Array` is an argument that may be anything that NumPy accepts as an
array, of which the body gets the tensor; `Arrays` a sequence of arrays; `Dtype` a dtype of NumPy's; `Out` an array to
write the result to, which is not passed to the body. The result of a body that returns `Array` is an array, or NumPy's
number if NumPy returns one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from inspect import Parameter, signature
from typing import Any, Final, TypeAlias, TypeVar, overload

import numpy

import tensorbackend as tb

from ..declarations.parameters import Role
from ..tensor import Tensor
from .arrays import blank, functions, ndarray, result
from .bodies import Body
from .conversion import tensor
from .dtypes import dtype_of
from .homes import home_of
from .host_arrays import (
    AT_HOME,
    FALL_BACK,
    RESULT,
    SCOPE,
    STARS,
    binds,
    compile_late,
    dispatches,
    hosted,
    parameters_of,
    without_binding,
)
from .overrides import tensor_or_numpy
from .ufuncs import write_out

Array: TypeAlias = Any
"""Anything that NumPy takes as an array; the body gets its tensor."""
Arrays: TypeAlias = Any
"""A sequence of arrays; the body gets a list of their tensors."""
Dtype: TypeAlias = Any
"""A dtype of NumPy's, or None; the body gets the library's."""
Out: TypeAlias = Any
"""An array that the result is written to."""

Function = TypeVar("Function", bound=Callable[..., Any])

PUBLIC: Final[dict[str, Callable[..., Any]]] = {}
"""The public functions by name, those of namespaces as `linalg.norm`."""


@overload
def public(function: Function, *, home: bool = True) -> Function: ...
@overload
def public(*, space: str = "", home: bool = True, direct: bool = False) -> Callable[[Function], Function]: ...
def public(
    function: Callable[..., Any] | None = None, *, space: str = "", home: bool = True, direct: bool = False
) -> Callable[..., Any]:
    """Registers a function of arrays, which converts its arguments itself, under its name; `home` as of `hosted`.

    A `direct` one answers the calls that come most and hands the others to a hosted function: it saves a frame.
    """
    if function is None:
        return partial(public, space=space, home=home, direct=direct)
    name = f"{space}.{function.__name__}" if space else function.__name__
    function.__module__ = f"tensorbackend.numpy.{space}" if space else __package__
    if direct and not binds(name):
        function = without_binding(function)
    functions[name] = function
    PUBLIC[name] = function if direct else hosted(function, name, home)
    return function


_CONVERSIONS: Final = {
    "Array": """\
    if {x}.__class__ is ndarray:
        _{x} = {x}._t
        if _{x} is None:
            _{x} = {x}._read()
    else:
{at_home}        _{x} = tensor({x})
""",
    "Arrays": """\
    if {x}.__class__ is list or {x}.__class__ is tuple:
        _{x} = []
        asked = False
        for each in {x}:
            if each.__class__ is ndarray:
                part = each._t
                _{x}.append(each._read() if part is None else part)
            else:
                if not asked:
{at_home_in_loop}                    asked = True
                _{x}.append(tensor(each))
    else:
{at_home}        _{x} = tensors({x})
""",
    "Dtype": "    _{x} = None if {x} is None else dtype_of({x})\n",
}

_ROLES: Final[dict[str, Role]] = {"Array": "tensor", "Arrays": "tensors"}


def tensors(values: Any) -> list[Tensor]:
    """The tensors of a sequence of arrays, or of an array along its first axis."""
    if values.__class__ is ndarray or isinstance(values, Tensor | numpy.ndarray):
        return list(tb.unstack(tensor(values)))
    if not isinstance(values, Sequence):
        raise TypeError('arrays to stack must be passed as a "sequence" type such as list or tuple.')
    return list(map(tensor, values))


_SCOPE: Final = {**SCOPE, "HOST": numpy.ndarray, "blank": blank, "dtype_of": dtype_of, "map": map, "ndarray": ndarray,
                 "result": result, "tensor": tensor, "tensors": tensors,
                 "tuple": tuple, "write_out": write_out}  # fmt: skip

_BROADCASTING: Final = frozenset({"outer", "fix", "isposinf", "isneginf"})
"""The functions that are NumPy's of each element, and so fill an `out` of more axes."""


@overload
def function(
    body: Function, *, space: str = "", name: str = "", planned: bool = True, in_out: bool = False
) -> Function: ...
@overload
def function(
    *, space: str = "", name: str = "", planned: bool = True, in_out: bool = False
) -> Callable[[Function], Function]: ...
def function(
    body: Function | None = None, *, space: str = "", name: str = "", planned: bool = True, in_out: bool = False
) -> Any:
    """Make NumPy's function from a body that computes with tensors, and register it under its name.

    Parameters
    ----------
    body : Callable
        A function of tensors with annotations of this module.
    space : str, default ""
        The namespace of the function, such as `"linalg"`.
    name : str, default ""
        NumPy's name, by default that of the body.
    planned : bool, default True
        Whether calls that come often run as one kernel. Not for a body that calls a function with kernels of its own.
    in_out : bool, default False
        Whether the dtype is that of `out` by default.

    Returns
    -------
    Callable
        The function of arrays.

    Examples
    --------
    >>> import tensorbackend.numpy as np
    >>> np.fliplr([[1, 2]])
    array([[2, 1]])
    """
    if body is None:
        return partial(function, space=space, name=name, planned=planned, in_out=in_out)
    name = name or body.__name__.rstrip("_")
    full = f"{space}.{name}" if space else name
    made: Any = _wrapper(body, name, full, planned, in_out)
    made.__module__ = f"tensorbackend.numpy.{space}" if space else __package__
    made.__doc__, made.__qualname__, made.body = body.__doc__, name, body
    functions[full] = PUBLIC[full] = made if binds(full) else without_binding(made)
    return functions[full]


def ready(body: Function) -> Function:
    """A function of tensors that runs as one kernel when a call comes again; the function itself without `Array`."""
    parameters = signature(body).parameters.values()
    roles = {each.name: _ROLES[kind] for each in parameters if (kind := str(each.annotation)) in _ROLES}
    operands = [each for each in parameters if each.name in roles]
    if any(each.kind is Parameter.VAR_POSITIONAL or each.default is not Parameter.empty for each in operands):
        return body
    return Body(body, roles).op if operands else body  # type: ignore[return-value] # generated code has no types


def _kind(parameter: Parameter) -> str:
    return str(parameter.annotation).partition(" | ")[0]


def _wrapper(body: Callable[..., Any], name: str, full: str, planned: bool, in_out: bool) -> Callable[..., Any]:
    scope: dict[str, Any] = {**_SCOPE, "__name__": __package__}
    made: Any = compile_late(name, lambda: _source(body, name, full, planned, in_out, scope), scope, binds=binds(full))
    given = signature(body)
    bare = [parameter.replace(annotation=Parameter.empty) for parameter in given.parameters.values()]
    made.__signature__ = given.replace(parameters=bare, return_annotation=Parameter.empty)
    wrapper: Callable[..., Any] = made
    return wrapper


def _source(body: Callable[..., Any], name: str, full: str, planned: bool, in_out: bool, scope: dict[str, Any]) -> str:
    """The source of the function around a body; what it reads is entered in the scope."""
    scope["given"] = given = signature(body)
    head = parameters_of(given, scope)
    passed: list[str] = []
    kinds = {each.name: _kind(each) for each in given.parameters.values()}
    together = ", ".join(each for each, kind in kinds.items() if kind in ("Array", "Arrays", "Out"))
    homes = dict.fromkeys(("at_home", "at_home_in_loop"), "")
    if "," in together or "Arrays" in kinds.values():
        of_list = f"(*{together})" if "," in together else together
        homes = {
            "at_home": AT_HOME.format(indent=" " * 8, values=f"({together},)", function=name),
            "at_home_in_loop": AT_HOME.format(indent=" " * 20, values=of_list, function=name),
        }
    scope["body"] = ready(body) if planned else body
    if not dispatches(full):
        scope["home_of"] = home_of
    elif not homes["at_home"]:  # which asks, for several arguments together
        scope["tensor"] = tensor_or_numpy
    lines = (
        ["    if out is not None and dtype is None:\n        dtype = getattr(out, 'dtype', None)\n"] if in_out else []
    )
    has_out = False
    for parameter in given.parameters.values():
        mark = STARS.get(parameter.kind, "")
        kind = kinds[parameter.name]
        if kind == "Out":
            has_out = True
            continue
        variable = parameter.name
        if mark == "*" and kind == "Array":
            lines.append(f"    _{variable} = map(tensor, {variable})\n")
            variable = f"_{variable}"
        elif kind in _CONVERSIONS:
            code = _CONVERSIONS[kind].format(x=variable, **homes)
            if parameter.default is None and kind != "Dtype":
                indented = "".join(f"    {line}\n" for line in code.splitlines())
                code = f"    if {variable} is None:\n        _{variable} = None\n    else:\n{indented}"
            lines.append(code)
            variable = f"_{variable}"
        positional = parameter.kind in (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD) and not has_out
        passed.append(f"{mark}{variable}" if mark or positional else f"{parameter.name}={variable}")
    returned = str(given.return_annotation)
    lines.append(f"    r = body({', '.join(passed)})\n")
    if has_out:
        casting = ", casting" if "casting" in given.parameters else ", 'unsafe'" if name == "trace" else ""
        broadcasts = name in _BROADCASTING
        written = f"write_out({name!r}, out, r{casting}, broadcasts={broadcasts})"
        lines.append(f"    if out is not None:\n        return {written}\n")
    if returned == "Array":
        lines.append(RESULT.format(indent="    "))
    elif returned == "tuple[Array, ...]":
        lines.append("    return tuple(map(result, r))\n")
    elif returned == "list[Array]":
        lines.append("    return list(map(result, r))\n")
    elif returned == "NamedTuple":
        lines.append("    return r._make(map(result, r))\n")
    else:
        lines.append("    return r\n")
    if together and planned and scope["body"] is body:
        lines.insert(0, AT_HOME.format(indent="    ", values=f"({together},)", function=name))
    scope["list"] = list
    code = "".join(f"    {line}\n" for line in "".join(lines).splitlines())
    return f"def {name}({', '.join(head)}):\n    try:\n{code}{FALL_BACK.format(name=full)}"
