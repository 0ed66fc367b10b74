"""Nodes that come from a file: each is made only if the rule of its op gives the result that the file says.

A kernel trusts the template and the options of its node. A stranger's file may say anything, so the rule runs on the
templates of the inputs, and the node gets the options of the rule's plan. Composites of the library run on templates;
the graphs of control flow are compared with the node's inputs and results.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any, Final

from ..declarations.op_specs import CALLBACKS, OPS, OpSpec
from ..dispatch.composites import CompositePath
from ..dtypes import bool_, check_scalar
from ..errors import ShapeError, expected
from ..rules.plan import Plan, flag, integer
from ..rules.window import Windows
from ..select import get_backend
from ..template import Template
from ..tensor import Tensor
from .graph import Graph
from .loops import CONTROL
from .node import RENAMED, Default, Input, Node, Value, flat, map_each

PACKAGE: Final = f"{__name__.partition('.')[0]}."
"""How the names of the modules of this package begin."""


@cache
def specs() -> Mapping[str, OpSpec]:
    """The ops of the package by the names of their callbacks; of several with one callback, one that takes tensors."""
    found: dict[str, OpSpec] = {}
    for spec in OPS.values():
        if spec.module.startswith(PACKAGE) and spec.name not in ("matrix_transpose", "expand_dims"):
            found.setdefault(spec.callback, spec)
    return found


def make_node(
    op: str, out: Template | tuple[Template, ...], inputs: tuple[Input, ...], options: dict[str, Any], composite: bool
) -> Node:
    """A node whose result is the one that its op gives for these inputs and options; raises an error for any other."""
    templates = map_each(lambda value: value.template, inputs, Value)
    if op == RENAMED:
        (x,) = templates
        return _node(op, x, out, inputs, {})
    if op in CONTROL and composite:
        _CHECKS[op](out, inputs, options)
        return Node(op, out, inputs, MappingProxyType(options), default=CONTROL[op])
    if op not in specs():
        raise KeyError(op)
    spec = specs()[op]
    if composite != (spec.kind == "composite"):
        raise ShapeError(expected("an op of the other kind", op=op))
    if composite:
        path = CompositePath(spec)
        default: Default = path.default
        options = dict(_checked_options(path, templates, options))
        shapes_only = get_backend("template")
        tensors = map_each(lambda template: Tensor(template, shapes_only, None), templates, Template)
        result: Any = default(out, tensors, MappingProxyType(options))
        parts = [result] if isinstance(result, Tensor) else list(result)
        results = tuple(x.template for x in parts)
        return _node(op, results[0] if isinstance(out, Template) else results, out, inputs, options, default)
    if op in _MADE:
        _check_options(op, options)
        if inputs or not isinstance(out, Template):
            raise ShapeError(expected("one result of no operands", op=op, inputs=templates, out=out))
        _MADE[op](out, options)
        return Node(op, out, inputs, MappingProxyType(options))
    arguments = _TO_PUBLIC[op](options, out) if op in _TO_PUBLIC else options
    operands: list[Any] = [list(x) if isinstance(x, tuple) else x for x in templates]
    arguments = dict(arguments)
    operands += [arguments.pop(one.name) for one in spec.parameters if one.kind != "keyword" and one.name in arguments]
    plan: Plan = spec.function(*operands, **arguments)
    given = flat(templates, Template)
    if [x.dtype for x in given] != [*plan.inputs]:
        raise ShapeError(expected(f"operands of the dtypes {plan.inputs}", inputs=given))
    _check_options(op, plan.options)
    return _node(op, plan.out, out, inputs, plan.options)


def _checked_options(path: CompositePath, templates: Sequence[Any], options: dict[str, Any]) -> Mapping[str, Any]:
    """The options of a composite as backends get them; raises `ShapeError` for operands or options that it lacks."""
    names = [parameter.name for parameter in path.spec.parameters if parameter.role == "option"]
    operands = [parameter for parameter in path.spec.parameters if parameter.role != "option"]
    several = any(parameter.kind == "variadic" for parameter in operands)
    if options.keys() != {*names} or (len(templates) != len(operands) and not several):
        text = f"{len(operands)} operands of {path.spec.name} and the options {names}"
        raise ShapeError(expected(text, operands=templates, options=sorted(options)))
    first = next((x for x in templates if isinstance(x, Template)), Template((), bool_))
    return path.normal_options(options, first)


def _check_options(op: str, options: Mapping[str, Any]) -> None:
    """Raise `ShapeError` for other options than those that a kernel takes."""
    names = CALLBACKS[op].options
    if options.keys() != {*names}:
        raise ShapeError(expected(f"the options {sorted(names)} of {op}", options=sorted(options)))


def _node(
    op: str, right: Any, out: Any, inputs: tuple[Input, ...], options: Mapping[str, Any], default: Default | None = None
) -> Node:
    """The node, whose template may have other names than the rule gives, but no other shape or dtype."""
    many = [right] if isinstance(right, Template) else list(right)
    given = [out] if isinstance(out, Template) else list(out)
    if [(x.shape, x.dtype) for x in many] != [(x.shape, x.dtype) for x in given]:
        raise ShapeError(expected(f"the result {right!r}", out=out))
    return Node(op, out, inputs, MappingProxyType(dict(options)), default=default)


# Options of callbacks as those of public functions


def _windows(windows: Any) -> Windows:
    if not isinstance(windows, Windows):
        raise ShapeError(expected("windows", windows=windows))
    return windows


def _over(options: dict[str, Any], out: Any) -> dict[str, Any]:
    return {"axis": options["axes"], **{name: value for name, value in options.items() if name != "axes"}}


def _slid(options: dict[str, Any], out: Any) -> dict[str, Any]:
    sizes, strides, padding, dilations = _windows(options["windows"])
    return {"window": sizes, "strides": strides, "padding": padding, "dilations": dilations}


def _scattered(options: dict[str, Any], out: Any) -> dict[str, Any]:
    return {name: value for name, value in _slid(options, out).items() if name != "dilations"}


def _convolved(options: dict[str, Any], out: Any) -> dict[str, Any]:
    _, strides, padding, dilations = _windows(options["windows"])
    return {
        "strides": strides,
        "padding": padding,
        "kernel_dilation": dilations,
        **{name: options[name] for name in ("input_dilation", "feature_groups", "batch_groups")},
    }


_TO_PUBLIC: Final[Mapping[str, Callable[[dict[str, Any], Any], dict[str, Any]]]] = {
    **dict.fromkeys(("all", "any", "reduce_max", "reduce_min", "reverse", "squeeze"), _over),
    **{op: lambda options, out: {**_over(options, out), "dtype": out.dtype} for op in ("sum", "product")},
    **dict.fromkeys(("window_sum", "window_product", "window_max", "window_min"), _slid),
    **dict.fromkeys(("window_scatter_max", "window_scatter_min"), _scattered),
    "as_type": lambda options, out: {"dtype": out.dtype},
    "bitcast": lambda options, out: {"dtype": out.dtype},
    "broadcast": lambda options, out: {"shape": out.shape, "axes": options["axes"]},
    "conv": _convolved,
    "dot": lambda options, out: {
        "contract": (options["contract1"], options["contract2"]),
        "batch": (options["batch1"], options["batch2"]),
    },
    "fft": lambda options, out: {"n": options["length"], "axis": options["axis"], "norm": options["norm"]},
    "ifft": lambda options, out: {"n": options["length"], "axis": options["axis"], "norm": options["norm"]},
    "reshape": lambda options, out: {"shape": out.shape},
}
"""The arguments of a public function for the options of its callback and the template of the result."""


# Ops without operands


def _constant(out: Template, options: dict[str, Any]) -> None:
    (value,) = options.values()
    check_scalar(value, out.dtype)


def _counted(out: Template, options: dict[str, Any]) -> None:
    (axis,) = options.values()
    if not out.dtype.is_numeric or (axis is not None and not 0 <= integer(axis=axis) < out.ndim):
        raise ShapeError(expected("an axis to count along", axis=axis, out=out))


def _diagonal(out: Template, options: dict[str, Any]) -> None:
    (offset,) = options.values()
    if out.ndim < 2:
        raise ShapeError(expected("a matrix", out=out))
    integer(offset=offset)


def _spaced(out: Template, options: dict[str, Any]) -> None:
    if out.ndim != 1 or options.keys() != {"start", "step", "last"}:
        raise ShapeError(expected("a start, a step and the last element", out=out))
    for value in options.values():
        if value is not None:
            complex(value)


_MADE: Final[Mapping[str, Callable[[Template, dict[str, Any]], None]]] = {
    "constant": _constant,
    "eye": _diagonal,
    "iota": _counted,
    "spaced": _spaced,
}
"""Checks of nodes that make tensors."""


# Control flow


def _graph(options: Mapping[str, Any], name: str, given: Sequence[Value], results: Sequence[Template]) -> None:
    """Checks a graph of a node against what it gets and what it must give."""
    graph = options[name]
    if not isinstance(graph, Graph):
        raise ShapeError(expected(f"a graph as {name}", **{name: graph}))
    pairs = [
        *zip(graph.templates, [value.template for value in given], strict=True),
        *zip(graph.results, results, strict=True),
    ]
    for one, other in pairs:
        if one.shape != other.shape or one.dtype is not other.dtype:
            raise ShapeError(expected(f"{name} with {other!r}", got=one))


def _check_cond(out: Any, inputs: Any, options: dict[str, Any]) -> None:
    predicate, operands = inputs
    _flag(predicate.template)
    for name in ("true_branch", "false_branch"):
        _graph(options, name, operands, out)


def _check_checkpoint(out: Any, inputs: Any, options: dict[str, Any]) -> None:
    (operands,) = inputs
    _graph(options, "body", operands, out)


def _check_while_loop(out: Any, inputs: Any, options: dict[str, Any]) -> None:
    constants, initial = inputs
    limit = options["limit"]
    if limit is not None:
        integer(0, limit=limit)
    condition = options["condition"]
    _graph(options, "condition", [*constants, *initial], [Template((), bool_)])
    _flag(condition.results[0])
    _graph(options, "body", [*constants, *initial], out)
    _alike(initial, out)


def _check_scan(out: Any, inputs: Any, options: dict[str, Any]) -> None:
    constants, initial, xs = inputs
    length = integer(0, length=options["length"])
    flag(reverse=options["reverse"])
    body = options["body"]
    for x in xs:
        if not x.template.ndim or x.template.shape[0] != length:
            raise ShapeError(expected(f"{length} entries", x=x.template))
    entries = [Value(Node("parameter", x.template.replace(shape=x.template.shape[1:], names=x.template.names[1:])))
               for x in xs]  # fmt: skip
    count = len(initial)
    if any(not template.ndim or template.shape[0] != length for template in out[count:]):
        raise ShapeError(expected(f"results of {length} entries", out=out))
    rows = [template.replace(shape=template.shape[1:], names=template.names[1:]) for template in out[count:]]
    assert isinstance(body, Graph)
    _graph(options, "body", [*constants, *initial, *entries], [*out[:count], *rows])
    _alike(initial, out[:count])


def _flag(template: Template) -> None:
    if template.shape or template.dtype is not bool_:
        raise ShapeError(expected("a bool without axes", predicate=template))


def _alike(values: Sequence[Value], templates: Sequence[Template]) -> None:
    for value, template in zip(values, templates, strict=True):
        if value.template.shape != template.shape or value.template.dtype is not template.dtype:
            raise ShapeError(expected(f"a carried value {template!r}", initial=value.template))


_CHECKS: Final[Mapping[str, Callable[[Any, Any, dict[str, Any]], None]]] = {
    "checkpoint": _check_checkpoint,
    "cond": _check_cond,
    "scan": _check_scan,
    "while_loop": _check_while_loop,
}
