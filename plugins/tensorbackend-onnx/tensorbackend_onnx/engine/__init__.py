"""ONNX Runtime as a backend: what `tb.jit` compiles runs in its sessions, and what it lacks in NumPy's kernels."""

from .backend import OnnxRuntimeBackend as OnnxRuntimeBackend
from .each_op import OnnxRuntimeOps as OnnxRuntimeOps
from .report import Placement as Placement
from .report import placement as placement
