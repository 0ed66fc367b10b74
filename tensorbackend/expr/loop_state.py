"""The values that a loop carries: their leaves, and the check that each keeps its template in all iterations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, TypeAlias

from ..dtypes import Scalar, check_scalar, scalar_kind
from ..errors import DTypeError, NamesError, ShapeError, TensorBackendError, expected
from ..ops.creation.filled import full
from ..protocol import Backend
from ..scopes import in_own_context
from ..select import home_of as home_of_values
from ..select import move
from ..template import Template, intern_template, weak_template
from ..tensor import Tensor
from .closures import TracedFunction, as_tensor
from .expr_backend import expect_repeats
from .mesh_variation import Known, current_mesh, varies, varies_of
from .tree_containers import Tree
from .trees import flatten, paths

Leaf: TypeAlias = "Tensor | Scalar"

_ROUNDS = 4
"""How many times a body may change the dtype of a carried Python number before the dtype must stay."""


class Leaves:
    """Tensors and Python numbers, with the template of each and its path in the value that they come from.

    The template of a Python number has the default dtype of the number's kind until it is replaced.
    """

    def __init__(self, leaves: Sequence[Any], places: Sequence[str], home: Backend) -> None:
        self.paths = list(places)
        self.leaves = [
            leaf if isinstance(leaf, Tensor) or scalar_kind(leaf) is not None else as_tensor(leaf, path, home)
            for leaf, path in zip(leaves, places, strict=True)
        ]
        self.templates = [_template_of(leaf) for leaf in self.leaves]
        self.varying = [varies_of(leaf) for leaf in self.leaves]
        """How each leaf varies over a mesh; a carried value as in any iteration, once its body is traced."""

    @property
    def tensors(self) -> list[Tensor]:
        """The leaves that are tensors, without the Python numbers."""
        return [leaf for leaf in self.leaves if isinstance(leaf, Tensor)]

    def on(self, backend: Backend) -> tuple[Tensor, ...]:
        """The leaves as tensors on a backend."""
        return tuple(
            move(leaf, backend) if isinstance(leaf, Tensor) else full((), leaf, dtype=template.dtype, backend=backend)
            for leaf, template in zip(self.leaves, self.templates, strict=True)
        )


def home_of(*values: Any) -> Backend:
    """The backend of nested tensors, on which new tensors are made too; without any, the default backend."""
    return home_of_values(flatten(values)[0])


def flatten_state(value: Any, root: str, home: Backend) -> tuple[Leaves, Tree]:
    """The leaves of a value with their paths, and their nesting."""
    leaves, tree = flatten(value)
    return Leaves(leaves, paths(tree, root), home), tree


def _template_of(leaf: Leaf) -> Template:
    """The template of a leaf. For a Python number: no axes, and the default dtype of the number's kind."""
    if isinstance(leaf, Tensor):
        return leaf.template
    kind = scalar_kind(leaf)
    assert kind is not None  # a leaf is a tensor or a number
    return intern_template((), weak_template(kind).dtype, ())


@in_own_context
def trace_until_stable(carried: Leaves, trace: Callable[[], TracedFunction]) -> TracedFunction:
    """Traces a body, repeatedly if needed, until the carried values keep their templates; returns the trace.

    The first results of the body are the carried values of the next iteration. A carried Python number takes the dtype
    that the body returns for it; a number that the body returns takes the dtype of the carried value.
    Raises `DTypeError`, `ShapeError` or `NamesError` for a carried value whose template changes.
    """
    with expect_repeats():
        body = trace()
        for _ in range(_ROUNDS):
            if not _adapt(carried, body):
                break
            body = trace()
        while _widen(carried, body):
            body = trace()
    for position, before in enumerate(carried.templates):
        if position in body.numbers and before.dtype is not body.graph.results[position].dtype:
            with suppress(TensorBackendError):  # the check below names the carried value
                body = body.cast_number(position, before.dtype)
    for path, before, after in zip(carried.paths, carried.templates, body.graph.results, strict=False):
        wider = after.dtype.is_inexact and before.dtype.is_numeric
        start = f"start with dtype {after.dtype.name!r}, or " if wider else ""
        check_same(
            f"{path} to stay {before!r} from iteration to iteration", before, after, "returned", "in the body", start
        )
    return body


def _widen(carried: Leaves, body: TracedFunction) -> bool:
    """Marks carried values as varying over the mesh axes of the body's results; returns whether any was not."""
    if current_mesh() is None:
        return False
    known: Known = {}
    outputs = zip(carried.varying, body.graph.outputs, strict=False)
    after = [before.union(varies(value, known)) for before, value in outputs]
    changed = after != carried.varying
    carried.varying = after
    return changed


def _adapt(carried: Leaves, body: TracedFunction) -> bool:
    """Sets the dtypes of carried Python numbers to those that the body returns; returns whether any dtype changed."""
    changed = False
    for position, leaf in enumerate(carried.leaves):
        before, after = carried.templates[position], body.graph.results[position]
        if isinstance(leaf, Tensor) or after.shape or after.dtype is before.dtype:
            continue
        returned = body.numbers.get(position)
        if (returned is None or not _fits(returned, before)) and _fits(leaf, after):
            carried.templates[position] = after
            changed = True
    return changed


def _fits(number: Scalar, template: Template) -> bool:
    try:
        check_scalar(number, template.dtype)
    except TensorBackendError:
        return False
    return True


def check_same(expectation: str, before: Template, after: Template, came: str, where: str, start: str = "") -> None:
    """Raises the error for the first difference between two templates: in dtype, shape or names."""
    if before is after:
        return
    kind: type[TensorBackendError]
    if before.dtype is not after.dtype:
        kind, remedy = DTypeError, f"{start}cast it {where} with astype(..., {before.dtype.name!r})"
    elif before.shape != after.shape:
        kind, remedy = ShapeError, f"reshape, reduce or broadcast it {where}"
    else:
        kind, remedy = NamesError, f"name its axes {where} with rename({', '.join(map(repr, before.names))})"
    raise kind(expected(expectation, remedy, **{came: after}))
