"""Entries for autoray: `autoray.do("sum", x)` of our arrays and tensors, so also quimb's and cotengra's functions.

Copy this file and import it. The functions are those of `tensorbackend.numpy`, whose results are its arrays.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import autoray
import numpy
from autoray import autoray as entries

import tensorbackend as tb
import tensorbackend.numpy as np

NAME = "tensorbackend"


def _solve_triangular(a: Any, b: Any, trans: int = 0, lower: bool = False, **options: Any) -> Any:
    """SciPy's function of this name."""
    a, b = np.asarray(a).tensor, np.asarray(b).tensor
    a = a if not trans else tb.matrix_transpose(a) if trans == 1 else tb.linalg.adjoint(a)
    return np.asarray(tb.linalg.triangular_solve(a, b, lower=lower != bool(trans)))


for _class in (np.ndarray, tb.Tensor):
    autoray.register_backend(_class, NAME)
entries.register_module_alias(NAME, "tensorbackend.numpy")
_enter = partial(autoray.register_function, NAME)
_enter("to_numpy", numpy.asarray)
_enter("complex", entries.complex_add_re_im)
_enter("linalg.svd", partial(np.linalg.svd, full_matrices=False))
_enter("linalg.expm", lambda x: np.asarray(tb.linalg.expm(np.asarray(x).tensor)))
_enter("scipy.linalg.expm", lambda x: np.asarray(tb.linalg.expm(np.asarray(x).tensor)))
_enter("scipy.linalg.solve_triangular", _solve_triangular)
for _name in ("random.normal", "random.uniform"):  # autoray passes the dtype
    _enter(_name, wrapper=entries.with_dtype_wrapper)
