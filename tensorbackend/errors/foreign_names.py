"""What people type who come from NumPy, SciPy, JAX, PyTorch, xarray and Nx. The only such table.

`SYNONYMS` are the same functions under other names, so that `numpy.arccos(x)` finds ours. `ADVICE` of
`foreign_functions` says what to write instead of other functions, `IN_NAMESPACES` of `foreign_attributes` what of
functions looked for in a namespace, `OF_TENSORS` of `foreign_methods` what of attributes and methods of a tensor,
`RECIPES` of `foreign_recipes` what of either that are several calls here, and `OF_RESULTS` of `foreign_results` what of
those of matrices, results and optimisers. Arguments are in `foreign_keywords` and `foreign_draws`. This is read only
after a look-up has failed.
"""

from __future__ import annotations

from typing import Final

from .foreign_attributes import IN_NAMESPACES
from .foreign_functions import ADVICE
from .foreign_methods import OF_TENSORS

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
    "cummax": "cumulative_max",
    "cummin": "cumulative_min",
    "cumprod": "cumulative_prod",
    "cumsum": "cumulative_sum",
    "cumulative_product": "cumulative_prod",
    "div": "divide",
    "eq": "equal",
    "erfinv": "erf_inv",
    "expit": "sigmoid",
    "gammainc": "gamma_inc_l",
    "gammaincc": "gamma_inc_u",
    "gammaln": "lgamma",
    "ge": "greater_equal",
    "gt": "greater",
    "igamma": "gamma_inc_l",
    "igammac": "gamma_inc_u",
    "invert": "bitwise_invert",
    "is_infinity": "isinf",
    "is_nan": "isnan",
    "le": "less_equal",
    "left_shift": "bitwise_left_shift",
    "log_gamma": "lgamma",
    "logistic": "sigmoid",
    "lt": "less",
    "mod": "remainder",
    "mul": "multiply",
    "ne": "not_equal",
    "neg": "negative",
    "negate": "negative",
    "permute": "permute_dims",
    "power": "pow",
    "product": "prod",
    "psi": "digamma",
    "quotient": "trunc_divide",
    "reduce_max": "max",
    "reduce_min": "min",
    "rem": "fmod",
    "rev": "flip",
    "reverse": "flip",
    "right_shift": "bitwise_right_shift",
    "rint": "round",
    "standard_deviation": "std",
    "sub": "subtract",
    "topk": "top_k",
    "trapz": "trapezoid",
    "true_divide": "divide",
    "variance": "var",
    "window_product": "window_prod",
}


def advice(name: str, space: str = "") -> str | None:
    """Return what to write instead of a name of another library; `None` if there is no equivalent.

    Parameters
    ----------
    name : str
        The name that was looked for.
    space : str, optional
        Where it was looked for: a namespace, such as `"linalg"`, or `"Tensor"`; by default the package itself.

    Returns
    -------
    str or None
        Code, or words with code among them.

    Examples
    --------
    >>> advice("cumsum"), advice("ravel"), advice("randn", "random"), advice("numpy", "Tensor")
    ('tb.cumulative_sum', 'tb.reshape(x, -1)', 'tb.random.normal(key, shape)', 'numpy.asarray(x)')
    >>> advice("fillna"), advice("randperm")  # a method elsewhere, and what has a namespace here
    ('tb.where(tb.isnan(x), value, x)', 'tb.random.permutation(key, n)')
    """
    own = OF_TENSORS if space == "Tensor" else IN_NAMESPACES.get(space, {})
    if name in own:
        return own[name]
    if space in IN_NAMESPACES:
        alike = next((other for other in own if fold(other) == fold(name)), None)
        if alike is not None:
            return own[alike]
    if name in SYNONYMS:
        return f"tb.{SYNONYMS[name]}{'(x, ...)' if space == 'Tensor' else ''}"
    if name in ADVICE or space:
        return ADVICE.get(name)
    return next((held[name] for held in (OF_TENSORS, *IN_NAMESPACES.values()) if name in held), None)


def fold(name: str) -> str:
    """Return a name without what libraries spell differently: capitals and underscores.

    >>> fold("LayerNorm"), fold("layer_norm")
    ('layernorm', 'layernorm')
    """
    return name.replace("_", "").lower()
