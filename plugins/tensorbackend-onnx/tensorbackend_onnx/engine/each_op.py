"""Each op in a session of its own: for tests of an engine, and to find which op of it differs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tensorbackend import Template, get_backend
from tensorbackend.expr.graph import subgraphs
from tensorbackend.expr.node import PARAMETER, Node, Value
from tensorbackend.extending import Graph
from tensorbackend.protocol import Kernel, kernel_of, planned

from ..exporting.writer import WRITES
from .backend import OnnxRuntimeBackend
from .differences import reason, rows
from .programs import session
from .sessions import Refused, flat, kernel_of_session

if TYPE_CHECKING:
    from tensorbackend.testing import Divergence


class OnnxRuntimeOps(OnnxRuntimeBackend):
    """Runs each op that the engine has in a session of its own, which is kept for its templates and options.

    A session takes several times as long as NumPy's function of a few elements. So this is for tests of an engine,
    `tensorbackend check onnxruntime_ops`, and for `tb.compare`, which names the op that differs.

    >>> import tensorbackend as tb
    >>> tb.exp(tb.tensor([0.0], backend="onnxruntime_ops"))
    f32[1] onnxruntime_ops [1.0]
    """

    name = "onnxruntime_ops"
    plans_kinds = False
    default_threads = 1  # as the threads of thousands of sessions would wait for work in loops

    def divergences(self) -> Sequence[Divergence]:
        """Where the engine's results have fewer digits, each with its reason."""
        return rows()

    def kernel_of_op(self, name: str, out: Any, inputs: Any, options: Mapping[str, Any]) -> Kernel | None:
        """The session's kernel of one op; `None` if NumPy computes it."""
        values = [
            tuple(map(_parameter, given)) if isinstance(given, tuple) else given and _parameter(given)
            for given in inputs
        ]
        node = Node(name, out, tuple(values), options)
        if subgraphs(node) or reason(node, self.device) is not None:
            return None
        try:
            run = kernel_of_session(session(Graph(node.operands, node.values), self))
        except Refused:
            return None
        if isinstance(out, Template):
            return lambda *payloads: run(*flat(payloads))[0]
        return lambda *payloads: tuple(run(*flat(payloads)))


def _parameter(template: Template) -> Value:
    return Value(Node(PARAMETER, template))


def _callback(name: str, ours: Callable[..., Any]) -> Callable[..., Any]:
    """A planned callback that asks the engine first."""

    def plan(self: OnnxRuntimeOps, out: Any, /, *inputs: Any, **options: Any) -> Kernel:
        kernel = self.kernel_of_op(name, out, inputs, options) if name in WRITES else None
        return kernel or kernel_of(getattr(get_backend("numpy"), name), out, *inputs, **options)

    plan.__name__, plan.__doc__ = name, f"In a session, or as NumPy computes it: {ours.__doc__}"
    return planned(plan)


# Those that ONNX lacks, too: NumPy's kernels call each other with arrays of other shapes, which no session takes.
for _name in dir(OnnxRuntimeBackend):
    _ours = getattr(OnnxRuntimeBackend, _name, None)
    if _ours is not None and hasattr(_ours, "__plan__"):
        setattr(OnnxRuntimeOps, _name, _callback(_name, _ours))
