"""An eager tensor library with named axes whose every operation runs on a pluggable backend.

>>> import tensorbackend as tb
>>> x = tb.tensor([[1.0, 2.0], [3.0, 4.0]], names=("batch", "feature"))
>>> tb.sum(x, axis="feature")
f32[batch: 2] numpy [3.0, 7.0]
"""

from importlib import import_module as _import_module
from types import ModuleType as _ModuleType
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

# The package `backends` is imported first, so that the function `backends`, imported below, gets the name.
from . import backends as _package  # noqa: F401
from . import late_imports as _built_in
from .array_api import __array_api_version__ as __array_api_version__
from .array_api import __array_namespace_info__ as __array_namespace_info__
from .array_api import e as e
from .array_api import inf as inf
from .array_api import nan as nan
from .array_api import newaxis as newaxis
from .array_api import pi as pi
from .caching.memos import Cache as Cache
from .caching.memos import caches as caches
from .caching.memos import clear_caches as clear_caches
from .dispatch import composite as composite
from .dispatch import primitive as primitive
from .dtypes import DType as DType
from .dtypes import DTypeLike as DTypeLike
from .dtypes import autocast as autocast
from .dtypes import bfloat16 as bfloat16
from .dtypes import bool_ as bool  # noqa: F401 # the standard's name of the dtype
from .dtypes import complex64 as complex64
from .dtypes import complex128 as complex128
from .dtypes import default_dtype as default_dtype
from .dtypes import finfo as finfo
from .dtypes import float4_e2m1fn as float4_e2m1fn
from .dtypes import float8_e4m3fn as float8_e4m3fn
from .dtypes import float8_e5m2 as float8_e5m2
from .dtypes import float8_e8m0fnu as float8_e8m0fnu
from .dtypes import float16 as float16
from .dtypes import float32 as float32
from .dtypes import float64 as float64
from .dtypes import get_precision as get_precision
from .dtypes import iinfo as iinfo
from .dtypes import int2 as int2
from .dtypes import int4 as int4
from .dtypes import int8 as int8
from .dtypes import int16 as int16
from .dtypes import int32 as int32
from .dtypes import int64 as int64
from .dtypes import precision as precision
from .dtypes import set_precision as set_precision
from .dtypes import uint2 as uint2
from .dtypes import uint4 as uint4
from .dtypes import uint8 as uint8
from .dtypes import uint16 as uint16
from .dtypes import uint32 as uint32
from .dtypes import uint64 as uint64
from .errors.hints import find_alike as _find_alike
from .errors.tracebacks import install as _install
from .mesh import Mesh as Mesh
from .ops import numpy_calls as _numpy_calls  # noqa: F401 # binds the functions that NumPy's protocols call
from .ops.alignment import aligned as aligned
from .ops.alignment import merge_axes as merge_axes
from .ops.alignment import split_axis as split_axis
from .ops.composite.contraction import einsum as einsum
from .ops.composite.contraction import kron as kron
from .ops.composite.contraction import matmul as matmul
from .ops.composite.contraction import outer as outer
from .ops.composite.contraction import tensordot as tensordot
from .ops.composite.contraction import vecdot as vecdot
from .ops.composite.cumulative import cumulative_max as cumulative_max
from .ops.composite.cumulative import cumulative_min as cumulative_min
from .ops.composite.cumulative import cumulative_prod as cumulative_prod
from .ops.composite.cumulative import cumulative_sum as cumulative_sum
from .ops.composite.cumulative import diff as diff
from .ops.composite.cumulative import trapezoid as trapezoid
from .ops.composite.cumulative import unwrap as unwrap
from .ops.composite.elementwise.functions import complex as complex
from .ops.composite.elementwise.functions import copysign as copysign
from .ops.composite.elementwise.functions import divide_no_nan as divide_no_nan
from .ops.composite.elementwise.functions import fmod as fmod
from .ops.composite.elementwise.functions import hypot as hypot
from .ops.composite.elementwise.functions import isclose as isclose
from .ops.composite.elementwise.functions import isfinite as isfinite
from .ops.composite.elementwise.functions import log2 as log2
from .ops.composite.elementwise.functions import log10 as log10
from .ops.composite.elementwise.functions import logaddexp as logaddexp
from .ops.composite.elementwise.functions import logical_not as logical_not
from .ops.composite.elementwise.functions import nextafter as nextafter
from .ops.composite.elementwise.functions import phase as phase
from .ops.composite.elementwise.functions import positive as positive
from .ops.composite.elementwise.functions import reciprocal as reciprocal
from .ops.composite.elementwise.functions import scaled_gradient as scaled_gradient
from .ops.composite.elementwise.functions import signbit as signbit
from .ops.composite.elementwise.functions import square as square
from .ops.composite.elementwise.functions import stop_gradient as stop_gradient
from .ops.composite.elementwise.functions import trunc as trunc
from .ops.composite.indexing.positions import argwhere as argwhere
from .ops.composite.indexing.positions import nonzero as nonzero
from .ops.composite.indexing.positions import ravel_multi_index as ravel_multi_index
from .ops.composite.indexing.positions import unravel_index as unravel_index
from .ops.composite.reduction import all_close as all_close
from .ops.composite.reduction import count_nonzero as count_nonzero
from .ops.composite.reduction import logsumexp as logsumexp
from .ops.composite.reduction import mean as mean
from .ops.composite.reduction import std as std
from .ops.composite.reduction import var as var
from .ops.composite.reduction import weighted_mean as weighted_mean
from .ops.composite.reduction.probabilities import log_softmax as log_softmax
from .ops.composite.reduction.probabilities import softmax as softmax
from .ops.composite.shape.arranging import broadcast_arrays as broadcast_arrays
from .ops.composite.shape.arranging import moveaxis as moveaxis
from .ops.composite.shape.arranging import roll as roll
from .ops.composite.shape.arranging import split as split
from .ops.composite.shape.arranging import stack as stack
from .ops.composite.shape.arranging import tile as tile
from .ops.composite.shape.arranging import unstack as unstack
from .ops.contraction import dot as dot
from .ops.creation.filled import empty as empty
from .ops.creation.filled import empty_like as empty_like
from .ops.creation.filled import eye as eye
from .ops.creation.filled import from_binary as from_binary
from .ops.creation.filled import full as full
from .ops.creation.filled import full_like as full_like
from .ops.creation.filled import iota as iota
from .ops.creation.filled import ones as ones
from .ops.creation.filled import ones_like as ones_like
from .ops.creation.filled import rename as rename
from .ops.creation.filled import template as template
from .ops.creation.filled import tri as tri
from .ops.creation.filled import zeros as zeros
from .ops.creation.filled import zeros_like as zeros_like
from .ops.creation.values import asarray as asarray
from .ops.creation.values import from_dlpack as from_dlpack
from .ops.creation.values import tensor as tensor
from .ops.elementwise.basic import abs as abs
from .ops.elementwise.basic import astype as astype
from .ops.elementwise.basic import bitcast as bitcast
from .ops.elementwise.basic import bitwise_invert as bitwise_invert
from .ops.elementwise.basic import ceil as ceil
from .ops.elementwise.basic import clip as clip
from .ops.elementwise.basic import conj as conj
from .ops.elementwise.basic import count_leading_zeros as count_leading_zeros
from .ops.elementwise.basic import floor as floor
from .ops.elementwise.basic import imag as imag
from .ops.elementwise.basic import isinf as isinf
from .ops.elementwise.basic import isnan as isnan
from .ops.elementwise.basic import negative as negative
from .ops.elementwise.basic import population_count as population_count
from .ops.elementwise.basic import real as real
from .ops.elementwise.basic import round as round
from .ops.elementwise.basic import sign as sign
from .ops.elementwise.basic import where as where
from .ops.elementwise.binary import add as add
from .ops.elementwise.binary import atan2 as atan2
from .ops.elementwise.binary import bitwise_and as bitwise_and
from .ops.elementwise.binary import bitwise_left_shift as bitwise_left_shift
from .ops.elementwise.binary import bitwise_or as bitwise_or
from .ops.elementwise.binary import bitwise_right_shift as bitwise_right_shift
from .ops.elementwise.binary import bitwise_xor as bitwise_xor
from .ops.elementwise.binary import divide as divide
from .ops.elementwise.binary import equal as equal
from .ops.elementwise.binary import floor_divide as floor_divide
from .ops.elementwise.binary import greater as greater
from .ops.elementwise.binary import greater_equal as greater_equal
from .ops.elementwise.binary import less as less
from .ops.elementwise.binary import less_equal as less_equal
from .ops.elementwise.binary import logical_and as logical_and
from .ops.elementwise.binary import logical_or as logical_or
from .ops.elementwise.binary import logical_xor as logical_xor
from .ops.elementwise.binary import maximum as maximum
from .ops.elementwise.binary import minimum as minimum
from .ops.elementwise.binary import multiply as multiply
from .ops.elementwise.binary import not_equal as not_equal
from .ops.elementwise.binary import pow as pow
from .ops.elementwise.binary import remainder as remainder
from .ops.elementwise.binary import subtract as subtract
from .ops.elementwise.binary import trunc_divide as trunc_divide
from .ops.elementwise.complex_functions import cbrt as cbrt
from .ops.elementwise.complex_functions import rsqrt as rsqrt
from .ops.elementwise.complex_functions import sigmoid as sigmoid
from .ops.elementwise.transcendental import acos as acos
from .ops.elementwise.transcendental import acosh as acosh
from .ops.elementwise.transcendental import asin as asin
from .ops.elementwise.transcendental import asinh as asinh
from .ops.elementwise.transcendental import atan as atan
from .ops.elementwise.transcendental import atanh as atanh
from .ops.elementwise.transcendental import cos as cos
from .ops.elementwise.transcendental import cosh as cosh
from .ops.elementwise.transcendental import erf as erf
from .ops.elementwise.transcendental import erf_inv as erf_inv
from .ops.elementwise.transcendental import erfc as erfc
from .ops.elementwise.transcendental import exp as exp
from .ops.elementwise.transcendental import expm1 as expm1
from .ops.elementwise.transcendental import log as log
from .ops.elementwise.transcendental import log1p as log1p
from .ops.elementwise.transcendental import sin as sin
from .ops.elementwise.transcendental import sinh as sinh
from .ops.elementwise.transcendental import sqrt as sqrt
from .ops.elementwise.transcendental import tan as tan
from .ops.elementwise.transcendental import tanh as tanh
from .ops.indexing.assignment import put_at as put_at
from .ops.indexing.assignment import setitem as setitem
from .ops.indexing.getitem import getitem as getitem
from .ops.indexing.getitem import isel as isel
from .ops.indexing.scatter import gather as gather
from .ops.indexing.scatter import indexed_add as indexed_add
from .ops.indexing.scatter import indexed_put as indexed_put
from .ops.indexing.slices import put_slice as put_slice
from .ops.indexing.slices import slice_ as slice_
from .ops.indexing.taking import from_end as from_end
from .ops.indexing.taking import slice_along_axis as slice_along_axis
from .ops.indexing.taking import take as take
from .ops.indexing.taking import take_along_axis as take_along_axis
from .ops.inspection import can_cast as can_cast
from .ops.inspection import inspect as inspect
from .ops.inspection import isdtype as isdtype
from .ops.inspection import result_type as result_type
from .ops.inspection import show as show
from .ops.inspection import to_batched as to_batched
from .ops.padding import pad as pad
from .ops.padding import reflect as reflect
from .ops.reduction import all as all
from .ops.reduction import any as any
from .ops.reduction import argmax as argmax
from .ops.reduction import argmin as argmin
from .ops.reduction import max as max
from .ops.reduction import min as min
from .ops.reduction import prod as prod
from .ops.reduction import sum as sum
from .ops.shape import align_as as align_as
from .ops.shape import align_to as align_to
from .ops.shape import broadcast_shapes as broadcast_shapes
from .ops.shape import broadcast_to as broadcast_to
from .ops.shape import concat as concat
from .ops.shape import concatenate as concatenate
from .ops.shape import expand_dims as expand_dims
from .ops.shape import flip as flip
from .ops.shape import matrix_transpose as matrix_transpose
from .ops.shape import permute_dims as permute_dims
from .ops.shape import reshape as reshape
from .ops.shape import squeeze as squeeze
from .protocol import Backend as Backend
from .protocol import BackendLike as BackendLike
from .select import backend_class as _backend_class
from .select import backends as backends
from .select import class_names as _class_names
from .select import default_backend as default_backend
from .select import devices as devices
from .select import get_backend as get_backend
from .select import register_backend as register_backend
from .select import scoped_backend as scoped_backend
from .select import set_default_backend as set_default_backend
from .select.threads import set_threads as set_threads
from .select.threads import threads as threads
from .template import Template as Template
from .tensor import Device as Device
from .tensor import Tensor as Tensor
from .tensor import TensorLike as TensorLike
from .tensor.missing_names import explain_attributes as _explain_attributes
from .tensor.missing_names import find_public as _find_public
from .tensor.missing_names import missing_name_error as _missing_name_error

