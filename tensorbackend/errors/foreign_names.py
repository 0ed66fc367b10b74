"""The names of functions in other libraries: NumPy, SciPy, JAX, PyTorch and Nx. The only such table.

`SYNONYMS` are the same functions under other names, so that `numpy.arccos(x)` finds ours; `ADVICE` says what to write
instead.
"""

from __future__ import annotations

from typing import Final

SYNONYMS: Final = {
    "absolute": "abs",
    "allclose": "all_close",
    "amax": "max",
    "amin": "min",
    "arccos": "acos",
    "arccosh": "acosh",
    "arcsin": "asin",
    "arcsinh": "asinh",
    "arctan": "atan",
    "arctan2": "atan2",
    "arctanh": "atanh",
    "as_type": "astype",
    "bitwise_count": "population_count",
    "bitwise_not": "bitwise_invert",
    "cat": "concat",
    "clamp": "clip",
    "conjugate": "conj",
    "cumprod": "cumulative_prod",
    "cumsum": "cumulative_sum",
    "cumulative_product": "cumulative_prod",
    "cummax": "cumulative_max",
    "cummin": "cumulative_min",
    "erfinv": "erf_inv",
    "expit": "sigmoid",
    "gammainc": "gamma_inc_l",
    "gammaincc": "gamma_inc_u",
    "gammaln": "lgamma",
    "invert": "bitwise_invert",
    "is_infinity": "isinf",
    "is_nan": "isnan",
    "left_shift": "bitwise_left_shift",
    "log_gamma": "lgamma",
    "mod": "remainder",
    "negate": "negative",
    "permute": "permute_dims",
    "power": "pow",
    "product": "prod",
    "psi": "digamma",
    "quotient": "trunc_divide",
    "reduce_max": "max",
    "reduce_min": "min",
    "reverse": "flip",
    "right_shift": "bitwise_right_shift",
    "rint": "round",
    "standard_deviation": "std",
    "trapz": "trapezoid",
    "true_divide": "divide",
    "variance": "var",
    "window_product": "window_prod",
}

ADVICE: Final = {
    "append": "concatenate([x, y], axis=...)",
    "array": "asarray(value), or tensor(value) for a copy",
    "as_tensor": "asarray(value)",
    "ascontiguousarray": "x itself, which has no layout",
    "atleast_1d": "reshape(x, ...)",
    "axis_size": "x.shape[...]",
    "broadcast": "broadcast_to(x, shape)",
    "column_stack": "stack(tensors, axis=1)",
    "copy": "tensor(x)",
    "corrcoef": "correlation(x), with a variable a column",
    "cov": "covariance(x), with a variable a column",
    "determinant": "linalg.det(x)",
    "diag": "make_diagonal(x) or take_diagonal(x)",
    "exp2": "pow(2.0, x)",
    "fill_diagonal": "put_diagonal(x, values)",
    "flat_size": "x.size",
    "flatten": "reshape(x, -1)",
    "fliplr": "flip(x, axis=1)",
    "flipud": "flip(x, axis=0)",
    "from_numpy": "asarray(array)",
    "hstack": "concatenate(tensors, axis=1)",
    "identity": "eye(n)",
    "index_select": "take(x, indices, axis=...)",
    "inner": "vecdot(x, y)",
    "manual_seed": "random.key(seed)",
    "mm": "matmul(x, y)",
    "nan_to_num": "where(isnan(x), 0, x)",
    "ndim": "x.ndim",
    "new_axis": "expand_dims(x, axis, name=...)",
    "norm": "linalg.norm(x)",
    "partition": "sort(x), or top_k(x, k)",
    "piecewise": "where(condition, x1, x2)",
    "rand": "random.uniform(key, shape)",
    "randn": "random.normal(key, shape)",
    "ravel": "reshape(x, -1)",
    "relu": "maximum(x, 0)",
    "shape": "x.shape",
    "size": "x.size",
    "swapaxes": "permute_dims(x, axes)",
    "tensor_split": "split(x, positions, axis=...)",
    "transpose": "permute_dims(x, axes), or matrix_transpose(x)",
    "unbind": "unstack(x, axis=...)",
    "unique": "unique_values(x)",
    "unsqueeze": "expand_dims(x, axis)",
    "view": "reshape(x, shape), or bitcast(x, dtype)",
    "vstack": "concatenate(tensors, axis=0)",
}


def advice(name: str) -> str | None:
    """Return what to write instead of a name of another library; `None` if there is no equivalent.

    >>> advice("cumsum"), advice("ravel")
    ('cumulative_sum', 'reshape(x, -1)')
    """
    return SYNONYMS.get(name) or ADVICE.get(name)
