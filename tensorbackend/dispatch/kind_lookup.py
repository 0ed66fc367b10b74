"""The code that finds a plan by kind, generated from an op's signature once the op has such a plan.

A warm call that finds no exact plan calls `Lookup.call`. For `sum(x, /, *, axis=None, keepdims=False)` that becomes

    def by_kind(x, /, *, axis=None, keepdims=False):
        try:
            _backend = None
            if x.__class__ is _Tensor:
                _template = x.template
                _kind_x, _shape_x = _template.kind, _template.shape
                ...
            _shapes = _shape_x,
            for _plan in _plans[_defaults.current_precision(), _backend, _kind_x, ...]:
                _found = _plan.shapes(_shape_x)
                if _found is not None:
                    ...  # counts; often met shapes become ready
                    return _plan.call(_found, _shapes, (x.data, ))
        except Exception:  # as in the code below
            pass
        return _missed(_key_of, (x,), {'axis': axis, 'keepdims': keepdims})

Ops of one signature share the code.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from functools import lru_cache
from types import CodeType, FunctionType
from typing import Any, Final

from ..caching.memos import remembers_calls
from ..caching.option_keys import ATOMS, NUMBERS, option_key
from ..declarations.op_specs import OpSpec
from ..dtypes import defaults
from ..interchange import scalar_dtype
from ..select import creation_backend
from ..select.default import current
from ..template import TemplateKind, kind_of_parts
from ..tensor import Tensor
from .generated import OPTION, PAYLOADS, PLACEMENT, indented, is_sequence, placement, signature_of, starred
from .kinds import Kinds, rank
from .records import Lookup

_CODE: Final = """\
def by_kind({signature}):
    try:
        {preparation}
        {payloads}
        _shapes = {shapes}
        for _plan in _plans[{key}]:
            _found = _plan.shapes({each})
            if _found is not None:
                _met = _plan.met
                _times = _met.get(_shapes)
                if _times is None:
                    if len(_met) >= _most: _met.clear()
                    _met[_shapes] = 1
                elif _times >= _plan.often:
                    return _again(_plan, _found, _shapes, ({data}), _key_of, ({arguments}), {{{keywords}}})
                else:
                    _met[_shapes] = _times + 1
                return _plan.call(_found, _shapes, ({data}))
    except Exception:  # an unknown kind, or whatever an exact plan does right or raises in its own words
        pass
    return _missed(_key_of, ({arguments}), {{{keywords}}})

def key_of({signature}):
    {prepared}
    return {key}
"""

_OPERAND: Final = """\
if {0}.__class__ is _Tensor:
    if _backend is None: _backend = {0}.backend
    elif _backend is not {0}.backend: raise KeyError
    _template = {0}.template
    _kind_{0}, _shape_{0} = _template.kind, _template.shape
else:
    _kind_{0}, _shape_{0} = _numbers[{0}.__class__], ()"""

_SEQUENCE: Final = """\
if {0}.__class__ is not tuple and {0}.__class__ is not list: raise KeyError
_kind_{0}, _shape_{0} = [], []
for _operand in {0}:
    if _backend is None: _backend = _operand.backend
    elif _backend is not _operand.backend: raise KeyError
    _template = _operand.template
    _kind_{0}.append(_template.kind)
    _shape_{0}.append(_template.shape)
_kind_{0} = tuple(_kind_{0})"""


class _Numbers(dict[type, Any]):
    """What stands in a key for a number next to tensors, by its class: for one of NumPy's the kind of a tensor."""

    def __missing__(self, number_class: type) -> TemplateKind:
        dtype = scalar_dtype(number_class)
        if dtype is None:
            raise KeyError(number_class)
        kind = self[number_class] = kind_of_parts(dtype, ())
        return kind


_numbers: Final = _Numbers({number_class: number_class for number_class in (*NUMBERS, type(None))})


def find_plans(lookup: Lookup, spec: OpSpec, kinds: Kinds, again: Callable[..., Any]) -> Callable[..., Any]:
    """Lets a warm call without an exact plan look for one by kind; returns the function of a call's key.

    `again` runs a call of shapes that a plan met before.
    """
    namespace: dict[str, Any] = {
        "__builtins__": builtins,
        "_ATOMS": ATOMS,
        "_Tensor": Tensor,
        "_again": again,
        "_bool": bool,
        "_current": current,
        "_defaults": defaults,
        "_key_of": lookup.key_of,
        "_int": int,
        "_missed": lookup.missed,
        "_most": kinds.most,
        "_numbers": _numbers,
        "_placed": creation_backend,
        "_plans": kinds.plans,
        "_rank": rank,
        "_str": str,
        "_told": option_key,
    }
    by_kind, key_of = (FunctionType(code, namespace, spec.name) for code in _codes(source_of(spec)))
    for function in (by_kind, key_of):
        function.__defaults__, function.__kwdefaults__ = spec.function.__defaults__, spec.function.__kwdefaults__
    lookup.call = by_kind
    return key_of


@lru_cache(1024)
def _codes(source: str) -> tuple[CodeType, CodeType]:
    """The code of `by_kind` and of `key_of`; the file is this one, so that its frames count as the package's."""
    first, second = (code for code in compile(source, __file__, "exec").co_consts if isinstance(code, CodeType))
    return first, second


remembers_calls("code of plans by kind", _codes)


def source_of(spec: OpSpec) -> str:
    """The source of the code, which depends on the parameters of the declared function alone."""
    lines, payloads, data, shapes, key = ["_backend = None"], [], [], [], []
    several = any(is_sequence(parameter) for parameter in spec.parameters)
    sized = any(parameter.meaning == "shape" for parameter in spec.parameters)
    numbers = 0
    creates = all(parameter.role == "option" for parameter in spec.parameters)
    if creates:
        lines = [placement(spec)]
    for parameter in spec.parameters:
        name = parameter.name
        if parameter.role == "option":
            if creates and name in PLACEMENT:
                continue
            if parameter.meaning == "shape":
                shapes.append(f"({name},) if {name}.__class__ is not tuple else {name}")
                key.append(f"_rank({name})")
            else:
                key.append(OPTION.format(name))
            continue
        key.append(f"_kind_{name}")
        if is_sequence(parameter):
            lines.append(_SEQUENCE.format(name))
            payloads.append(PAYLOADS.format(name))
            data.append(f"*_data_{name}" if parameter.kind == "variadic" else f"_data_{name}")
            shapes.append(f"*_shape_{name}")
        else:
            lines.append(_OPERAND.format(name))
            shapes.append(f"_shape_{name}")
            if several:
                payloads.append(f"_data_{name} = {name}.data")
                data.append(f"_data_{name}")
            else:
                constant = f"_plan.constants[{numbers}]({name})"
                data.append(f"{name}.data if {name}.__class__ is _Tensor else {constant}")
            numbers += 1
    keywords = [parameter.name for parameter in spec.parameters if parameter.kind == "keyword"]
    preparation = "\n".join(lines)
    return _CODE.format(
        signature=signature_of(spec),
        preparation=indented(preparation, 2),
        prepared=indented(preparation, 1),
        payloads=indented("\n".join(payloads) or "pass", 2),
        key=f"_defaults.current_precision(), _backend, {', '.join(key)}",
        shapes="".join(f"{part}, " for part in shapes) or "()",
        each="*_shapes" if several or sized else ", ".join(shapes),
        data="".join(f"{part}, " for part in data),
        arguments="".join(f"{starred(parameter)}, " for parameter in spec.parameters if parameter.kind != "keyword"),
        keywords=", ".join(f"{name!r}: {name}" for name in keywords),
    )
