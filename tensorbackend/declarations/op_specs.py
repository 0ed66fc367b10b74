"""Specifications of the ops, read once: callbacks from the protocol, parameters from the declared functions.

Everything that needs to know the ops (the dispatcher, `TemplateBackend`, the support matrix, the
conformance suite, the reference in docs/) reads `CALLBACKS` and `OPS`; no list of op names is maintained
by hand. Only code objects and annotations are read, so that importing is quick.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, MutableMapping
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias

from ..protocol import Backend, defines
from ..protocol.callbacks import Cost, Reach, plain_signature, takes
from ..rules.accuracy import TO_THE_BIT, Bounds
from ..tensor.methods import load_ops
from .parameters import Parameter as Parameter
from .parameters import read_parameters as read_parameters
from .parameters import results

if TYPE_CHECKING:
    from inspect import Signature

_OURS: Final = f"{__name__.partition('.')[0]}."
"""How the names of the modules of this package begin."""

CostRule: TypeAlias = Callable[..., int]
"""Computes the number of operations of a call from the output template, the inputs' templates, and the options."""


class Callback(NamedTuple):
    """One op of the protocol."""

    name: str
    family: str
    """The module of the protocol that declares it, such as `"elementwise"`."""
    optional: bool
    """Whether it is a composite that a backend may override, rather than a primitive."""
    inputs: tuple[Parameter, ...]
    options: tuple[str, ...]
    outputs: int
    cost: Cost | None
    """The cost of an element of the result; `None` where that depends on more than the number of elements."""
    reach: Reach | None
    """How the axes of the result come from those of the inputs; `None` without inputs, and for most composites."""

    @property
    def elementwise(self) -> bool:
        """Whether it is a primitive that computes each element of the result from one element of each input."""
        return not self.optional and self.family in ELEMENTWISE


class OpSpec(NamedTuple):
    """One declared op."""

    name: str
    kind: Literal["primitive", "composite"]
    callback: str
    """The name under which a backend implements it: a primitive's callback, a composite's override."""
    function: Callable[..., Any]
    """A primitive's rule, or a composite's default implementation."""
    parameters: tuple[Parameter, ...]
    result: Callable[..., Any] | None = None
    """Makes the public result of an op with several results from their tensors; a plain tuple by default."""
    bounds: Bounds = TO_THE_BIT
    """How near its results must come to BinaryBackend's."""
    cost: Cost | CostRule | None = None
    """The cost of a composite, where it is less than that of its parts; a primitive's cost is its callback's."""
    reach: Reach | None = None
    """How a composite's axes come from those of the inputs, where backends divide it better than its parts."""

    @property
    def module(self) -> str:
        """The module that declares it."""
        return self.function.__module__

    @property
    def family(self) -> str:
        """The family of its callback, such as `"elementwise"`; without a callback, the `word` of its module."""
        callback = CALLBACKS.get(self.callback)
        return callback.family if callback is not None else word(self.module)

    @property
    def signature(self) -> Signature:
        """The signature of the public function."""
        from inspect import signature  # slow to import, and only a composite's first call needs it

        return signature(self.function)

    def at(self, position: int) -> Parameter:
        """The parameter that a positional argument is for; surplus ones are for the last positional parameter."""
        if position < len(self.parameters) and self.parameters[position].kind != "keyword":
            return self.parameters[position]
        positional = [parameter for parameter in self.parameters if parameter.kind != "keyword"]
        return (positional or self.parameters)[-1]


