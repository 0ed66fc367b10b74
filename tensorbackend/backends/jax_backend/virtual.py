"""XLA's own figures for a graph on a mesh, which a separate process compiles for virtual devices of the host.

    figures([(graph, layout)])        starts `python -m tensorbackend.backends.jax_backend.virtual`, which reads
                                      graphs, meshes and rules from standard input and writes XLA's figures

Nothing is run, and the arguments are templates, so that the mesh may have more devices than the machine.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from ...errors import BackendError, expected
from ...expr.cost.mesh.collectives import Compiled
from ...expr.graph import Graph
from ...expr.graph_pickle import from_bytes, to_bytes
from ...interchange import numpy_dtype
from ...mesh import Layout, Mesh
from ...select import get_backend

MARK = b"\nfigures: "
"""The mark on standard output between anything that the libraries print and the pickled figures."""


def figures(pairs: Sequence[tuple[Graph, Layout]]) -> list[Compiled]:
    """XLA's figures for graphs, the arguments and results of each laid out by the layout next to it."""
    packed = [(dict(layout.mesh.sizes), layout.rules, to_bytes(graph)) for graph, layout in pairs]
    most = max(layout.mesh.size for _, layout in pairs)
    environment = os.environ | {
        "JAX_PLATFORMS": "cpu",
        "NPROC": "32",
        "XLA_FLAGS": f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count={most}",
    }
    command = [sys.executable, "-m", __name__]
    done = subprocess.run(
        command, input=pickle.dumps((sys.path, packed)), env=environment, capture_output=True, check=False
    )
    _, mark, pickled = done.stdout.partition(MARK)
    if done.returncode or not mark:
        said = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        raise BackendError(expected("XLA to compile the function for virtual devices", devices=most, error=said))
    answers: list[Compiled] = pickle.loads(pickled)
    return answers


def compile_graph(graph: Graph, layout: Layout) -> Compiled:
    """XLA's figures for a graph; runs in the process that has the virtual devices."""
    import jax

    from .hlo import collectives

    backend: Any = type(get_backend("jax"))(mesh=layout.mesh, layout=dict(layout.rules))
    struct: Any = jax.ShapeDtypeStruct
    shapes = [struct(x.shape, numpy_dtype(x.dtype), sharding=backend.whole(x)) for x in graph.templates]
    program: Any = jax.jit(backend.program(graph)).lower(*shapes).compile()
    memory = program.memory_analysis()
    return Compiled(
        f"XLA of JAX {jax.__version__} on {layout.mesh.size} virtual devices",
        collectives(program.as_text()),
        memory.argument_size_in_bytes,
        memory.output_size_in_bytes,
        memory.temp_size_in_bytes,
        memory.alias_size_in_bytes,
        program.cost_analysis().get("flops", 0.0),
    )


def main() -> None:
    """Reads what `figures` sends, and writes the answers."""
    path, packed = pickle.load(sys.stdin.buffer)
    sys.path[:] = path
    answers = [compile_graph(from_bytes(data), Layout(Mesh(sizes), rules)) for sizes, rules, data in packed]
    sys.stdout.buffer.write(MARK + pickle.dumps(answers))


if __name__ == "__main__":
    main()
