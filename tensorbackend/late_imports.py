"""The parts of the package that are loaded late: backends, fall-backs of primitives, programs of composites, and the
public names that many programs never use.

Lower layers know none of these by name. They request them through the entries added here when `tensorbackend` is
imported, so a backend's module and its library are imported when the backend is first requested.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from .dispatch import programs
from .dispatch.fallbacks import load_fallbacks
from .expr import compute_again
from .protocol import Backend, Kernel
from .protocol.callbacks import CompositeCall
from .select import build_in
from .tensor.methods import load_ops

if TYPE_CHECKING:
    from .expr.graph import Graph

NAMESPACES = ("checkpoints", "distributed", "fft", "linalg", "nn", "optimize", "ragged", "random", "solvers", "sparse")
"""The public modules, each of which is imported on first use."""

MODULES = {
    name: module
    for module, names in {
        "axis_types": "check_axes",
        "expr.along": "associative_scan map_along_axis",
        "expr.choice": "cond switch",
        "expr.collectives": "all_gather all_to_all axis_index pmax pmean pmin psum psum_scatter",
        "expr.containers": "backend_copy backend_deallocate backend_of backend_transfer is_concrete",
        "expr.comparing.compare": "compare",
        "expr.comparing.recording": "record_run",
        "expr.compilations": "explain_compilations",
        "expr.control": "fori_loop scan",
        "costs.dry_run": "dry_run",
        "costs.fit": "fit",
        "costs.largest": "largest_size",
        "costs.mesh.search": "search_layouts",
        "looped.divisors": "gcd lcm",
        "expr.grad.checkpoint": "checkpoint",
        "expr.grad.custom": "custom_gradient",
        "expr.grad.custom_jvp": "custom_jvp",
        "expr.grad.forward": "jvp linearize",
        "expr.grad.functions": "grad value_and_grad vjp",
        "expr.grad.jacobians": "hessian jacfwd jacobian",
        "expr.grad.tape": "current_tape gradient tape",
        "expr.hooks": "debug_callback debug_print host_call",
        "expr.jit": "jit",
        "expr.libraries": "for_arrays",
        "expr.name_scopes": "name_scope",
        "expr.nonfinite": "debug_nans",
        "costs.profile.limits": "Limits machine_limits",
        "costs.profile.profiles": "current_profile Profile profile profile_function",
        "looped.incomplete_beta": "betainc",
        "expr.saved_graphs": "load_graph save_graph",
        "expr.shards": "shard_map",
        "expr.trace": "trace",
        "expr.tree_containers": "register_tree_node",
        "expr.trees": "tree_flatten tree_leaves tree_map tree_map_with_path tree_unflatten",
        "expr.vmap": "vmap",
        "expr.while_loops": "while_loop",
        "files": "load save",
        "ops.composite.indexing.grids": "grid_sample",
        "ops.composite.indexing.resampling": "resize",
        "ops.composite.indexing.segments": "segment_argmax segment_logsumexp segment_max segment_mean segment_min "
        "segment_nanmean segment_prod segment_sum",
        "ops.composite.indexing.selection": "compress repeat",
        "ops.composite.indexing.updates": "add_along_axis indexed_logsumexp indexed_max indexed_mean indexed_min "
        "indexed_prod",
        "ops.composite.elementwise.polynomials": "polyval",
        "ops.composite.reduction.missing_values": "nanmax nanmean nanmedian nanmin nanpercentile nanprod nanquantile "
        "nanstd nansum nanvar weighted_nanmean",
        "ops.composite.convolution": "convolve correlate",
        "ops.composite.shape.triangles": "make_diagonal meshgrid put_diagonal take_diagonal tril triu",
        "ops.composite.sorting.interpolation": "interp",
        "ops.composite.sorting.order_statistics": "median mode percentile quantile",
        "ops.composite.sorting.searching": "digitize isin searchsorted top_k",
        "ops.composite.special.bessel": "i0 i0e i1 i1e j0 j1",
        "ops.composite.special.zeta": "factorial polygamma zeta",
        "ops.composite.special.normal": "ndtri",
        "ops.composite.window": "fold unfold window_argmax window_argmin window_mean window_nanmean",
        "ops.convolution": "conv",
        "ops.counting": "bincount histogram histogram2d",
        "ops.creation.ranges": "arange geomspace linspace logspace",
        "ops.editing": "delete insert",
        "ops.functional": "map reduce",
        "ops.set_operations": "intersect1d setdiff1d setxor1d union1d",
        "ops.sets": "unique_all unique_counts unique_inverse unique_values",
        "ops.sorting": "argpartition argsort lexsort partition sort",
        "ops.special": "digamma gamma_inc_l gamma_inc_u lgamma",
        "ops.statistics": "correlation covariance polyfit sample_gradient",
        "quantized.gguf": "load_gguf",
        "quantized.matrix": "Quantized",
        "quantized.products": "quantized_dot",
        "quantized.safetensors": "load_quantized",
        "quantized.rounding": "dequantize quantize round_quantized",
        "ops.window": "window_max window_min window_prod window_reduce window_scatter_max window_scatter_min "
        "window_sum",
    }.items()
    for name in names.split()
}
"""The module of each public name that is imported on first use."""


_BACKENDS = {
    "binary": "backends.binary",
    "cupy": "backends.cupy_backend",
    "expr": "expr.expr_backend",
    "jax": "backends.jax_backend",
    "numpy": "backends.numpy_backend",
    "template": "backends.template_backend",
}
"""The module of the class of each backend of the package, by the backend's name."""


def _backend_class(name: str) -> type[Backend]:
    kind: type[Backend] = getattr(import_module(f".{_BACKENDS[name]}", __package__), f"{name.capitalize()}Backend")
    return kind


@load_ops.supply
@cache
def _ops() -> None:
    from pkgutil import walk_packages

    from . import ops

    for module in walk_packages(ops.__path__, f"{ops.__name__}."):
        if ".fallbacks" not in module.name:  # fall-backs declare no op
            import_module(module.name)


@load_fallbacks.supply
def _fallbacks() -> None:
    from .ops import fallbacks  # noqa: F401 # importing the package declares them


@programs.supply
def _program(backend: Backend, default: Callable[..., Any], call: CompositeCall) -> Kernel | None:
    from .expr.composite_programs import program_of

    return program_of(backend, default, call)


@compute_again.supply
def _rematerialized(graph: Graph, donated: Sequence[int]) -> Graph:
    from .costs.rematerialization import rematerialized

    return rematerialized(graph, donated)


for _name in _BACKENDS:
    build_in(_name, partial(_backend_class, _name))