class DeclaredOps(MutableMapping[str, OpSpec]):
    """The declared ops by public name. If it lacks an op, or is asked for all, it imports the modules that declare ops.

    >>> "silu" in OPS, "no_op" in OPS
    (True, False)
    """

    def __init__(self) -> None:
        self.imported: dict[str, OpSpec] = {}
        """The ops of the modules imported so far."""

    def __getitem__(self, name: str) -> OpSpec:
        if name not in self.imported:
            load_ops.call()
        return self.imported[name]

    def __iter__(self) -> Iterator[str]:
        load_ops.call()
        return iter(self.imported)

    def __len__(self) -> int:
        load_ops.call()
        return len(self.imported)

    def __setitem__(self, name: str, spec: OpSpec) -> None:
        self.imported[name] = spec

    def __delitem__(self, name: str) -> None:
        del self.imported[name]


ELEMENTWISE = ("elementwise", "special")
"""The families whose primitives compute each element of the result from one element of each input."""

CALLBACKS: dict[str, Callback] = {}
"""Every op of the protocol by name, in the protocol's order."""

COSTS: dict[str, Cost | CostRule] = {}
"""The stated costs, by the names of callbacks and overrides."""

REACHES: dict[str, Reach] = {}
"""How the axes of results come from those of the inputs, by the names of callbacks and overrides."""

OPS = DeclaredOps()
"""Every declared op by public name; entered by `@primitive` and `@composite`."""


def word(module: str) -> str:
    """The family according to a module's name: the part below `ops`, or the last part for a module elsewhere.

    >>> word("tensorbackend.ops.composite.linalg.norms"), word("mine.attention")
    ('linalg', 'attention')
    """
    _, inside, path = module.partition(".ops.")
    return path.removeprefix("composite.").partition(".")[0] if inside else module.rpartition(".")[2]


def callbacks(family: type) -> Iterator[Callback]:
    """The callbacks that a class of the protocol declares; `TypeError` for an elementwise one without a cost."""
    for name, method in vars(family).items():
        kind = getattr(method, "__declared__", None)
        if kind is None:
            continue
        declared = method.__wrapped__
        parameters = read_parameters(declared, first=2)  # after self and the output template
        callback = Callback(
            name=name,
            family=sys.intern(word(family.__module__)),
            optional=kind == "optional_callback",
            inputs=tuple(parameter for parameter in parameters if parameter.role != "option"),
            options=tuple(parameter.name for parameter in parameters if parameter.role == "option"),
            outputs=results(declared, declared.__code__.co_varnames[1]),
            cost=method.__cost__,
            reach=method.__reach__,
        )
        callback = callback._replace(reach=callback.reach or _reach_of_options(callback))
        if callback.elementwise and callback.cost is None:
            raise TypeError(f"the callback {name!r} needs its cost, as an elementwise one: @callback(cost='operation')")
        yield callback


def _reach_of_options(callback: Callback) -> Reach | None:
    """The reach of a primitive, by its family and its options; `None` if these do not determine it."""
    if callback.optional or not callback.inputs:
        return None
    if callback.elementwise:
        return "each"
    if {"axes", "keepdims"} <= set(callback.options):
        return "reduced"
    return "along" if "axis" in callback.options else None


for _family in reversed(Backend.__mro__):
    for _callback in callbacks(_family):
        CALLBACKS[_callback.name] = _callback
        if _callback.cost is not None:
            COSTS[_callback.name] = _callback.cost
        if _callback.reach is not None:
            REACHES[_callback.name] = _callback.reach


