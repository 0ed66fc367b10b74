"""The code of warm calls, generated from the op's signature, for ops with options or with three or more tensors.

The code spells out the key of a call. For `sum(x, /, *, axis=None, keepdims=False)` it is

    def op(x, /, *, axis=None, keepdims=False):
        try:
            _backend = x.backend
            _out, _function, _run, _result, _, _ = _ready[
                _defaults.current_precision(), x.template, _backend,
                axis if axis is None or axis.__class__ is _str or axis.__class__ is _bool
                else (axis if axis.__class__ in _ATOMS else _told(axis), axis.__class__),
                keepdims if ...
            ]
        except _MISSES:
            pass
        else:
            _data_x = x.data
            try:
                _data = _function(_data_x) if _run is None else _run(_function, _data_x)
            ...
        return _lookup.call(x, axis=axis, keepdims=keepdims)

A loop over the options takes three to five times as long. Compiling the code of every op would double the import time
of the package, so each op starts as a stub, which replaces its code by the generated code at the first call.
"""

from __future__ import annotations

import builtins
import os
from collections.abc import Callable, Iterator, Sequence
from types import CodeType, FunctionType
from typing import Any, Final

from ..dtypes import defaults
from ..errors import DeallocatedError
from ..memo import ATOMS, told
from ..opspec import OpSpec, Parameter
from ..select import placed
from ..select.default import current
from ..template import Template
from ..tensor import Tensor, blank_tensor
from ..tracebacks import named_in_errors
from .kernels import wrap
from .quick import BesideMemo, Failed, Lookup, Memo, recovery

PLACEMENT: Final = "backend", "device", "like"
"""The options that say on which backend an op without operands makes its tensor."""

MISSES: Final = KeyError, AttributeError, TypeError, IndexError, DeallocatedError
"""The exceptions of a look-up for a call that is not ready: an unknown key, an operand that is no tensor, an option
that does not hash, an empty sequence, a tensor without its data. The payloads are read inside the `try` too, because an
operand may have the template and the backend of a tensor but no payload, as a sparse matrix does. The kernel runs
outside, so that no error of a kernel passes for a miss."""

_CODE: Final = """\
def op({signature}):
    try:
        {preparation}
        _out, _function, _run, _result, _, _ = _ready[{key}]
        {read}
    except _MISSES:
        pass
    else:
        {run}
    return _lookup.call({passed})

def key_of({signature}):
    {prepared}
    return {key}
"""

_RUN: Final = """\
try:
    _data = _function({payloads}) if _run is None else _run(_function, {payloads})
except Exception as _error:  # whatever a backend's code raises
    _data = _recovered(_error, _backend, _run, _function, [{payloads}], ({arguments}))
if _out.__class__ is _Template:
    _tensor = _blank()
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
        _record, ({constants},) = _beside[_defaults.current_precision(), {kinds}, _backend]
        _out, _function, _run, _result, _, _ = _record
    except _MISSES:
        return _lookup.call({arguments})
    {read}
    {run}
"""
"""The first lines of the code of an op of three or more tensors and no options, where numbers may stand beside
tensors."""

_HERE: Final = os.path.dirname(__file__)  # a frame of the code is then one of this package, not of the user

_FIRST: Final = """\
def op(*arguments, **keywords):
    return _settled()(*arguments, **keywords)
"""

OPTION: Final = (
    "{0} if {0} is None or {0}.__class__ is _str or {0}.__class__ is _bool "
    "else ({0} if {0}.__class__ in _ATOMS else _told({0}), {0}.__class__)"
)
"""The source of an option as part of a key. None, strings and bools stand alone: nothing else equals None or a string,
and every other option that equals a bool has its class beside it."""

_SEQUENCE: Final = """\
if {0}.__class__ is not tuple and {0}.__class__ is not list: raise KeyError
{backend}
_templates_{0} = []
for _operand in {0}:
    if _operand.backend is not _backend: raise KeyError
    _templates_{0}.append(_operand.template)
_templates_{0} = tuple(_templates_{0})"""
"""The source that reads the templates of a sequence of tensors. For a few tensors, a loop takes half the time of a
comprehension, which enters a function of its own before Python 3.12."""

