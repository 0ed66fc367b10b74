"""Graphs as programs of sessions, and of NumPy's kernels for what the engine has not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onnx import ModelProto, printer
from tensorbackend.errors import UnsupportedOp
from tensorbackend.expr.node import Node
from tensorbackend.extending import Graph
from tensorbackend.protocol import Kernel

from ..exporting import export_graph
from ..exporting.writer import WRITES
from .differences import OPSET, reason
from .sessions import Refused, kernel_of_session, session_of
from .stages import Stage, chained, divided, prepared

if TYPE_CHECKING:
    from .backend import OnnxRuntimeBackend


class EngineProgram:
    """A graph that was divided among the engine and NumPy."""

    def __init__(self, graph: Graph, backend: OnnxRuntimeBackend) -> None:
        self.backend = backend
        self.graph = prepared(graph, backend, lambda node: node.op in WRITES and reason(node, backend.device) is None)
        self.reasons: dict[Node, str] = {}
        """Why NumPy computes a node, for those that it does compute."""
        for node in self.graph.nodes:
            found = reason(node, backend.device)
            if found is not None:
                self.reasons[node] = found
        while True:
            self.stages = divided(self.graph, lambda node: node not in self.reasons)
            try:
                self.sessions = [session(stage.graph(), backend) if stage.in_engine else None for stage in self.stages]
                break
            except Refused as error:
                self._note_refusals(str(error))

    def kernel(self) -> Kernel:
        """The function of the payloads of the arguments, which returns those of the results."""
        kernels = [
            self.backend.kernel_by_numpy(stage.graph()) if session is None else kernel_of_session(session)
            for stage, session in zip(self.stages, self.sessions, strict=True)
        ]
        return chained(self.graph, self.stages, kernels)

    def text(self) -> str:
        """The stages: models, and graphs that NumPy runs."""
        return "\n\n".join(
            printer.to_text(model_of(stage.graph())) if stage.in_engine else repr(stage.graph())
            for stage in self.stages
        )

    def _note_refusals(self, text: str) -> None:
        """Note the nodes that the engine refuses by themselves; if there are none, all of a stage that it refuses."""
        stages = [stage for stage in self.stages if stage.in_engine]
        alone = [
            Stage(True, [node], list(dict.fromkeys(node.operands)), [*node.values])
            for stage in stages
            for node in stage.nodes
        ]
        refused = {stage.nodes[0]: said for stage in alone if (said := self._refusal(stage))}
        if not refused:
            refused = dict.fromkeys(next(stage for stage in stages if self._refusal(stage)).nodes, text)
        self.reasons.update({node: f"onnxruntime: {said.splitlines()[0]}" for node, said in refused.items()})

    def _refusal(self, stage: Stage) -> str:
        """What the engine says of a stage; nothing if it takes it."""
        try:
            session(stage.graph(), self.backend)
        except Refused as error:
            return str(error)
        return ""


def model_of(graph: Graph) -> ModelProto:
    """The model that the engine gets of a graph; `UnsupportedOp` for an op that ONNX lacks."""
    return export_graph(graph, opset=OPSET, strict=True)[0]


def session(graph: Graph, backend: OnnxRuntimeBackend) -> Any:
    """The session of a graph of which ONNX has all nodes; `Refused` if the engine makes none."""
    try:
        model = model_of(graph)
    except UnsupportedOp as error:
        raise Refused(str(error)) from error
    return session_of(backend.runtime, model.SerializeToString(), backend.providers, backend.threads)