def declare(spec: OpSpec) -> None:
    """Registers an op; a primitive must agree with the protocol about its tensors.

    Raises `TypeError` for an op that another module has declared, a primitive without a callback, or one whose tensor
    parameters are not the callback's. A module that is run again, as after an import that was interrupted, replaces its
    ops.
    """
    # A test checks that all built-in ops have distinct names, so declaring one of them does not load the others.
    built_in = spec.module.startswith(_OURS)
    known = OPS.imported if built_in else OPS
    if spec.name in known and known[spec.name].module != spec.module:
        raise TypeError(f"the op {spec.name!r} is declared twice: in {OPS[spec.name].module} and {spec.module}")
    if spec.kind == "composite" and all(parameter.role == "option" for parameter in spec.parameters):
        raise TypeError(f"the composite {spec.name!r} needs a parameter annotated Tensor or Sequence[Tensor]")
    if spec.kind == "primitive":
        callback = CALLBACKS.get(spec.callback)
        if callback is None or callback.optional:
            raise TypeError(f"the primitive {spec.name!r} needs a callback {spec.callback!r} in protocol/")
        tensors = tuple(parameter.role for parameter in spec.parameters if parameter.role != "option")
        callback_roles = tuple(parameter.role for parameter in callback.inputs)
        if tensors != callback_roles:
            raise TypeError(
                f"the primitive {spec.name!r} takes {tensors}, its callback {spec.callback!r} {callback_roles}"
            )
    OPS[spec.name] = spec
    if spec.cost is not None:
        COSTS[spec.callback] = spec.cost
    if spec.reach is not None:
        REACHES[spec.callback] = spec.reach


def list_implementations(backend: type[Backend]) -> tuple[list[str], list[str]]:
    """The primitives that a backend's class defines and the composites that it overrides, by callback's name.

    >>> import tensorbackend as tb
    >>> primitives, composites = list_implementations(type(tb.get_backend("numpy")))
    >>> "add" in primitives, "cumulative_max" in composites
    (True, True)
    """
    primitives = (callback.name for callback in CALLBACKS.values() if not callback.optional)
    return [name for name in primitives if defines(backend, name)], [
        name for name in overridable() if defines(backend, name)
    ]


def overridable() -> tuple[str, ...]:
    """The names under which a backend may override composites: those of declared ops and those of control flow."""
    declared = (spec.callback for spec in OPS.values() if spec.kind == "composite")
    return tuple(dict.fromkeys((*declared, *(callback.name for callback in CALLBACKS.values() if callback.optional))))


# Methods that calls cannot reach


def wanted_signature(name: str) -> Signature:
    """The signature with which a backend defines a callback or a composite, without types.

    >>> wanted_signature("add"), wanted_signature("softmax")
    (<Signature (self, out, x1, x2, /)>, <Signature (self, out, x, /, *, axis)>)
    """
    from inspect import Parameter as Named
    from inspect import Signature

    if name in CALLBACKS:
        return plain_signature(getattr(Backend, name))
    parameters = next(spec for spec in OPS.values() if spec.callback == name).parameters
    inputs = [parameter for parameter in parameters if parameter.role != "option"]
    return Signature([
        *(Named(each, Named.POSITIONAL_ONLY) for each in ("self", "out")),
        *(Named(x.name, Named.POSITIONAL_ONLY) for x in inputs if x.kind != "variadic"),
        *(Named(x.name, Named.VAR_POSITIONAL) for x in inputs if x.kind == "variadic"),
        *(Named(x.name, Named.KEYWORD_ONLY) for x in parameters if x.role == "option"),
    ])  # fmt: skip


def misfit(backend: type[Backend], name: str) -> bool:
    """Whether a backend's method for a callback or a composite does not take what it is called with."""
    return defines(backend, name) and not takes(getattr(backend, name), wanted_signature(name))


def unreached(backend: type[Backend]) -> list[str]:
    """The methods of a backend's class that no call reaches: with the name of an op whose callback has another name, or
    with another signature than the declared one.

    >>> import tensorbackend as tb
    >>> unreached(type(tb.get_backend("numpy")))
    []
    """
    names = {*CALLBACKS, *overridable()}
    others = {name: spec.callback for name, spec in OPS.items() if name not in names}
    return [
        f"{backend.__name__} defines {name}, which nothing calls: define {callback}"
        for name, callback in {**others, "jit": "compile_graph"}.items()
        if getattr(backend, name, None) is not getattr(Backend, name, None)
    ] + [
        f"{backend.__name__} defines {name} in another form than it is called in: write {name}{wanted_signature(name)}"
        for name in sorted(names)
        if misfit(backend, name)
    ]
