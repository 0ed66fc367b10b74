"""The code of a warm call: one look-up, one kernel, one tensor.

An op of one or two tensors and no options is a closure written here. Any other op gets code generated from its
signature, which spells the key of a call out. For `sum(x, /, *, axis=None, keepdims=False)` it is

    def op(x, /, *, axis=None, keepdims=False):
        try:
            _backend = x.backend
            _out, _kernel, _result = _ready[
                _defaults.current_precision(), x.template, _backend,
                axis if axis is None or axis.__class__ is _str or axis.__class__ is _bool
                else (axis if axis.__class__ in _ATOMS else _told(axis), axis.__class__),
                keepdims if ...
            ]
        except _MISSES:
            pass
        else:
            try:
                _data = _kernel(x.data)  # which may raise what only data shows, or fail in a plugin
            ...
        return _missed(_key_of, (x,), {'axis': axis, 'keepdims': keepdims})

A loop over the options takes three to five times as long. To compile the code of every op would double the time to
import the package, so an op begins with code that exchanges itself for its own at the first call.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from types import CodeType, FunctionType
from typing import Any, Final, NamedTuple, TypeAlias

from ..dtypes import defaults
from ..errors import DataError
from ..memo import ATOMS, NUMBERS, told
from ..opspec import OpSpec, Parameter
from ..protocol import Backend, Kernel, Payload
from ..rules.plan import Out
from ..select import placed
from ..select.default import current
from ..template import Template
from ..tensor import Tensor
from .kernels import wrap


class Ready(NamedTuple):
    """A call for which nothing is left to do but to run its kernel."""

    out: Out
    kernel: Kernel
    result: Callable[..., Any] | None = None
    """Makes the public result of several tensors; a tuple by default."""


class Beside(NamedTuple):
    """A call with Python numbers among its operands for which nothing is left to do but to run its kernel."""

    ready: Ready
    constants: tuple[Callable[[Any], Payload] | None, ...]
    """The function that makes the payload of a number for each operand, `None` for a tensor."""


Memo: TypeAlias = dict[Any, Any]
"""The records of calls by their keys: plain tuples of the fields of `Ready`, which unpack quicker."""

BesideMemo: TypeAlias = dict[Any, Beside]
KeyOf: TypeAlias = Callable[..., Any]
"""The arguments of a call give its key; raises one of `MISSES` for a call that has none."""

Missed: TypeAlias = Callable[[KeyOf, Sequence[Any], dict[str, Any]], Any]
"""The full path of a call: what makes its key, and its arguments by position and by name."""

Failed: TypeAlias = Callable[[Exception, Backend], None]
"""Raises what a user is told instead of an error of a kernel, if that is another one."""

PLACEMENT: Final = "backend", "device", "like"
"""The options that say where a tensor is made, of an op that makes one of nothing."""

MISSES: Final = KeyError, AttributeError, TypeError, IndexError
"""The exceptions of a look-up for a call that is not ready: an unknown key, an operand that is no tensor, an option
that does not hash. Only the look-up runs under them, so that no error of a kernel passes for a miss."""


def of_one(ready: Memo, missed: Missed, failed: Failed) -> Callable[[Any], Any]:
    """The op of one tensor and no options."""
    new = object.__new__

    def op(x: Any, /) -> Any:
        try:
            backend = x.backend
            out, kernel, _ = ready[x.template, backend]
        except (KeyError, AttributeError):
            pass  # so that no error below has this one as its context
        else:
            tensor = new(Tensor)
            tensor.template = out
            tensor.backend = backend
            try:
                tensor.data = kernel(x.data)
            except Exception as error:  # whatever a backend's code raises
                failed(error, backend)
                raise
            return tensor
        return missed(_key_of_one, (x,), {})

    return op


def _key_of_one(x: Any, /) -> Any:
    return x.template, x.backend


def of_two(ready: Memo, beside: BesideMemo, missed: Missed, failed: Failed) -> Callable[[Any, Any], Any]:
    """The op of two tensors and no options, or of a tensor and a Python number."""
    new = object.__new__

    def op(x1: Any, x2: Any, /) -> Any:
        if x1.__class__ is not x2.__class__:  # quicker than to catch that a number has no template
            return with_number(x1, x2)
        try:
            backend = x2.backend
            out, kernel, _ = ready[x1.template, x2.template, x1.backend, backend]
        except (KeyError, AttributeError):
            pass  # so that no error below has this one as its context
        else:
            tensor = new(Tensor)
            tensor.template = out
            tensor.backend = backend
            try:
                tensor.data = kernel(x1.data, x2.data)
            except Exception as error:  # whatever a backend's code raises
                failed(error, backend)
                raise
            return tensor
        return missed(_key_of_two, (x1, x2), {})

    def with_number(x1: Any, x2: Any) -> Any:
        first = x1.__class__ in NUMBERS
        x, number = (x2, x1) if first else (x1, x2)
        try:
            backend = x.backend
            kinds = (number.__class__, x.template) if first else (x.template, number.__class__)
            (out, kernel, _), constants = beside[defaults.current_precision(), *kinds, backend]
        except (KeyError, AttributeError):
            return missed(_key_of_two, (x1, x2), {})
        constant: Any = constants[0 if first else 1]
        operand = constant(number)
        try:
            data = kernel(operand, x.data) if first else kernel(x.data, operand)
        except Exception as error:  # whatever a backend's code raises
            failed(error, backend)
            raise
        return wrap(out, backend, data)

    return op


def _key_of_two(x1: Any, x2: Any, /) -> Any:
    return x1.template, x2.template, x1.backend, x2.backend


def operands_of(arguments: Sequence[Any]) -> Iterator[Template]:
    """The templates of the tensors among the arguments of a call."""
    for argument in arguments:
        if isinstance(argument, Tensor):
            yield argument.template
        elif isinstance(argument, list | tuple):
            yield from operands_of(argument)


# Generated code

_CODE: Final = """\
def op({signature}):
    try:
        {preparation}
        _out, _kernel, _result = _ready[{key}]
    except _MISSES:
        pass
    else:
        {run}
    return _missed(_key_of, ({arguments}), {{{keywords}}})

