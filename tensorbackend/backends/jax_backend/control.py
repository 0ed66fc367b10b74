"""Control flow as XLA compiles it, each graph traced by JAX once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy

from ...expr.evaluate import evaluate
from ...expr.graph import Graph
from ...interchange import numpy_dtype
from ...protocol import Kernel, Payload, planned
from ...select import get_backend
from ...template import Template
from ...tensor import Tensor
from ..array_module.base import Array
from .base import JaxBase

Arrays = tuple[Array, ...]


class JaxControl(JaxBase):
    """A choice between graphs, and loops."""

    @planned
    def checkpoint(self, out: tuple[Template, ...], operands: Sequence[Template], /, *, body: Graph) -> Kernel:
        """A kernel that runs a graph behind a barrier. Otherwise XLA would find that other ops compute the same values,
        and keep those.

        On a CPU XLA removes barriers. There the graph is the branch of a condition that is always true, which XLA does
        not know: so it merges nothing, and frees the values of the branch at its end.
        """
        run, barrier = self._of(body), self.lax.optimization_barrier
        if self.platform != "cpu":
            return lambda arrays: run(*barrier(tuple(arrays)))
        lax, xp = self.lax, self.xp

        def compute_apart(arrays: Sequence[Array]) -> Payload:
            shapes = self.jax.eval_shape(run, *arrays)
            always = lax.rng_uniform(numpy.float32(0), numpy.float32(1), ()) < 2

            def nothing(*arrays: Array) -> Payload:
                return self.jax.tree.map(lambda shape: xp.zeros(shape.shape, shape.dtype), shapes)

            return lax.cond(always, run, nothing, *arrays)

        return compute_apart

    def debug_callback(
        self, out: tuple[Template, ...], carried: Sequence[Tensor], operands: Sequence[Tensor], /, *,
        function: Callable[..., object] | None,
    ) -> Payload:  # fmt: skip
        """Calls a function on the host with the operands, and returns the carried payloads.

        While JAX traces, the program makes the call when the data are there. The call returns the carried payloads,
        which are the token of the next call, so that the calls keep their order.
        """
        data, operand_arrays = (tuple([x.data for x in tensors]) for tensors in (carried, operands))
        if function is None:
            return data
        host = get_backend("numpy")

        def call_on_host(tokens: Arrays, arrays: Arrays) -> Arrays:
            pairs = zip(operands, arrays, strict=True)
            function(*[Tensor(x.template, host, self.on_host(array)) for x, array in pairs])
            return tuple(map(numpy.asarray, tokens))

        import numpy

        if not self._is_traced_call(data + operand_arrays):
            call_on_host(data, operand_arrays)
            return data
        shapes = tuple(self.jax.ShapeDtypeStruct(x.shape, x.dtype) for x in data)
        stopped = tuple(map(self.lax.stop_gradient, operand_arrays))
        return self.jax.experimental.io_callback(call_on_host, shapes, data, stopped)

    def host_call(
        self, out: tuple[Template, ...], operands: Sequence[Tensor], /, *,
        function: Callable[[Sequence[Tensor]], Sequence[Tensor]],
    ) -> Payload:  # fmt: skip
        """Calls a function on the host; while JAX traces, the program makes the call when the data are there."""

        host, data = get_backend("numpy"), tuple([x.data for x in operands])

        def call_on_host(*arrays: Array) -> Arrays:
            pairs = zip(operands, arrays, strict=True)
            tensors = function([Tensor(x.template, host, self.on_host(array)) for x, array in pairs])
            return tuple([x.data for x in tensors])

        if not self._is_traced_call(data):
            return tuple(map(self.xp.asarray, call_on_host(*data)))
        shapes = tuple(self.jax.ShapeDtypeStruct(x.shape, numpy_dtype(x.dtype)) for x in out)
        return self.jax.pure_callback(call_on_host, shapes, *data, vmap_method="sequential")

    @planned
    def collective(
        self, out: tuple[Template, ...], operands: Sequence[Template], /, *, kind: str, axes: tuple[str, ...],
        axis: int, other: int,
    ) -> Kernel:  # fmt: skip
        """A kernel that combines values of the devices along mesh axes, inside a function that JAX maps over a mesh."""
        lax = self.lax
        functions: Mapping[str, Callable[..., Array]] = {
            "sum": lambda x: lax.psum(x, axes),
            "max": lambda x: lax.pmax(x, axes),
            "min": lambda x: lax.pmin(x, axes),
            "gather": lambda x: lax.all_gather(x, axes, axis=axis, tiled=True),
            "scatter": lambda x: lax.psum_scatter(x, axes, scatter_dimension=axis, tiled=True),
            "exchange": lambda x: lax.all_to_all(x, axes, axis, other, tiled=True),
            "vary": lambda x: x,
            "index": lambda: lax.axis_index(axes),
        }
        function = functions[kind]
        return lambda arrays: (function(*arrays),)

    @planned
    def cond(
        self, out: tuple[Template, ...], predicate: Template, operands: Sequence[Template], /, *, true_branch: Graph,
        false_branch: Graph,
    ) -> Kernel:  # fmt: skip
        """A kernel that runs one of two graphs."""
        cond, branches = self.lax.cond, (self._of(true_branch), self._of(false_branch))
        return lambda holds, arrays: cond(holds, *branches, *arrays)

    @planned
    def while_loop(
        self, out: tuple[Template, ...], constants: Sequence[Template], initial: Sequence[Template], /, *,
        condition: Graph, body: Graph, limit: int | None,
    ) -> Kernel:  # fmt: skip
        """A kernel that runs the body while a condition holds.

        With a limit it is a scan of `limit` steps, which do nothing once the condition has failed: JAX has a gradient
        of a scan.
        """
        lax, holds, iteration = self.lax, self._of(condition), self._of(body)

        def run_unlimited(held: Sequence[Array], start: Sequence[Array]) -> Arrays:
            final_state: Arrays = lax.while_loop(
                lambda carried: holds(*held, *carried)[0], lambda carried: iteration(*held, *carried), tuple(start)
            )
            return final_state

        def run_limited(held: Sequence[Array], start: Sequence[Array]) -> Arrays:
            def step(state: tuple[Array, Arrays], entry: None) -> tuple[tuple[Array, Arrays], None]:
                goes_on, carried = state
                goes_on = goes_on & holds(*held, *carried)[0]
                return (goes_on, lax.cond(goes_on, partial(iteration, *held), lambda *same: same, *carried)), None

            final_state: Arrays = lax.scan(step, (self.xp.asarray(True), tuple(start)), None, length=limit)[0][1]
            return final_state

        return run_unlimited if limit is None else run_limited

    @planned
    def scan(
        self, out: tuple[Template, ...], constants: Sequence[Template], initial: Sequence[Template],
        xs: Sequence[Template], /, *, body: Graph, length: int, reverse: bool,
    ) -> Kernel:  # fmt: skip
        """A kernel that runs the body for each entry along the first axis."""
        scan, count, run = self.lax.scan, len(initial), self._of(body)

        def kernel(held: Sequence[Array], start: Sequence[Array], rows: Sequence[Array]) -> Arrays:
            def step(carried: Arrays, entries: Arrays) -> tuple[Arrays, Arrays]:
                results = run(*held, *carried, *entries)
                return results[:count], results[count:]

            carried, ys = scan(step, tuple(start), tuple(rows), length=length, reverse=reverse)
            return (*carried, *ys)

        return kernel

    def _is_traced_call(self, arrays: Arrays) -> bool:
        """Whether a call becomes a part of a program that JAX traces, even if its operands are constants.

        Inside a loop, such a call is then made in each iteration, and inside a branch only if the branch is taken.
        """
        # In a function that JAX compiles, the result of every op is traced.
        return any(map(self.traced, arrays)) or self.traced(self.xp.zeros(()))

    def _of(self, graph: Graph) -> Callable[..., Arrays]:
        """A graph as a function of arrays."""

        def run(*arrays: Array) -> Arrays:
            tensors = [Tensor(template, self, data) for template, data in zip(graph.templates, arrays, strict=True)]
            return tuple(x.data for x in evaluate(graph, tensors, self))

        return run
