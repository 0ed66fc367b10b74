"""What to write where a parameter of a distribution stands in the place of a shape or a dtype: see `foreign_names`."""

from __future__ import annotations

from typing import Final

OF_SHAPES: Final = {
    name: f"the parameters come before the shape, as in tb.random.{name}(key, {parameters}, shape)"
    for name, parameters in (
        ("bernoulli", "p"),
        ("beta", "a, b"),
        ("binomial", "n, p"),
        ("choice", "x"),
        ("dirichlet", "alpha"),
        ("gamma", "a"),
        ("multivariate_normal", "mean, cov"),
        ("poisson", "lam"),
        ("student_t", "df"),
        ("truncated_normal", "lower, upper"),
    )
}
"""What to write where the shape of a draw is no shape, by function."""

_OF_NORMAL = "tb.random.normal(key, shape, mean=0.0, deviation=0.5)"
_OF_UNIFORM = "tb.random.uniform(key, shape, minval=0.0, maxval=2.0)"

OF_DTYPES: Final = {
    "exponential": "the scale is 1, so multiply the result, as in scale * tb.random.exponential(key, shape)",
    "gumbel": "the scale is 1, so multiply the result, as in loc + scale * tb.random.gumbel(key, shape)",
    "laplace": "the scale is 1, so multiply the result, as in loc + scale * tb.random.laplace(key, shape)",
    "normal": f"write mean=... and deviation=..., as in {_OF_NORMAL}",
    "uniform": f"write minval=... and maxval=..., as in {_OF_UNIFORM}",
}
"""What to write where a number, or a shape behind one, stands in the place of a dtype, by function."""