def key_of({signature}):
    {prepared}
    return {key}
"""

_RUN: Final = """\
try:
    _data = _kernel({payloads})
except _DataError as _error:
    raise _met(_error, ({arguments})) from None
except Exception as _error:  # whatever a backend's code raises
    _failed(_error, _backend)
    raise
if _out.__class__ is _Template:
    _tensor = _new(_Tensor)
    _tensor.template = _out
    _tensor.backend = _backend
    _tensor.data = _data
    return _tensor
return _wrap(_out, _backend, _data, _result)"""

_BESIDE: Final = """\
if not ({all_tensors}):
    try:
        _backend = ({first}).backend
        {alike}
        (_out, _kernel, _result), ({constants},) = _beside[_defaults.current_precision(), {kinds}, _backend]
    except _MISSES:
        return _missed(_key_of, ({arguments}), {{}})
    {run}
"""
"""The first lines of the code of an op of three or more tensors and no options, where numbers may stand beside
tensors."""

_HERE: Final = os.path.dirname(__file__)  # a frame of the code is then one of this package, not of the user

_FIRST: Final = """\
def op(*arguments, **keywords):
    return _settled()(*arguments, **keywords)
"""

_OPTION: Final = (
    "{0} if {0} is None or {0}.__class__ is _str or {0}.__class__ is _bool "
    "else ({0} if {0}.__class__ in _ATOMS else _told({0}), {0}.__class__)"
)
"""An option as part of a key. Nothing else equals None or a string, and what equals a bool has its class beside it."""

_SEQUENCE: Final = """\
if {0}.__class__ is not tuple and {0}.__class__ is not list: raise KeyError
{backend}
for _each in {0}:
    if _each.backend is not _backend: raise KeyError
_templates = tuple([_each.template for _each in {0}])"""


def generated(spec: OpSpec, ready: Memo, beside: BesideMemo, missed: Missed, failed: Failed) -> Callable[..., Any]:
    """The op of a declared function, by code generated from its signature.

    The op has a namespace of its own in place of a module's, so that its code is all there is to exchange. What is not
    a parameter has an underscore in front.
    """
    namespace: dict[str, Any] = {
        "_ATOMS": ATOMS,
        "_MISSES": MISSES,
        "_DataError": DataError,
        "_Template": Template,
        "_Tensor": Tensor,
        "_beside": beside,
        "_bool": bool,
        "_current": current,
        "_defaults": defaults,
        "_failed": failed,
        "_key_of": None,
        "_met": lambda error, arguments: error.met(spec.name, operands_of(arguments)),
        "_missed": missed,
        "_new": object.__new__,
        "_placed": placed,
        "_ready": ready,
        "_str": str,
        "_told": told,
        "_wrap": wrap,
    }

    def settled() -> FunctionType:
        """The op, with its own code."""
        made = _functions(spec, namespace)
        namespace["_key_of"] = made["key_of"]
        op.__defaults__, op.__kwdefaults__ = spec.function.__defaults__, spec.function.__kwdefaults__
        op.__code__ = made["op"].__code__
        return op

    namespace["_settled"] = settled
    op = FunctionType(_first_code, namespace, spec.name)
    return op


def _functions(spec: OpSpec, namespace: dict[str, Any]) -> dict[str, FunctionType]:
    """The functions of an op's code, with the defaults of the declared function."""
    source, file = source_of(spec), f"{_HERE}/<{spec.function.__module__}.{spec.name}>"
    import linecache  # slow to import, and only an op's first call needs it

    linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file
    codes = {each.co_name: each for each in compile(source, file, "exec").co_consts if isinstance(each, CodeType)}
    made = {name: FunctionType(code, namespace, name) for name, code in codes.items()}
    for function in made.values():
        function.__defaults__, function.__kwdefaults__ = spec.function.__defaults__, spec.function.__kwdefaults__
    return made


(_first_code,) = (each for each in compile(_FIRST, __file__, "exec").co_consts if isinstance(each, CodeType))


