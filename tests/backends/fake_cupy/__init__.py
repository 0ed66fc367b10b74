"""A stand-in for CuPy on a machine without a GPU. It computes with NumPy and is as strict as CuPy.

It refuses what CuPy refuses: NumPy arrays as arguments, implicit conversion to NumPy arrays, dtypes without a loop (the
loops are CuPy's own, in cupy_loops.json), and options that CuPy's functions do not have. Where a GPU promises no
particular result, this module gives an inconvenient one: it writes repeated indices backwards. Operations that are
inexact or undefined on a GPU fail here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from tensorbackend.backends.binary import scalars

from .arrays import array, asarray, from_dlpack, full, module, ndarray, unwrap, wrap
from .devices import Device, Pool, Stream, settings
from .functions import FUNCTIONS, function
from .linalg import cholesky, eig, errstate, lu_factor, solve, solve_triangular
from .ufuncs import LOOPS, Ufunc, fuse


def _elementwise(function: Callable[[float], float]) -> Callable[[Any], Any]:
    return lambda x: wrap(np.array(list(map(function, unwrap(x).tolist())), np.float64).reshape(x.shape))


def _modules() -> dict[str, Any]:
    cupy = module
    cupy.__version__ = "14.2.0"
    cupy.ndarray, cupy.array, cupy.asarray, cupy.full, cupy.from_dlpack = ndarray, array, asarray, full, from_dlpack
    cupy.asnumpy = lambda x: x.get()
    cupy.inf, cupy.nan, cupy.finfo, cupy.broadcast_shapes = np.inf, np.nan, np.finfo, np.broadcast_shapes
    cupy.result_type = lambda *values: np.result_type(*map(unwrap, values))
    cupy.ufunc, cupy.fuse = Ufunc, fuse
    for name in LOOPS:
        setattr(cupy, name, Ufunc(name))
    cupy.where = lambda condition, x, y: Ufunc("where")(condition.astype("?"), x, y)
    for name, options in FUNCTIONS.items():
        setattr(cupy, name, function(name, options))
    cupy.fft = SimpleNamespace(
        **{name: function(name, "n axis norm", np.fft) for name in ("fft", "ifft", "rfft", "irfft")}
    )
    strided = np.lib.stride_tricks.as_strided
    cupy.lib = SimpleNamespace(
        stride_tricks=SimpleNamespace(as_strided=lambda x, shape, strides: wrap(strided(unwrap(x), shape, strides)))
    )
    plain = {"qr": "mode", "eigh": "UPLO", "svd": "full_matrices"}
    cupy.linalg = SimpleNamespace(
        LinAlgError=np.linalg.LinAlgError, cholesky=cholesky, solve=solve, eig=eig,
        **{name: function(name, options, np.linalg) for name, options in plain.items()},
    )  # fmt: skip
    cupy.cuda = SimpleNamespace(
        Device=Device, get_current_stream=Stream, nvrtc=SimpleNamespace(getVersion=lambda: (12, 8)),
        runtime=SimpleNamespace(
            getDeviceCount=lambda: settings.devices,
            runtimeGetVersion=lambda: 12080,
            getDeviceProperties=lambda number: {
                "name": f"GPU {number}".encode(), "totalGlobalMem": 80 << 30, "multiProcessorCount": 132,
            },
        ),
    )  # fmt: skip
    cupy.get_default_memory_pool = Pool
    cupyx: Any = ModuleType("cupyx")
    cupyx.errstate = errstate
    functions: Any = ModuleType("cupyx.scipy.special")
    functions.erf, functions.erfc = _elementwise(math.erf), _elementwise(math.erfc)
    functions.erfinv = _elementwise(scalars.erf_inv)
    solvers: Any = ModuleType("cupyx.scipy.linalg")
    solvers.solve_triangular, solvers.lu_factor = solve_triangular, lu_factor
    return {"cupy": cupy, "cupyx": cupyx, "cupyx.scipy.special": functions, "cupyx.scipy.linalg": solvers}


MODULES = _modules()
"""The modules of the stand-in, to put into `sys.modules`."""
