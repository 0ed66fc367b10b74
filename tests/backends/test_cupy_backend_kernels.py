"""What CuPy makes of a chain that is fused compiles, by NVRTC, which needs no GPU.

CuPy traces the chain with arrays that have a dtype and a shape but no memory, and its source is compiled for a device
of compute capability 8.0. It needs `cupy-cuda12x`, `nvidia-cuda-nvrtc-cu12` and `nvidia-cuda-runtime-cu12`, as `make
gpu` installs them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy
import pytest

import tensorbackend as tb
from tensorbackend.backends.array_module.fusion import Chain, prepare
from tensorbackend.backends.cupy_backend import CupyBackend
from tensorbackend.backends.cupy_module import CupyModule
from tensorbackend.declarations.op_specs import CALLBACKS, OPS
from tensorbackend.dtypes import ALL_DTYPES, DType
from tensorbackend.errors import DTypeError
from tensorbackend.expr.trace import trace_leaves
from tensorbackend.interchange import numpy_dtype
from tensorbackend.testing.source import public

NAMES = sorted(
    name
    for name, spec in OPS.items()
    if spec.kind == "primitive" and CALLBACKS[spec.callback].elementwise and spec.callback not in ("as_type", "bitcast")
)


class Compiler:
    """Traces functions as `cupy.fuse` does, and compiles what it writes."""

    def __init__(self, cupy: Any) -> None:
        self.cupy = cupy
        self.compiled: set[str] = set()
        package = Path(cupy.__file__).parent
        headers = package / "_core" / "include"
        library = headers / "cupy" / "_cccl"
        # The headers of CUDA 12 are in cuda_runtime, those of CUDA 13 in cu13; a toolkit may be installed instead.
        runtimes = [*package.parent.glob("nvidia/*/include"), Path("/usr/local/cuda/include")]
        folders = [*(library / name for name in ("thrust", "libcudacxx", "cub")), headers, *runtimes]
        self.options = [*(f"-I{folder}" for folder in folders), "-arch=sm_80", "--std=c++17"]

    def array(self, template: tb.Template) -> Any:
        """An array with an address that nobody reads."""
        memory = self.cupy.cuda.memory
        nowhere = memory.MemoryPointer(memory.UnownedMemory(1 << 20, 1 << 12, None, device_id=0), 0)
        return self.cupy.ndarray(template.shape, numpy_dtype(template.dtype), memptr=nowhere)

    def source(self, chain: Chain) -> str:
        """The source of the kernel that CuPy makes of a chain."""
        from cupy._core import _carray, _kernel, fusion  # type: ignore[import-not-found]
        from cupy._core._fusion_thread_local import thread_local  # type: ignore[import-not-found]

        arrays = tuple(self.array(value.template) for value in chain.inputs)
        thread_local.history = history = fusion._FusionHistory()
        thread_local.is_old_fusing = True
        try:
            kernel, _ = history.get_fusion(chain.kernel, arrays, "fused")
        finally:
            thread_local.history, thread_local.is_old_fusing = None, False
        arguments = [_kernel._ArgInfo(1, self.cupy.ndarray, each.dtype, 1, True, True) for each in kernel.params[:-1]]
        arguments.append(_kernel._ArgInfo(2, _carray.Indexer, None, 1, True, True))
        types = _kernel._TypeMap(())
        source: str = _kernel._get_elementwise_kernel_code(
            tuple(arguments), types, kernel.params, kernel.operation, "fused", kernel.preamble
        )
        return source

    def compile(self, source: str) -> str:
        """What NVRTC says of a source: nothing if it compiles."""
        from cupy_backends.cuda.libs import nvrtc  # type: ignore[import-not-found]

        if source in self.compiled:
            return ""
        includes = "".join(f"#include <cupy/{name}.cuh>\n" for name in ("complex", "carray", "atomics"))
        program = nvrtc.createProgram(includes + source, "fused.cu", [], [])
        try:
            nvrtc.compileProgram(program, self.options)
        except nvrtc.NVRTCError:
            return str(nvrtc.getProgramLog(program))
        finally:
            nvrtc.destroyProgram(program)
        self.compiled.add(source)
        return ""


class Unconnected(CupyBackend):
    """The backend without a device: its graphs are prepared, and their chains are functions of arrays."""

    def setup(self) -> None:
        import cupy  # type: ignore[import-not-found]
        import cupyx  # type: ignore[import-not-found]

        self._cupy, self._cupyx, self.xp = cupy, cupyx, CupyModule(cupy, cupyx)
        self.device, self._device = "cuda:0", nullcontext()
        self.fuse = lambda function: function

    def constant(self, out: tb.Template, /, *, value: Any) -> Any:
        """A number, which a chain holds in its source."""
        return numpy.full(out.shape, value, numpy_dtype(out.dtype))

    def violation(self, out: tb.Template, data: Any, /) -> str | None:
        """Nothing, as its numbers are NumPy's."""
        return None

    def to_numpy(self, x: tb.Tensor, /, *_: Any) -> Any:
        """The number."""
        return x.data


