"""The source of warm calls, made from the op's signature: one look-up, one kernel, one tensor.

The code spells out the keys of a call. For `sum(x, /, *, axis=None, keepdims=False)` it is:

    def op(x, /, *, axis=None, keepdims=False):
        try:
            _backend = x.backend
            _found = _find(((_precision := _defaults.current_precision()), _backend, x.template, axis if ...))
            if _found is None and _kinds:  # a new shape of a kind that may be known
                ...
                _shapes = _shape_x,
                for _plan in _kinds[_precision, _backend, _kind_x, axis if ...]:
                    _found = _plan.record(_shapes)
                    if _found is not None: break
            if _found is not None:
                _out, _function, _ready = _found
                _data_x = x.data
        except Exception:  # a call without a key, of an unknown kind or of a frequent shape: the full path serves it
            _found = ()
        if _found:
            try:
                _data = _function(_data_x)
            ...
        return _serve((x, ), {'axis': axis, 'keepdims': keepdims})

A plain op, such as `add`, has a nested memo, which leaves the precision out: `_calls[_backend].get(x.template)`.
A key of many tensors, as in `stack` of a thousand rows, holds their number and the one template of all of them
(`generated.merge`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from ..declarations.op_specs import OpSpec, Parameter

PLACEMENT: Final = "backend", "device", "like"
"""The options that say on which backend an op without operands makes its tensor."""

_OP: Final = """\
def op({signature}):
    {check}
    try:
        {find}
    except Exception:  # whatever an argument without a key, or a plan's guard, raises; the full path finds the error
        _found = ()
    {run}
    return _serve(({arguments}), {{{keywords}}})  # here, so that no error has a look-up's error as its context
"""

_CHECK: Final = """\
if {any}:
    return _adapt(({arguments}), {{{keywords}**_others}})"""
"""The source that leaves a call that the signature does not take to the errors of this package."""

_KEY_OF: Final = """
def {}({}):
    {}
    return {}
"""

_OF_KIND: Final = """\
if _found is None and _kinds:
    {operands}
    _shapes = {shapes}
    for _plan in _kinds[{kind}]:
        _found = _plan.record(_shapes)
        if _found is not None: break"""
"""The source that looks for a plan by kind, where that of the key has found the backend and no call that is ready."""

_RUN: Final = """\
if _found:
    try:
        _data = _function({payloads})
    except Exception as _error:  # whatever a backend's code raises
        _result = _recover(_error, _ready, _backend, [{payloads}], ({arguments}))
        if _result is not None:
            return _result
    else:
        {wrap}"""

_RUN_DIRECT: Final = """\
if _found:
    try:
        _data = _function({payloads})
        if _out.__class__ is _Shaped:
            _out = _out[_data.shape]
        {wrap}
    except _ContractError:
        raise
    except Exception:  # as above; what a kernel raises, too
        pass"""
"""How a function runs that can do without its kernel (`direct`), as it does where an optional tensor is given."""

_WRAP: Final = """\
_tensor = _blank()
_tensor.template = _out
_tensor.backend = _backend
_tensor.data = _data
return _tensor"""

_WRAP_ANY: Final = f"""\
if _out.__class__ is _Template:
    {_WRAP.replace(chr(10), chr(10) + "    ")}
return _wrap(_out, _backend, _data, _ready.result)"""

_PRECISION: Final = "_defaults.current_precision()"
_READ_PRECISION: Final = f"(_precision := {_PRECISION})"
"""The source of the default precision; a call that is not ready reads it once for its key and its kind."""

_ALIKE_OR_NOT: Final = """\
if {alike}:
    {of_tensors}