_PAYLOADS: Final = """\
_data_{0} = []
for _operand in {0}:
    _data_{0}.append(_operand.data)"""


def generated(spec: OpSpec, ready: Memo, beside: BesideMemo, lookup: Lookup, failed: Failed) -> Callable[..., Any]:
    """The op of a declared function, by code generated from its signature.

    The op has a namespace of its own in place of a module's, so that replacing its code is enough. Names that are not
    parameters begin with an underscore.
    """
    namespace: dict[str, Any] = {
        "__builtins__": builtins,  # for functions in C that import a module
        "_ATOMS": ATOMS,
        "_MISSES": MISSES,
        "_Template": Template,
        "_Tensor": Tensor,
        "_beside": beside,
        "_bool": bool,
        "_current": current,
        "_defaults": defaults,
        "_lookup": lookup,
        "_blank": blank_tensor,
        "_placed": placed,
        "_ready": ready,
        "_recovered": recovery(failed),
        "_str": str,
        "_told": told,
        "_wrap": wrap,
    }

    def settled() -> FunctionType:
        """The op, with the generated code in place of the stub's."""
        functions = _functions(spec, namespace)
        lookup.key_of = functions["key_of"]
        op.__defaults__, op.__kwdefaults__ = spec.function.__defaults__, spec.function.__kwdefaults__
        op.__code__ = functions["op"].__code__
        return named_in_errors(op, spec.name)

    namespace["_settled"] = settled
    op = FunctionType(_first_code, namespace, spec.name)
    return op


def _functions(spec: OpSpec, namespace: dict[str, Any]) -> dict[str, FunctionType]:
    """The functions of an op's code, with the defaults of the declared function."""
    source, file = source_of(spec), f"{_HERE}/<{spec.function.__module__}.{spec.name}>"
    import linecache  # slow to import, and only an op's first call needs it

    linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file
    codes = {code.co_name: code for code in compile(source, file, "exec").co_consts if isinstance(code, CodeType)}
    functions = {name: FunctionType(code, namespace, name) for name, code in codes.items()}
    for function in functions.values():
        function.__defaults__, function.__kwdefaults__ = spec.function.__defaults__, spec.function.__kwdefaults__
    return functions


(_first_code,) = (code for code in compile(_FIRST, __file__, "exec").co_consts if isinstance(code, CodeType))


def source_of(spec: OpSpec) -> str:
    """The source of an op's code, which depends on the parameters of the declared function alone."""
    tensors = [parameter for parameter in spec.parameters if parameter.role != "option"]
    options = [parameter for parameter in spec.parameters if parameter.role == "option"]
    if tensors:
        lines, key = _of_tensors(tensors)
    else:
        placement_names = [parameter.name for parameter in options if parameter.name in PLACEMENT]
        options = [parameter for parameter in options if parameter.name not in PLACEMENT]
        none = " and ".join(f"{name} is None" for name in placement_names)
        expression = f"_current() if {none} else _placed({', '.join(f'{name}={name}' for name in placement_names)})"
        lines, key = [f"_backend = {expression}"], ["_backend"]
    for parameter in options:
        name = parameter.name
        key.append(OPTION.format(name))
    keywords = [parameter.name for parameter in spec.parameters if parameter.kind == "keyword"]
    arguments = "".join(f"{starred(parameter)}, " for parameter in spec.parameters if parameter.kind != "keyword")
    read = [_read(parameter) for parameter in tensors]
    payloads = [
        f"*_data_{parameter.name}" if parameter.kind == "variadic" else f"_data_{parameter.name}"
        for parameter in tensors
    ]
    preparation = "\n".join(lines)
    source = _CODE.format(
        signature=signature_of(spec),
        preparation=indented(preparation, 2),
        prepared=indented(preparation, 1),
        key=f"_defaults.current_precision(), {', '.join(key)}",
        read=indented("\n".join(read) or "pass", 2),
        run=indented(_RUN.format(payloads=", ".join(payloads), arguments=arguments), 2),
        passed=arguments + "".join(f"{name}={name}, " for name in keywords),
    )
    single = all(parameter.role == "tensor" and parameter.kind == "positional" for parameter in spec.parameters)
    if len(tensors) < 3 or not single:
        return source
    head, body = source.split("\n", 1)
    return f"{head}\n    {indented(_beside_numbers(tensors, arguments), 1)}\n{body}"