if _TYPE_CHECKING:
    from . import checkpoints as checkpoints
    from . import distributed as distributed
    from . import fft as fft
    from . import linalg as linalg
    from . import nn as nn
    from . import optimize as optimize
    from . import ragged as ragged
    from . import random as random
    from . import solvers as solvers
    from . import sparse as sparse
    from .axis_types import check_axes as check_axes
    from .backends.binary import BinaryBackend as BinaryBackend
    from .backends.cupy_backend import CupyBackend as CupyBackend
    from .backends.jax_backend import JaxBackend as JaxBackend
    from .backends.numpy_backend import NumpyBackend as NumpyBackend
    from .backends.template_backend import TemplateBackend as TemplateBackend
    from .costs.dry_run import dry_run as dry_run
    from .costs.fit import fit as fit
    from .costs.largest import largest_size as largest_size
    from .costs.mesh.search import search_layouts as search_layouts
    from .costs.profile.limits import Limits as Limits
    from .costs.profile.limits import machine_limits as machine_limits
    from .costs.profile.profiles import Profile as Profile
    from .costs.profile.profiles import current_profile as current_profile
    from .costs.profile.profiles import profile as profile
    from .costs.profile.profiles import profile_function as profile_function
    from .expr.along import associative_scan as associative_scan
    from .expr.along import map_along_axis as map_along_axis
    from .expr.choice import cond as cond
    from .expr.choice import switch as switch
    from .expr.collectives import all_gather as all_gather
    from .expr.collectives import all_to_all as all_to_all
    from .expr.collectives import axis_index as axis_index
    from .expr.collectives import pmax as pmax
    from .expr.collectives import pmean as pmean
    from .expr.collectives import pmin as pmin
    from .expr.collectives import psum as psum
    from .expr.collectives import psum_scatter as psum_scatter
    from .expr.comparing.compare import compare as compare
    from .expr.comparing.recording import record_run as record_run
    from .expr.compilations import explain_compilations as explain_compilations
    from .expr.containers import backend_copy as backend_copy
    from .expr.containers import backend_deallocate as backend_deallocate
    from .expr.containers import backend_of as backend_of
    from .expr.containers import backend_transfer as backend_transfer
    from .expr.containers import is_concrete as is_concrete
    from .expr.control import fori_loop as fori_loop
    from .expr.control import scan as scan
    from .expr.expr_backend import ExprBackend as ExprBackend
    from .expr.grad.checkpoint import checkpoint as checkpoint
    from .expr.grad.custom import custom_gradient as custom_gradient
    from .expr.grad.custom_jvp import custom_jvp as custom_jvp
    from .expr.grad.forward import jvp as jvp
    from .expr.grad.forward import linearize as linearize
    from .expr.grad.functions import grad as grad
    from .expr.grad.functions import value_and_grad as value_and_grad
    from .expr.grad.functions import vjp as vjp
    from .expr.grad.jacobians import hessian as hessian
    from .expr.grad.jacobians import jacfwd as jacfwd
    from .expr.grad.jacobians import jacobian as jacobian
    from .expr.grad.tape import current_tape as current_tape
    from .expr.grad.tape import gradient as gradient
    from .expr.grad.tape import tape as tape
    from .expr.hooks import debug_callback as debug_callback
    from .expr.hooks import debug_print as debug_print
    from .expr.hooks import host_call as host_call
    from .expr.jit import jit as jit
    from .expr.libraries import for_arrays as for_arrays
    from .expr.name_scopes import name_scope as name_scope
    from .expr.nonfinite import debug_nans as debug_nans
    from .expr.saved_graphs import load_graph as load_graph
    from .expr.saved_graphs import save_graph as save_graph
    from .expr.shards import shard_map as shard_map
    from .expr.trace import trace as trace
    from .expr.tree_containers import register_tree_node as register_tree_node
    from .expr.trees import tree_flatten as tree_flatten
    from .expr.trees import tree_leaves as tree_leaves
    from .expr.trees import tree_map as tree_map
    from .expr.trees import tree_map_with_path as tree_map_with_path
    from .expr.trees import tree_unflatten as tree_unflatten
    from .expr.vmap import vmap as vmap
    from .expr.while_loops import while_loop as while_loop
    from .files import load as load
    from .files import save as save
    from .looped.divisors import gcd as gcd
    from .looped.divisors import lcm as lcm
    from .looped.incomplete_beta import betainc as betainc
    from .ops.composite.convolution import convolve as convolve
    from .ops.composite.convolution import correlate as correlate
    from .ops.composite.elementwise.polynomials import polyval as polyval
    from .ops.composite.indexing.grids import grid_sample as grid_sample
    from .ops.composite.indexing.resampling import resize as resize
    from .ops.composite.indexing.segments import segment_argmax as segment_argmax
    from .ops.composite.indexing.segments import segment_logsumexp as segment_logsumexp
    from .ops.composite.indexing.segments import segment_max as segment_max
    from .ops.composite.indexing.segments import segment_mean as segment_mean
    from .ops.composite.indexing.segments import segment_min as segment_min
    from .ops.composite.indexing.segments import segment_nanmean as segment_nanmean
    from .ops.composite.indexing.segments import segment_prod as segment_prod
    from .ops.composite.indexing.segments import segment_sum as segment_sum
    from .ops.composite.indexing.selection import compress as compress
    from .ops.composite.indexing.selection import repeat as repeat
    from .ops.composite.indexing.updates import add_along_axis as add_along_axis
    from .ops.composite.indexing.updates import indexed_logsumexp as indexed_logsumexp
    from .ops.composite.indexing.updates import indexed_max as indexed_max
    from .ops.composite.indexing.updates import indexed_mean as indexed_mean
    from .ops.composite.indexing.updates import indexed_min as indexed_min
    from .ops.composite.indexing.updates import indexed_prod as indexed_prod
    from .ops.composite.reduction.missing_values import nanmax as nanmax
    from .ops.composite.reduction.missing_values import nanmean as nanmean
    from .ops.composite.reduction.missing_values import nanmedian as nanmedian
    from .ops.composite.reduction.missing_values import nanmin as nanmin
    from .ops.composite.reduction.missing_values import nanpercentile as nanpercentile
    from .ops.composite.reduction.missing_values import nanprod as nanprod
    from .ops.composite.reduction.missing_values import nanquantile as nanquantile
    from .ops.composite.reduction.missing_values import nanstd as nanstd
    from .ops.composite.reduction.missing_values import nansum as nansum
    from .ops.composite.reduction.missing_values import nanvar as nanvar
    from .ops.composite.reduction.missing_values import weighted_nanmean as weighted_nanmean
    from .ops.composite.shape.triangles import make_diagonal as make_diagonal
    from .ops.composite.shape.triangles import meshgrid as meshgrid
    from .ops.composite.shape.triangles import put_diagonal as put_diagonal
    from .ops.composite.shape.triangles import take_diagonal as take_diagonal
    from .ops.composite.shape.triangles import tril as tril
    from .ops.composite.shape.triangles import triu as triu
    from .ops.composite.sorting.interpolation import interp as interp
    from .ops.composite.sorting.order_statistics import median as median
    from .ops.composite.sorting.order_statistics import mode as mode
    from .ops.composite.sorting.order_statistics import percentile as percentile
    from .ops.composite.sorting.order_statistics import quantile as quantile
    from .ops.composite.sorting.searching import digitize as digitize
    from .ops.composite.sorting.searching import isin as isin
    from .ops.composite.sorting.searching import searchsorted as searchsorted
    from .ops.composite.sorting.searching import top_k as top_k
    from .ops.composite.special.bessel import i0 as i0
    from .ops.composite.special.bessel import i0e as i0e
    from .ops.composite.special.bessel import i1 as i1
    from .ops.composite.special.bessel import i1e as i1e
    from .ops.composite.special.bessel import j0 as j0
    from .ops.composite.special.bessel import j1 as j1
    from .ops.composite.special.normal import ndtri as ndtri
    from .ops.composite.special.zeta import factorial as factorial
    from .ops.composite.special.zeta import polygamma as polygamma
    from .ops.composite.special.zeta import zeta as zeta
    from .ops.composite.window import fold as fold
    from .ops.composite.window import unfold as unfold
    from .ops.composite.window import window_argmax as window_argmax
    from .ops.composite.window import window_argmin as window_argmin
    from .ops.composite.window import window_mean as window_mean
    from .ops.composite.window import window_nanmean as window_nanmean
    from .ops.convolution import conv as conv
    from .ops.counting import bincount as bincount
    from .ops.counting import histogram as histogram
    from .ops.counting import histogram2d as histogram2d

    # Some of these names are also those of modules imported above, which a type checker takes for the attributes. So
    # they are imported once more.
    from .ops.creation.filled import template as template
    from .ops.creation.ranges import arange as arange
    from .ops.creation.ranges import geomspace as geomspace
    from .ops.creation.ranges import linspace as linspace
    from .ops.creation.ranges import logspace as logspace
    from .ops.creation.values import tensor as tensor
    from .ops.editing import delete as delete
    from .ops.editing import insert as insert
    from .ops.functional import map as map
    from .ops.functional import reduce as reduce
    from .ops.set_operations import intersect1d as intersect1d
    from .ops.set_operations import setdiff1d as setdiff1d
    from .ops.set_operations import setxor1d as setxor1d
    from .ops.set_operations import union1d as union1d
    from .ops.sets import unique_all as unique_all
    from .ops.sets import unique_counts as unique_counts
    from .ops.sets import unique_inverse as unique_inverse
    from .ops.sets import unique_values as unique_values
    from .ops.sorting import argpartition as argpartition
    from .ops.sorting import argsort as argsort
    from .ops.sorting import lexsort as lexsort
    from .ops.sorting import partition as partition
    from .ops.sorting import sort as sort
    from .ops.special import digamma as digamma
    from .ops.special import gamma_inc_l as gamma_inc_l
    from .ops.special import gamma_inc_u as gamma_inc_u
    from .ops.special import lgamma as lgamma
    from .ops.statistics import correlation as correlation
    from .ops.statistics import covariance as covariance
    from .ops.statistics import polyfit as polyfit
    from .ops.statistics import sample_gradient as sample_gradient
    from .ops.window import window_max as window_max
    from .ops.window import window_min as window_min
    from .ops.window import window_prod as window_prod
    from .ops.window import window_reduce as window_reduce
    from .ops.window import window_scatter_max as window_scatter_max
    from .ops.window import window_scatter_min as window_scatter_min
    from .ops.window import window_sum as window_sum
    from .quantized.gguf import load_gguf as load_gguf
    from .quantized.matrix import Quantized as Quantized
    from .quantized.products import quantized_dot as quantized_dot
    from .quantized.rounding import dequantize as dequantize
    from .quantized.rounding import quantize as quantize
    from .quantized.rounding import round_quantized as round_quantized
    from .quantized.safetensors import load_quantized as load_quantized
    from .select import backends as backends

    __version__: str

