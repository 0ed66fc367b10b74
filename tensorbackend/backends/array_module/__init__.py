"""The body of a backend on an array module with NumPy's functions, such as NumPy itself or CuPy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ...protocol import Kernel, Payload
from ...tensor import Tensor
from .contraction import ArrayContraction
from .convolution import ArrayConvolution
from .creation import ArrayCreation
from .cumulative import ArrayCumulative
from .elementwise import ArrayElementwise
from .fourier import ArrayFourier
from .functional import ArrayFunctional
from .indexing import ArrayIndexing
from .linalg.factorisations import ArrayLinalg
from .linalg.norms import ArrayNorms
from .random import ArrayRandom
from .shape import ArrayShaping
from .sorting import ArraySorting
from .special.functions import ArraySpecial
from .window import ArrayWindow

if TYPE_CHECKING:
    from ...expr.graph import Graph


class ArrayModuleBackend(
    ArrayCreation,
    ArrayElementwise,
    ArraySpecial,
    ArrayNorms,
    ArrayFunctional,
    ArrayCumulative,
    ArraySorting,
    ArrayShaping,
    ArrayIndexing,
    ArrayWindow,
    ArrayContraction,
    ArrayConvolution,
    ArrayLinalg,
    ArrayFourier,
    ArrayRandom,
):
    """Implements every callback by functions of `self.xp`.

    A subclass sets `xp` in `setup()`, defines transport, and overrides what its module lacks.
    """

    def versions(self) -> Mapping[str, str]:
        """The module's version."""
        return {self.xp.__name__: self.xp.__version__}

    donates = True

    def compile_graph(self, graph: Graph, /, *, donated: Sequence[int] = ()) -> Kernel:
        """A kernel of the graph, in which each chain of elementwise ops is one function or one kernel of the module."""
        from .fusion import compile_graph

        return compile_graph(graph, self, donated)

    def graph_text(self, graph: Graph, /) -> str:
        """The graph with its fused chains as single nodes."""
        from .fusion import prepare

        return repr(prepare(graph, self))

    def to_batched(self, x: Tensor, size: int, /) -> Iterator[Payload]:
        """Copies of consecutive runs of entries along the first axis."""
        return (x.data[start : start + size].copy() for start in range(0, x.shape[0], size))
