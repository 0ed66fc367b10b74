"""How much of a function runs in the engine, and why the rest does not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import tensorbackend as tb
from tensorbackend.errors import ArgumentError, expected
from tensorbackend.expr.node import Line

from .backend import OnnxRuntimeBackend
from .programs import EngineProgram
from .sessions import providers_used


class Elsewhere(NamedTuple):
    """An op that NumPy computes."""

    op: str
    line: Line | None
    """The user's line."""
    reason: str


class Placement(NamedTuple):
    """Where the ops of a function run; as text, a line for each op of NumPy's."""

    ops: int
    """The number of ops, after simplification; constants do not count."""
    sessions: int
    """The number of sessions."""
    operators: dict[str, int]
    """How many operators of the sessions each execution provider runs, after the engine has joined some."""
    elsewhere: tuple[Elsewhere, ...]
    """The ops that NumPy computes."""

    def __repr__(self) -> str:
        inside = self.ops - len(self.elsewhere)
        used = ", ".join(f"{count} operators by {name}" for name, count in sorted(self.operators.items()))
        lines = [f"{inside} of {self.ops} ops in {self.sessions} sessions of onnxruntime{f': {used}' if used else ''}"]
        lines += [
            f"{count} {op}{f', {line}' if line else ''}: {reason}"
            for (op, line, reason), count in Counter(self.elsewhere).items()
        ]
        return "\n".join(lines)


def placement(function: Callable[..., Any], *arguments: Any, backend: tb.BackendLike = "onnxruntime") -> Placement:
    """Say which ops of a function run in sessions of ONNX Runtime, and why the others do not.

    Parameters
    ----------
    function
        A function of tensors, as `tb.jit` takes it.
    *arguments
        Its arguments; templates or text such as `"f32[8, 3]"` may stand for tensors.
    backend
        An instance of the backend, such as one on another device.

    Returns
    -------
    Placement
        Numbers of ops, sessions and operators, and the ops that NumPy computes with their lines and reasons.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> placement(lambda x: tb.linalg.qr(tb.exp(x) @ x)[1], "f32[2, 2]").elsewhere[0].op
    'qr'
    """
    chosen = tb.get_backend(backend)
    if not isinstance(chosen, OnnxRuntimeBackend):
        raise ArgumentError(expected("a backend of onnxruntime", backend=chosen))
    program = EngineProgram(tb.trace(function)(*arguments), chosen)
    operators: Counter[str] = Counter()
    for session in program.sessions:
        if session is not None:
            operators.update(providers_used(session))
    nodes = [node for stage in program.stages for node in stage.nodes]
    elsewhere = tuple(Elsewhere(node.op, node.line, program.reasons[node]) for node in nodes if node in program.reasons)
    inside = sum(session is not None for session in program.sessions)
    return Placement(len(nodes), inside, dict(operators), elsewhere)
