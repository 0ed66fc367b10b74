"""Warm calls in C, by the distribution tensorbackend-native: the function of an op with a `Call` of it in front.

A `Call` reads the memo of the op, and serves the calls whose records it finds as the op's generated code does. Each
other call reaches that code. So the code alone says what a call means, and the library is complete without `Call`.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from types import FunctionType
from typing import Any, Final

from ..caching.option_keys import ATOMS, option_key
from ..declarations.op_specs import Parameter
from ..dtypes import defaults
from ..errors import ContractError, expected
from ..errors.tracebacks import name_in_errors
from ..protocol import Backend
from ..template import Template
from ..tensor import Tensor
from .kernels import Shaped, wrap
from .ready_calls import Dispatcher, ReadyCall, ServeCall
from .source import takes_numbers

INTERFACE: Final = 1
"""What this library knows of the package. A change of `Call`, `configure` or `encrypt` raises it, there too."""


def _find() -> Any | None:
    if os.environ.get("TENSORBACKEND_NATIVE") == "0":
        return None
    try:
        package = import_module("tensorbackend_native")
    except ImportError:
        return None
    found = getattr(package, "INTERFACE", None)
    if found == INTERFACE:
        return package
    remedy = "install both from one release or checkout; until then nothing runs in C"
    warnings.warn(expected(f"tensorbackend-native of interface {INTERFACE}", remedy, interface=found), stacklevel=2)
    return None


NATIVE: Final = _find()
"""The package `tensorbackend_native`; `None` without it, and where `TENSORBACKEND_NATIVE` is 0."""


MOST_PARAMETERS: Final = 16
"""An op of more parameters has no `Call`; one that is a shape counts twice, as it has two parts in a key."""

SHAPE: Final = "z"
_ROLES: Final = {"tensor": "t", "tensors": "s", "key": "k", "number": "n"}
"""The letters by which `Call` knows what a parameter takes; `_calls.c` lists them."""

Call: Final[Any] = getattr(NATIVE, "Call", None)
"""The type of such calls; `None` where there are none."""

if Call is not None:
    _place = ReadyCall._fields.index
    NATIVE.configure(  # type: ignore[union-attr] # it has a type of calls
        Tensor, Template, Shaped, wrap, option_key, ATOMS, vars(defaults), _place("constants"), _place("result")
    )


def call_natively(
    of: Dispatcher,
    op: FunctionType,
    serve: ServeCall,
    defaults_of_op: tuple[tuple[Any, ...], dict[str, Any]],
    *,
    reflected: bool,
) -> Callable[..., Any]:
    """The function of an op, with its calls that are ready served in C where that is possible.

    `serve` is what the function leaves calls to, and `defaults_of_op` are those of `generated.defaults_of`.
    """
    parameters, (by_position, by_keyword) = of.spec.parameters, defaults_of_op
    operands = [parameter for parameter in parameters if parameter.role != "option"]
    variadic = any(parameter.kind == "variadic" for parameter in parameters)
    roles = "".join([_role(of, parameter, place) for place, parameter in enumerate(parameters)])
    if Call is None or variadic or not operands or len(roles) + roles.count(SHAPE) > MOST_PARAMETERS:
        return op
    unnamed = of.spec.function.__code__.co_posonlyargcount
    return Call(  # type: ignore[no-any-return] # it stands for a function
        op,
        of.calls.entries,
        _recover(of, serve),
        tuple([parameter.name if place >= unnamed else None for place, parameter in enumerate(parameters)]),
        roles,
        (*by_position, *[by_keyword[parameter.name] for parameter in parameters[len(by_position) :]]),
        len(by_position),
        of.calls.nested,
        of.precise,
        takes_numbers(operands),
        reflected,
        of.direct,
    )


def _role(of: Dispatcher, parameter: Parameter, place: int) -> str:
    """The letter of a parameter."""
    if parameter.role == "option":
        return SHAPE if parameter.meaning == "shape" else "o"
    if parameter.optional and of.direct:
        return "l"
    return "m" if parameter.role == "tensor" and parameter.optional and place else _ROLES[parameter.role]


def _recover(of: Dispatcher, serve: ServeCall) -> Callable[..., Any]:
    """What follows an error of a kernel, as in the generated code: mostly another error.

    It has the code's place in tracebacks and in errors, as `Call` has no frame. It takes the arguments in the order of
    the parameters.
    """
    names = [parameter.name for parameter in of.spec.parameters]
    positional = of.spec.function.__code__.co_argcount

    def recover(
        error: Exception, ready: ReadyCall, backend: Backend, payloads: Sequence[Any], arguments: tuple[Any, ...]
    ) -> Any:
        given, named = arguments[:positional], dict(zip(names[positional:], arguments[positional:], strict=True))
        if of.direct:
            if isinstance(error, ContractError):
                raise error
        else:
            try:
                raise error
            except Exception as raised:
                result = of.recover(raised, ready, backend, payloads, given)
                if result is not None:
                    return result
        return serve(given, named)

    return name_in_errors(recover, of.spec.name)