else:
    {of_numbers}"""
"""The source of a look-up with Python numbers among the operands, or none."""

OPTION: Final = (
    "{0} if {0} is None or {0}.__class__ is _str or {0}.__class__ is _bool "
    "else ({0},) if {0}.__class__ is _int "
    "else ({0} if {0}.__class__ in _ATOMS else _option_key({0}), {0}.__class__)"
)
"""The source of an option as part of a key. None, strings and bools need no class: nothing equals None or a string,
and every other option that equals a bool is in a tuple, with its class unless it is an int."""

_SIZES: Final = "_sizes_{0} = ({0},) if {0}.__class__ is _int else _option_key({0})"
"""The source that reads the sizes of an option that is a shape: the tuple itself for a tuple of ints."""

_SIZES_KEY: Final = "_sizes_{0}, {0}.__class__"
"""The source of such an option as part of a key."""

_RANK: Final = "len({0}) if _sizes_{0} is {0} else _rank({0})"
"""The source of such an option as part of a kind."""

_SEQUENCE: Final = """\
if {0}.__class__ is not tuple and {0}.__class__ is not list: raise KeyError
{backend}
_templates_{0}, _data_{0} = [], []
for _operand in {0}:
    if _operand.backend is not _backend: raise KeyError
    _templates_{0}.append(_operand.template)
    _data_{0}.append(_operand.data)
_templates_{0} = tuple(_templates_{0}) if len({0}) <= _FEW else _merge(_templates_{0})"""
"""The source that reads the templates and the payloads of a sequence of tensors. For a few tensors, a loop takes half
the time of a comprehension, which enters a function of its own before Python 3.12."""

_TENSOR: Final = """\
_template = {0}.template
_kind_{0}, _shape_{0} = _template.kind, _template.shape"""
"""The source that reads the kind and the shape of a tensor."""

_OPERAND: Final = f"""\
if {{0}}.__class__ is _Tensor:
    {_TENSOR.replace(chr(10), chr(10) + "    ")}
else:
    _kind_{{0}}, _shape_{{0}} = _numbers[{{0}}.__class__], ()"""
"""The same for an operand that may be a number."""

_OPERANDS: Final = """\
_kind_{0}, _shape_{0} = [], []
for _template in _templates_{0}:
    _kind_{0}.append(_template.kind)
    _shape_{0}.append(_template.shape)
_kind_{0} = tuple(_kind_{0})"""
"""The source that reads the kinds and the shapes of a sequence of tensors, whose templates are known."""

_KEY: Final = """\
_kind_{x}, _kind_{0}, _data_{0} = {x}.template.kind, {0}.__class__, {0}
if _kind_{0} is tuple:
    _kind_{0} = tuple(map(type, {0}))
    if _Tensor in _kind_{0}:
        _kind_{x} = {x}.template
        _kind_{0}, _data_{0} = _structure({0}, _backend)
elif _kind_{0} is _Tensor:
    if {0}.backend is not _backend: raise KeyError
    _kind_{x}, _kind_{0}, _data_{0} = {x}.template, {0}.template, ({0}.data,)
