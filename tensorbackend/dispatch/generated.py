"""The functions of warm calls, whose code is generated (`source`).

A loop over the options takes three to five times as long. Compiling the code of every op would double the import time
of the package, so each op starts as a stub, which replaces its code by the generated code at the first call. Ops of one
signature share the code.
"""

from __future__ import annotations

import builtins
import os
from collections.abc import Callable, Sequence
from functools import lru_cache
from types import CodeType, FunctionType
from typing import Any, Final

from ..caching.memos import remembers_calls
from ..caching.option_keys import ATOMS, MOST_OPERANDS, NUMBERS, option_key
from ..declarations.op_specs import OpSpec
from ..dtypes import defaults
from ..errors import ContractError
from ..errors.tracebacks import name_in_errors
from ..interchange import scalar_dtype
from ..select import creation_backend
from ..select.default import current
from ..template import Template, TemplateKind, kind_of_parts
from ..tensor import Tensor, blank_tensor
from .kernels import Shaped, wrap
from .native_calls import call_natively
from .ready_calls import Dispatcher, ServeCall
from .source import source_of

_HERE: Final = os.path.dirname(__file__)  # a frame of the code is then one of this package, not of the user

_FIRST: Final = """\
def op(*arguments, **keywords):
    return _generate_code()(*arguments, **keywords)
"""


def rank(shape: Any) -> int:
    """The part of a kind for an option that is a shape, but no tuple of ints: -1 for an int.

    Raises `KeyError` for anything else.
    """
    if shape.__class__ is int:
        return -1
    raise KeyError


class _Numbers(dict[type, Any]):
    """The part of a kind for a number next to tensors, by its class: for one of NumPy's the kind of a tensor."""

    def __missing__(self, number_class: type) -> TemplateKind:
        dtype = scalar_dtype(number_class)
        if dtype is None:
            raise KeyError(number_class)
        kind = self[number_class] = kind_of_parts(dtype, ())
        return kind


def structure_of(key: tuple[Any, ...], backend: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """The structure of a key with tensors among its parts, and the parts with payloads in their place.

    Raises `KeyError` where one is on another backend.
    """
    kinds: list[Any] = []
    parts = []
    for part in key:
        if part.__class__ is not Tensor:
            kinds.append(part.__class__)
            parts.append(part)
        elif part.backend is backend:
            kinds.append(part.template)
            parts.append(part.data)
        else:
            raise KeyError
    return tuple(kinds), tuple(parts)


def merge(templates: list[Template]) -> tuple[int, Template]:
    """The part of a key for many tensors: the number of them, and the template that all have.

    Raises `KeyError` if they have several.
    """
    (template, *others) = {*templates}
    if others:
        raise KeyError
    return len(templates), template


_NAMES: Final[dict[str, Any]] = {
    "__builtins__": builtins,  # for functions in C that import a module
    "_ATOMS": ATOMS,
    "_ContractError": ContractError,
    "_FEW": MOST_OPERANDS,
    "_Shaped": Shaped,
    "_Template": Template,
    "_Tensor": Tensor,
    "_blank": blank_tensor,
    "_bool": bool,
    "_current": current,
    "_defaults": defaults,
    "_int": int,
    "_merge": merge,
    "_numbers": _Numbers({number_class: number_class for number_class in NUMBERS}),
    "_placed": creation_backend,
    "_rank": rank,
    "_str": str,
    "_option_key": option_key,
    "_wrap": wrap,
}


ABSENT: Final = object()
"""In place of a required argument that is missing. It has no key, so a warm call pays nothing for it."""


def defaults_of(spec: OpSpec) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The defaults of an op's parameters, by position and by keyword: `ABSENT` for those without one."""
    function: Any = spec.function
    given = function.__defaults__ or ()
    by_position = (ABSENT,) * (function.__code__.co_argcount - len(given))
    by_keyword = {x.name: ABSENT for x in spec.parameters if x.kind == "keyword"}
    return (*by_position, *given), by_keyword | (function.__kwdefaults__ or {})


def passed(spec: OpSpec, arguments: Sequence[Any], keywords: dict[str, Any]) -> tuple[Sequence[Any], dict[str, Any]]:
    """The arguments that a call was given, by position and by keyword, of those that a generated op hands on."""
    defaults = spec.function.__kwdefaults__ or {}
    given = {name: value for name, value in keywords.items() if value is not defaults.get(name, ABSENT)}
    positional = [parameter.name for parameter in spec.parameters if parameter.kind == "positional"]
    absent = next((place for place, argument in enumerate(arguments) if argument is ABSENT), len(arguments))
    later = zip(positional[absent:], arguments[absent:], strict=False)
    return arguments[:absent], given | {name: argument for name, argument in later if argument is not ABSENT}


def generate(
    of: Dispatcher, serve: ServeCall, *, reflected: bool = False, adapt: ServeCall | None = None
) -> Callable[..., Any]:
    """The op of a dispatcher, by code generated from its signature, which leaves calls of unknown kinds to `serve`.

    A reflected op takes its two operands in the other order. With `adapt`, the op takes any arguments: those that the
    signature does not take are passed to `adapt`, and `serve` gets `ABSENT` in place of a missing required argument.
    The op has a namespace of its own in place of a module's, so that replacing its code is enough. Names that are not
    parameters begin with an underscore.
    """
    spec, entries = of.spec, of.calls.entries
    namespace = {**_NAMES, "_calls": entries, "_find": entries.get, "_serve": serve, "_kinds": of.kinds}
    namespace |= {"_recover": of.recover, "_structure": structure_of, "_adapt": adapt}

    def generate_code() -> FunctionType:
        """The op, with the generated code in place of the stub's."""
        code, *codes_of_keys = _codes(
            source_of(
                spec,
                nested=of.calls.nested,
                direct=of.direct,
                precise=of.precise,
                sole=of.sole,
                reflected=reflected,
                checked=adapt is not None,
            )
        )
        keys = [FunctionType(key_code, namespace, spec.name) for key_code in codes_of_keys]
        for function in (op, *keys):
            function.__defaults__, function.__kwdefaults__ = spec.function.__defaults__, spec.function.__kwdefaults__
        if adapt is not None:
            op.__defaults__, op.__kwdefaults__ = defaults_of(spec)
        of.key_of, of.kind_of = keys[0], keys[-1]
        op.__code__ = code.replace(co_name=spec.name)  # its own, as errors find the op's name by its code
        return name_in_errors(op, spec.name)

    namespace["_generate_code"] = generate_code
    op = FunctionType(_first_code, namespace, spec.name)
    return call_natively(of, op, serve, defaults_of(spec), reflected=reflected)


@lru_cache(1024)
def _codes(source: str) -> tuple[CodeType, ...]:
    """The code of an op, and of the functions of its keys."""
    import linecache  # slow to import, and only the first calls of ops need it

    file = f"{_HERE}/<{source[: source.index(chr(10))]}>"
    linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file
    return tuple([code for code in compile(source, file, "exec").co_consts if isinstance(code, CodeType)])


remembers_calls("code of warm calls", _codes)
(_first_code,) = (code for code in compile(_FIRST, __file__, "exec").co_consts if isinstance(code, CodeType))
