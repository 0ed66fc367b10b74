"""Programs for many sizes: a graph that was traced with symbolic sizes runs for all shapes that satisfy its guards.

From the third size of an axis on, `jit` traces its function with a symbolic size for each axis whose size has varied. A
branch of the function on a size becomes a guard. If the function needs the number, as in `range(x.shape[0])`, the
program is for that size only.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, Final

from ..caching.memos import POLICY
from ..dispatch.resizing import Leaves
from ..errors import RecompilationWarning
from ..protocol import Backend, Kernel
from ..sizes import NeedsSizes, SizeTrace
from ..template import Template, intern_template, template_of_kind
from ..tensor import Tensor
from .evaluate import Program, note
from .graph import Graph
from .node import frames_to_user
from .simplify import simplified
from .tree_containers import Tree
from .trees import unflatten

Shapes = tuple[tuple[int, ...], ...]


class SizedProgram:
    """The program of a graph with symbolic sizes, on one backend."""

    def __init__(self, graph: Graph, trace: SizeTrace, backend: Backend) -> None:
        leaves = Leaves()
        self.backend: Final = backend
        self.out_tree: Final[Tree] = graph.out_tree
        self.written: Final = graph.written
        self.kinds: Final = [x.kind for x in graph.results]
        self.kernel: Final[Kernel] = Program(simplified(graph, backend), backend, entered_once=True).kernel
        self.build: Final[Callable[[Any], Kernel] | None] = leaves.builder(self.kernel)
        shapes = tuple([x.shape for x in graph.results])
        self.shapes: Final = trace.function((shapes, tuple(leaves.values)))
        """Takes the shape of each argument; returns the shapes of the results, and the numbers in the kernel."""

    def run(self, found: tuple[Any, ...], tensors: Sequence[Tensor]) -> Any:
        """The result for tensors, nested as the function nests it; `self.shapes` returned `found` for their shapes."""
        shapes, numbers = found
        kernel = self.kernel if self.build is None else self.build(numbers)
        try:
            payloads = kernel(*[x.data for x in tensors])
        except NeedsSizes:
            raise
        except Exception as error:  # each error of a kernel gets a note with the op and its line
            note(error, self.backend)
            raise
        results = [
            Tensor(template_of_kind(kind, shape), self.backend, data)
            for kind, shape, data in zip(self.kinds, shapes, payloads, strict=True)
        ]
        return unflatten(self.out_tree, results)


class SizedPrograms:
    """The programs of a function for arguments that differ only in sizes."""

    def __init__(self) -> None:
        self.programs: Final[list[SizedProgram]] = []
        self.compiled: Final[list[Shapes]] = []
        """The first shapes that were compiled exactly."""
        self.met: Final[dict[Shapes, int]] = {}
        """The number of calls with each shape."""
        self.warned = False
        self.failed = False
        """Whether a program for many sizes could not be made, or needed a number in the end."""

    def find(self, shapes: Shapes) -> tuple[SizedProgram, tuple[Any, ...]] | None:
        """A program for such shapes, with what `SizedProgram.run` needs; `None` if they should be compiled."""
        if self.failed or not self.programs:
            return None
        times = self.met.get(shapes, 0) + 1
        if times > POLICY.calls_before_exact_program:
            return None
        if len(self.met) >= POLICY.shapes_counted:
            self.met.clear()
        self.met[shapes] = times
        for program in self.programs:
            try:
                found = program.shapes(*shapes)
            except ArithmeticError:  # a guard that divides by a size of 0
                continue
            if found is not None:
                return program, found
        return None

    def warn(self, shapes: Shapes, paths: Sequence[str], name: str) -> None:
        """Counts shapes that must be compiled separately; warns once there are many.

        `paths` are those of the arguments, `name` is the name of the function.
        """
        if self.warned:
            return
        self.compiled.append(shapes)
        many = POLICY.compilations_before_warning
        if len(self.compiled) < many:
            return
        self.warned = True
        varied = [
            f"axis {axis} of {path}"
            for place, path in enumerate(paths)
            for axis in range(len(shapes[place]))
            if len({other[place][axis] for other in self.compiled}) > many // 2
        ]
        remedy = "pad it to a few sizes, sort examples into batches of equal sizes, or use tb.ragged"
        text = f"{name}: compiled for {many} shapes of its arguments; {', '.join(varied)} varies: {remedy}"
        warnings.warn(text, RecompilationWarning, stacklevel=frames_to_user())

    def add(
        self, templates: Sequence[Template], backend: Backend, traced: Callable[[list[Template]], Graph]
    ) -> SizedProgram | None:
        """A program for the sizes of such arguments and others; `None` after too few sizes, or if it fails."""
        shapes = tuple([x.shape for x in templates])
        if len(self.compiled) < POLICY.shapes_before_symbolic:
            self.compiled.append(shapes)
            return None
        if self.failed or not backend.plans_kinds or len(self.programs) >= POLICY.plans_of_a_kind:
            return None
        trace = SizeTrace(numbers=True)
        symbolic = []
        for place, template in enumerate(templates):
            varies = [
                any(other[place][axis] != size for other in self.compiled) for axis, size in enumerate(template.shape)
            ]
            shape: Any = trace.shape(template.shape, fixed=[not each for each in varies])
            symbolic.append(intern_template(shape, template.dtype, template.names, template.weak))
        try:
            program = SizedProgram(traced(symbolic), trace, backend)
        except Exception:  # whatever the function, a rule or a kernel raises on sizes that are not numbers
            self.failed = True
            return None
        finally:
            trace.open = False
        if trace.failed:
            self.failed = True
            return None
        self.programs.append(program)
        return program