else:
    _data_{0} = ({0},)"""
"""The source that reads the structure and the payloads of a key. Without tensors, it serves every size of what it is a
key of."""


def source_of(
    spec: OpSpec,
    *,
    nested: bool = False,
    direct: bool = False,
    precise: bool = True,
    sole: bool = False,
    reflected: bool = False,
    checked: bool = False,
) -> str:
    """The source of an op's code, which depends on the parameters of the declared function and on these flags alone.

    A checked op passes arguments that the signature does not take to `_adapt`, instead of Python's own error.
    """
    parameters = signature_of(spec)
    tensors = [parameter for parameter in spec.parameters if parameter.role != "option"]
    options = [
        parameter
        for parameter in spec.parameters
        if parameter.role == "option" and (tensors or parameter.name not in PLACEMENT)
    ]
    sizes = [_SIZES.format(parameter.name) for parameter in options if parameter.meaning == "shape"]
    option_parts = [
        (_SIZES_KEY if parameter.meaning == "shape" else OPTION).format(parameter.name) for parameter in options
    ]

    def parts(kinds: Sequence[str], precision: str = _PRECISION) -> list[str]:
        return [*([precision] if precise and not nested else []), "_backend", *kinds, *option_parts]

    def find(lines: Sequence[str], kinds: Sequence[str], reads: Sequence[str], operand: str = _OPERAND) -> str:
        found = f"_found = _find(({', '.join(parts(kinds, _READ_PRECISION))}, ))"
        if nested:
            first, *others = kinds
            levels = [f"if _found is not None: _found = _found.get({kind})" for kind in others]
            found = "\n".join([f"_found = _calls[_backend].get({first})", *levels])
        of_kind = []
        if not direct:
            operands, kind, shapes = _kind_source(spec, options, _PRECISION if nested else "_precision", operand)
            of_kind.append(_OF_KIND.format(operands=indent("\n".join(operands), 1), kind=kind, shapes=shapes))
        read = indent("\n".join(["_out, _function, _ready = _found", *reads]), 1)
        return "\n".join([*lines, *sizes, found, *of_kind, f"if _found is not None:\n    {read}"])

    left_out = [parameter.name for parameter in tensors if direct and parameter.optional]
    tensors = [parameter for parameter in tensors if parameter.name not in left_out]
    lines, kinds = _tensor_source(tensors) if tensors else ([placement(spec)], [])
    lines += [f"if {name} is not None: raise KeyError" for name in left_out]
    reads = list(map(_read, tensors))
    if takes_numbers(tensors):
        names = [parameter.name for parameter in tensors]
        of_tensors = find(lines, kinds, reads, _TENSOR)
        lines, kinds = _number_source(names)
        reads = [f"_data_{name} = {name}.data if _as_{name} is None else _as_{name}({name})" for name in names]
        constants = f"{', '.join(f'_as_{name}' for name in names)} = _ready.constants"
        found = _ALIKE_OR_NOT.format(
            alike=" is ".join(f"{name}.__class__" for name in names),
            of_tensors=indent(of_tensors, 1),
            of_numbers=indent(find(lines, kinds, [constants, *reads]), 1),
        )
    else:
        found = find(lines, kinds, reads)
    arguments = "".join(f"{star(parameter)}, " for parameter in spec.parameters if parameter.kind != "keyword")
    run = (_RUN_DIRECT if direct else _RUN).format(
        payloads=", ".join(f"{'*' * (parameter.kind == 'variadic')}_data_{parameter.name}" for parameter in tensors),
        arguments=arguments,
        wrap=indent(_WRAP if sole else _WRAP_ANY, 2),
    )
    keywords = ", ".join(f"{x.name!r}: {x.name}" for x in spec.parameters if x.kind == "keyword")
    signature = ", ".join([*reversed([parameter.name for parameter in tensors]), "/"]) if reflected else parameters
    check = "pass"
    if checked:
        surplus = any(parameter.kind == "variadic" for parameter in spec.parameters)
        signature = signature_of(spec, takes_any=True)
        check = _CHECK.format(
            arguments=arguments + "*_more" * (not surplus),
            keywords=f"{keywords}, " * bool(keywords),
            any="_others" if surplus else "_others or _more",
        )
    source = _OP.format(
        signature=signature,
        check=indent(check, 1),
        find=indent(found, 2),
        run=indent(run, 1),
        arguments=arguments,
        keywords=keywords,
    )
    lines += sizes
    source += _KEY_OF.format("key_of", parameters, indent("\n".join(lines), 1), f"{', '.join(parts(kinds))}, ")
    if not direct:
        operands, kind, shapes = _kind_source(spec, options, _PRECISION)
        lines += operands
        source += _KEY_OF.format("kind_of", parameters, indent("\n".join(lines), 1), f"({kind}), ({shapes})")
    return source


def _kind_source(
    spec: OpSpec, options: Sequence[Parameter], precision: str, operand: str = _OPERAND
) -> tuple[list[str], str, str]:
    """The lines that read the kinds and the shapes of operands, the key of the kind, and the shapes of the call."""
    lines, kinds, shapes = [], [precision, "_backend"], []
    for parameter in spec.parameters:
        name = parameter.name
        if parameter.role != "option":
            lines.append((_OPERANDS if is_sequence(parameter) else operand).format(name))
            kinds.append(f"_kind_{name}")
            shapes.append(f"*_shape_{name}" if is_sequence(parameter) else f"_shape_{name}")
        elif parameter in options:
            is_shape = parameter.meaning == "shape"
            kinds.append(_RANK.format(name) if is_shape else OPTION.format(name))
            shapes += [f"_sizes_{name}"] * is_shape
    return lines, ", ".join(kinds), "".join(f"{shape}, " for shape in shapes) or "()"


def placement(spec: OpSpec) -> str:
    """The source that finds the backend of an op without operands."""
    names = [parameter.name for parameter in spec.parameters if parameter.name in PLACEMENT]
    if not names:
        return "_backend = _current()"
    none = " and ".join(f"{name} is None" for name in names)
    return f"_backend = _current() if {none} else _placed({', '.join(f'{name}={name}' for name in names)})"


def takes_numbers(tensors: Sequence[Parameter]) -> bool:
    """Whether some of an op's operands may be Python numbers: it takes two or more, each by position."""
    return len(tensors) > 1 and all(
        parameter.role == "tensor" and parameter.kind == "positional" and not parameter.optional
        for parameter in tensors
    )