def _beside_numbers(tensors: Sequence[Parameter], arguments: str) -> str:
    """The lines that find and run a call with numbers among its operands."""
    names = [parameter.name for parameter in tensors]
    *leading, last = names
    read = [f"_data_{name} = {name}.data if _as_{name} is None else _as_{name}({name})" for name in names]
    return _BESIDE.format(
        all_tensors=" and ".join(f"{name}.__class__ is _Tensor" for name in names),
        first="".join(f"{name} if {name}.__class__ is _Tensor else " for name in leading) + last,
        alike="\n        ".join(
            f"if {name}.__class__ is _Tensor and {name}.backend is not _backend: raise KeyError" for name in names[1:]
        ),
        constants=", ".join(f"_as_{name}" for name in names),
        kinds=", ".join(f"{name}.template if {name}.__class__ is _Tensor else {name}.__class__" for name in names),
        arguments=arguments,
        read=indented("\n".join(read), 1),
        run=indented(_RUN.format(payloads=", ".join(f"_data_{name}" for name in names), arguments=arguments), 1),
    )


def indented(lines: str, depth: int) -> str:
    """Lines, all but the first of them indented."""
    return lines.replace("\n", "\n" + "    " * depth)


def _of_tensors(tensors: Sequence[Parameter]) -> tuple[list[str], list[str]]:
    """The lines that find the backend of a call from its tensors, and the parts of the key that stand for these."""
    lines, key = [], []
    for number, parameter in enumerate(tensors):
        name = parameter.name
        if parameter.role == "tensors" or parameter.kind == "variadic":
            lines.append(_SEQUENCE.format(name, backend="" if number else f"_backend = {name}[0].backend"))
            key.append(f"_templates_{name}" if number else f"_templates_{name}, _backend")
        else:
            if not number:
                lines.append(f"_backend = {name}.backend")
            else:
                lines.append(f"if {name}.backend is not _backend: raise KeyError")
            key.append(f"{name}.template" if number else f"{name}.template, _backend")
    return lines, key


def _read(parameter: Parameter) -> str:
    """The source that reads the payload of a tensor parameter; for several tensors, the list of their payloads."""
    if parameter.kind == "variadic" or parameter.role == "tensors":
        return _PAYLOADS.format(parameter.name)
    return f"_data_{parameter.name} = {parameter.name}.data"


def starred(parameter: Parameter) -> str:
    return f"*{parameter.name}" if parameter.kind == "variadic" else parameter.name


def signature_of(spec: OpSpec) -> str:
    """The parameters as written in source; None stands for each default."""
    code = spec.function.__code__
    first_default = code.co_argcount - len(spec.function.__defaults__ or ())
    by_name = spec.function.__kwdefaults__ or {}
    return ", ".join(_parameters(spec.parameters, code.co_posonlyargcount, first_default, by_name))


def _parameters(
    parameters: Sequence[Parameter], positional_only: int, first_default: int, by_name: dict[str, Any]
) -> Iterator[str]:
    has_star = any(parameter.kind == "variadic" for parameter in parameters)
    for position, parameter in enumerate(parameters):
        if parameter.kind == "keyword" and not has_star:
            has_star = True
            yield "*"
        default = parameter.name in by_name if parameter.kind == "keyword" else position >= first_default
        yield starred(parameter) + ("=None" if default and parameter.kind != "variadic" else "")
        if parameter.kind == "positional" and position + 1 == positional_only:
            yield "/"