def source_of(spec: OpSpec) -> str:
    """The source of an op's code.

    It is made of nothing but the names of the declared function's parameters.
    """
    tensors = [parameter for parameter in spec.parameters if parameter.role != "option"]
    options = [parameter for parameter in spec.parameters if parameter.role == "option"]
    if tensors:
        lines, key = _of_tensors(tensors)
    else:
        given = [parameter.name for parameter in options if parameter.name in PLACEMENT]
        options = [parameter for parameter in options if parameter.name not in PLACEMENT]
        none = " and ".join(f"{name} is None" for name in given)
        made = f"_current() if {none} else _placed({', '.join(f'{name}={name}' for name in given)})"
        lines, key = [f"_backend = {made}"], ["_backend"]
    for parameter in options:
        name = parameter.name
        key.append(_OPTION.format(name))
    keywords = [parameter.name for parameter in spec.parameters if parameter.kind == "keyword"]
    arguments = "".join(f"{_starred(each)}, " for each in spec.parameters if each.kind != "keyword")
    preparation, run = "\n".join(lines), _RUN.format(payloads=", ".join(map(_payload, tensors)), arguments=arguments)
    source = _CODE.format(
        signature=_signature(spec),
        preparation=_indented(preparation, 2),
        prepared=_indented(preparation, 1),
        key=f"_defaults.current_precision(), {', '.join(key)}",
        run=_indented(run, 2),
        arguments=arguments,
        keywords=", ".join(f"{name!r}: {name}" for name in keywords),
    )
    single = all(each.role == "tensor" and each.kind == "positional" for each in spec.parameters)
    if len(tensors) < 3 or not single:
        return source
    head, body = source.split("\n", 1)
    return f"{head}\n    {_indented(_beside_numbers(tensors, arguments), 1)}\n{body}"


def _beside_numbers(tensors: Sequence[Parameter], arguments: str) -> str:
    """The lines that find and run a call with numbers among its operands."""
    names = [each.name for each in tensors]
    *leading, last = names
    payloads = (f"{name}.data if _as_{name} is None else _as_{name}({name})" for name in names)
    return _BESIDE.format(
        all_tensors=" and ".join(f"{name}.__class__ is _Tensor" for name in names),
        first="".join(f"{name} if {name}.__class__ is _Tensor else " for name in leading) + last,
        alike="\n        ".join(
            f"if {name}.__class__ is _Tensor and {name}.backend is not _backend: raise KeyError" for name in names[1:]
        ),
        constants=", ".join(f"_as_{name}" for name in names),
        kinds=", ".join(f"{name}.template if {name}.__class__ is _Tensor else {name}.__class__" for name in names),
        arguments=arguments,
        run=_indented(_RUN.format(payloads=", ".join(payloads), arguments=arguments), 1),
    )


def _indented(lines: str, depth: int) -> str:
    """Lines of which all but the first are indented."""
    return lines.replace("\n", "\n" + "    " * depth)


def _of_tensors(tensors: Sequence[Parameter]) -> tuple[list[str], list[str]]:
    """The lines that find the backend of a call and the parts of its key, by its tensors."""
    lines, key = [], []
    for number, parameter in enumerate(tensors):
        name = parameter.name
        if parameter.role == "tensors" or parameter.kind == "variadic":
            lines.append(_SEQUENCE.format(name, backend="" if number else f"_backend = {name}[0].backend"))
            key.append("_backend, _templates")
        else:
            if not number:
                lines.append(f"_backend = {name}.backend")
            key.append(f"{name}.template, {name}.backend" if number else f"{name}.template, _backend")
    return lines, key


def _payload(parameter: Parameter) -> str:
    """The argument of a kernel for a tensor parameter."""
    if parameter.kind == "variadic":
        return f"*[_each.data for _each in {parameter.name}]"
    if parameter.role == "tensors":
        return f"[_each.data for _each in {parameter.name}]"
    return f"{parameter.name}.data"


def _starred(parameter: Parameter) -> str:
    return f"*{parameter.name}" if parameter.kind == "variadic" else parameter.name


def _signature(spec: OpSpec) -> str:
    """The parameters as written in source; None stands for each default."""
    code = spec.function.__code__
    first_default = code.co_argcount - len(spec.function.__defaults__ or ())
    by_name = spec.function.__kwdefaults__ or {}
    return ", ".join(_parameters(spec.parameters, code.co_posonlyargcount, first_default, by_name))


def _parameters(
    parameters: Sequence[Parameter], positional_only: int, first_default: int, by_name: dict[str, Any]
) -> Iterator[str]:
    starred = any(parameter.kind == "variadic" for parameter in parameters)
    for position, parameter in enumerate(parameters):
        if parameter.kind == "keyword" and not starred:
            starred = True
            yield "*"
        default = parameter.name in by_name if parameter.kind == "keyword" else position >= first_default
        yield _starred(parameter) + ("=None" if default and parameter.kind != "variadic" else "")
        if parameter.kind == "positional" and position + 1 == positional_only:
            yield "/"