def _tensor_source(tensors: Sequence[Parameter]) -> tuple[list[str], list[str]]:
    """The lines that find the backend of a call from its tensors, and the parts of the key for these."""
    lines, kinds = [], []
    for number, parameter in enumerate(tensors):
        name = parameter.name
        check = f"if {name}.backend is not _backend: raise KeyError"
        if is_sequence(parameter):
            lines.append(_SEQUENCE.format(name, backend="" if number else f"_backend = {name}[0].backend"))
            kinds.append(f"_templates_{name}")
        elif parameter.role == "key":
            lines.append(_KEY.format(name, x=tensors[0].name))
            kinds = [f"_kind_{tensors[0].name}", f"_kind_{name}"]
        elif parameter.role == "number":
            kinds.append(f"{name}.__class__")
        elif number and parameter.optional:
            lines.append(check.replace("if ", f"if {name} is not None and ", 1))
            kinds.append(f"(None if {name} is None else {name}.template)")
        else:
            lines.append(check if number else f"_backend = {name}.backend")
            kinds.append(f"{name}.template")
    return lines, kinds


def _number_source(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """The same where some of the operands are numbers; the class of a number is its part of the key."""
    *leading, last = names
    first = "".join(f"{name} if {name}.__class__ is _Tensor else " for name in leading) + last
    check = "if {0}.__class__ is _Tensor and {0}.backend is not _backend: raise KeyError"
    kinds = [f"({name}.template if {name}.__class__ is _Tensor else {name}.__class__)" for name in names]
    return [f"_backend = ({first}).backend", *map(check.format, names[1:])], kinds


def _read(parameter: Parameter) -> str:
    """The source that reads the payload of a tensor parameter, if the source of the key has not read it."""
    if parameter.role == "key" or is_sequence(parameter):
        return "pass"
    if parameter.role == "number":
        return f"_data_{parameter.name} = {parameter.name}"
    single = "_data_{0} = None if {0} is None else {0}.data" if parameter.optional else "_data_{0} = {0}.data"
    return single.format(parameter.name)


def is_sequence(parameter: Parameter) -> bool:
    """Whether a parameter takes several tensors."""
    return parameter.role == "tensors" or parameter.kind == "variadic"


def indent(lines: str, depth: int) -> str:
    """Lines, all but the first of them indented."""
    return lines.replace("\n", "\n" + "    " * depth)


def star(parameter: Parameter) -> str:
    return f"*{parameter.name}" if parameter.kind == "variadic" else parameter.name


def signature_of(spec: OpSpec, *, takes_any: bool = False) -> str:
    """The parameters as written in source, with None for each default; with room for any others if `takes_any`."""
    code = spec.function.__code__
    first_default = code.co_argcount - len(spec.function.__defaults__ or ())
    by_name = spec.function.__kwdefaults__ or {}
    parts = [*_parameters(spec.parameters, code.co_posonlyargcount, first_default, by_name)]
    if takes_any:
        if "*" in parts:
            parts[parts.index("*")] = "*_more"
        elif not any(part.startswith("*") for part in parts):
            parts.append("*_more")
        parts.append("**_others")
    return ", ".join(parts)


def _parameters(
    parameters: Sequence[Parameter], positional_only: int, first_default: int, by_name: dict[str, Any]
) -> Iterator[str]:
    has_star = any(parameter.kind == "variadic" for parameter in parameters)
    for position, parameter in enumerate(parameters):
        if parameter.kind == "keyword" and not has_star:
            has_star = True
            yield "*"
        default = parameter.name in by_name if parameter.kind == "keyword" else position >= first_default
        yield star(parameter) + ("=None" if default and parameter.kind != "variadic" else "")
        if parameter.kind == "positional" and position + 1 == positional_only:
            yield "/"