@pytest.fixture(scope="module")
def compiler() -> Compiler:
    # CuPy is there on machines with a GPU alone: no extra for tests installs it.
    cupy = pytest.importorskip("cupy")
    nvrtc = pytest.importorskip("cupy_backends.cuda.libs.nvrtc")
    assert nvrtc.getVersion() >= (12, 0)
    return Compiler(cupy)


def dtypes_of(name: str) -> list[DType]:
    """The dtypes that an op is asked for: all for a number of examples that is given, else a third of them."""
    return [
        dtype
        for number, dtype in enumerate(ALL_DTYPES)
        if "TENSORBACKEND_EXAMPLES" in os.environ or (crc32(name.encode()) + number) % 3 == 0
    ]


def chains(
    function: Callable[[Sequence[tb.Tensor]], tb.Tensor], operands: Sequence[tb.Tensor], backend: CupyBackend
) -> list[Chain]:
    """The fused chains of a function's graph."""
    graph = trace_leaves(function, operands, [f"x{number}" for number in range(len(operands))])
    defaults = [node.default for node in prepare(graph, backend).nodes if node.op == "fused"]
    return [default for default in defaults if isinstance(default, Chain)]


def chains_of_op(name: str, dtype: DType, backend: CupyBackend) -> list[Chain]:
    """The chains that compare an op's result with itself; empty if the op refuses the dtype."""
    operands = [tb.zeros((3, 5), dtype=dtype, backend="template") for _ in CALLBACKS[OPS[name].callback].inputs]

    def compare(arguments: Sequence[tb.Tensor]) -> tb.Tensor:
        result = public(name)(*arguments)
        return tb.equal(result, result)

    try:
        return chains(compare, operands, backend)
    except DTypeError:
        return []


def test_the_kernel_of_each_op_compiles(compiler: Compiler) -> None:
    backend = Unconnected()
    faults = {}
    for name in NAMES:
        for dtype in dtypes_of(name):
            for chain in chains_of_op(name, dtype, backend):
                fault = compiler.compile(compiler.source(chain))
                if fault:
                    faults[name, dtype.name] = fault
    assert not faults
    assert len(compiler.compiled) > 60


def test_a_kernel_of_many_ops_compiles(compiler: Compiler) -> None:
    """The activation of a network with its gradient's factors."""

    def activation(traced: Sequence[tb.Tensor]) -> tb.Tensor:
        (x,) = traced
        inner = 0.7978845608 * (x + 0.044715 * x**3)
        return tb.where(x > 0, 0.5 * x * (1 + tb.tanh(inner)), tb.exp(-x * x) / (1 + tb.abs(x)))

    backend = Unconnected()
    for dtype in ("float16", "float32", "float64"):
        found = chains(activation, [tb.zeros((3, 5), dtype=dtype, backend="template")], backend)
        assert max(len(chain.nodes) for chain in found) > 5
        assert [compiler.compile(compiler.source(chain)) for chain in found] == [""] * len(found)


def test_a_source_with_an_error_is_found(compiler: Compiler) -> None:
    assert "identifier" in compiler.compile('extern "C" __global__ void fused(float *x) { x[0] = missing; }')