for _name in ("mesh", "ops", "select"):  # not what other libraries call so: `__getattr__` says what to write
    del globals()[_name]
_install()
_functions = (name for name, value in [*globals().items()] if name[0] != "_" and hasattr(value, "__code__"))
_explain_attributes((*_built_in.MODULES, *_functions))


def __getattr__(name: str) -> _Any:
    """Imports a public name when it is first used, which keeps `import tensorbackend` quick.

    Namespaces, families of ops, functions of graphs and backends' classes. Another name's error says what to write.
    """
    if name in _built_in.NAMESPACES:
        return _import_module(f".{name}", __name__)
    if name in ("numpy", "special", "testing"):  # which `dir` leaves out: names of NumPy's and SciPy's, and hypothesis
        return _import_module(".numpy.special" if name == "special" else f".{name}", __name__)
    if name in _built_in.MODULES:
        attribute = getattr(_import_module(f".{_built_in.MODULES[name]}", __name__), name)
        globals()[name] = attribute
        return attribute
    if name in _class_names():
        return _backend_class(_class_names()[name])
    if name == "__version__":
        return _import_module("importlib.metadata").version("tensorbackend")
    if name == "__all__":
        return [export for export in __dir__() if not export.startswith("_") and export not in _class_names()]
    raise _missing_name_error(name, "", obj=_import_module(__name__))


@_find_public.supply
def _find(name: str) -> str | None:
    """The public name of what is called `name` in the package or in one of its namespaces."""
    if name in __dir__():
        return name
    for space in _built_in.NAMESPACES:
        module = _import_module(f".{space}", __name__)
        alike = _find_alike(name, dir(module)) if space == "nn" else name  # `Conv1d` is `conv`
        if alike in dir(module) and not isinstance(getattr(module, alike), _ModuleType):
            return f"{space}.{alike}"
    return None


def __dir__() -> list[str]:
    """The public names, including those that are imported on first use."""
    loaded = {name for name, value in globals().items() if not (name[:1] == "_" or isinstance(value, _ModuleType))}
    others = {*_class_names(), "__version__", "__array_api_version__"}
    return sorted({*loaded, *_built_in.MODULES, *_built_in.NAMESPACES, *others})
