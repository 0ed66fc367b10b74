"""The arguments that people pass who come from other libraries, and what to write instead. The only such table.

`KEYWORDS` says which parameter a keyword may mean. Python looks here only after a call has failed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

OF_FUNCTIONS: Final = {
    "grad": "write tb.grad(function)(x)",
    "gradient": "the derivative of samples is tb.sample_gradient(y, dx=spacing)",
    "map": "write tb.map(x, function)",
    "reduce": "tb.sum(x), tb.max(x) and the like reduce a tensor",
    "trace": "tb.linalg.trace(x) is the sum of the diagonal of a matrix",
}
"""What to write where a function of this package, such as `trace`, is taken for another library's of that name."""

KEYWORDS: Final[dict[str, tuple[str, ...]]] = {
    "a_max": ("max",),
    "a_min": ("min",),
    "alpha": ("slope", "alpha"),
    "argnum": ("argnums",),
    "ascending": ("descending",),
    "axes": ("axis", "contract"),
    "axis": ("axes", "spatial", "axis_name", "contract"),
    "beta1": ("b1",),
    "beta2": ("b2",),
    "betas": ("b1",),
    "bins": ("size", "edges"),
    "constant_values": ("value",),
    "coords": ("names",),
    "ddof": ("correction",),
    "decay_rate": ("decay", "factor"),
    "depth": ("size",),
    "dilation": ("dilations",),
    "dilations": ("dilation",),
    "dim": ("axis", "axes", "time", "contract"),
    "dimensions": ("axes", "axis"),
    "dims": ("names", "axes", "axis", "contract"),
    "eps": ("epsilon", "tolerance"),
    "fill": ("fill_value",),
    "fill_value": ("value",),
    "high": ("maxval",),
    "in_dims": ("in_axes",),
    "init": ("initial",),
    "init_val": ("initial",),
    "is_causal": ("causal",),
    "keep_dims": ("keepdims",),
    "keepdim": ("keepdims",),
    "kernel_size": ("window",),
    "learning_rate": ("rate",),
    "length": ("size", "lengths"),
    "loc": ("mean",),
    "low": ("minval",),
    "lr": ("rate",),
    "max": ("maxval",),
    "max_iter": ("max_iterations",),
    "maxiter": ("max_iterations",),
    "maxval": ("max",),
    "min": ("minval",),
    "minval": ("min",),
    "n": ("num", "size", "k"),
    "name": ("names", "axis"),
    "names": ("name",),
    "negative_slope": ("slope",),
    "num_classes": ("size",),
    "num_groups": ("groups",),
    "num_segments": ("size",),
    "ord": ("order",),
    "order": ("ord",),
    "other": ("x2",),
    "out_dims": ("out_axes",),
    "p": ("rate", "ord"),
    "pad_width": ("padding",),
    "probs": ("p",),
    "right": ("side",),
    "scale": ("deviation", "scales"),
    "shape": ("size", "sizes"),
    "size": ("shape", "sizes", "window"),
    "sorted": ("largest", "sorter"),
    "static_argnum": ("static_argnums",),
    "std": ("deviation",),
    "stddev": ("deviation",),
    "steps": ("num",),
    "stride": ("strides",),
    "strides": ("stride",),
    "t_eval": ("times",),
    "tol": ("tolerance", "rtol"),
    "unbiased": ("correction",),
    "weight_decay": ("decay",),
    "window_size": ("window",),
    "wrt": ("argnums",),
}
"""The parameters that a keyword may mean; the first one that the function has is named."""

NO_KEYWORDS: Final = {
    "casting": "cast with astype()",
    "inplace": "the result is a new tensor; write x[...] = in front of the call to assign it",
    "lower": "the lower triangle is the default",
    "order": "tensors have no memory order",
    "out": "the result is a new tensor; write x[...] = in front of the call to assign it",
    "requires_grad": "tb.grad(function) differentiates with respect to any argument",
    "where": "write tb.where(mask, x, value) around the operand",
}
"""The remedies for keywords that no function here has."""

NAME_OF_AXIS: Final = {
    "expand_dims": "write name= for the name of the new axis, and axis= for its position",
    "stack": "write name= for the name of the new axis, and axis= for its position",
}
"""What to write where a name is passed as the position of a new axis."""

MISSING: Final = {
    ("csr", "indices"): "tb.sparse.from_dense(x) makes a sparse matrix of a dense one",
    ("dot", "contract"): "x @ y is the product of vectors and matrices; contract= takes the names of the axes to sum",
    ("normal", "key"): "write tb.random.normal(tb.random.key(seed), shape)",
    ("segment_sum", "size"): "size= is the number of segments",
    ("template", "dtype"): "write tb.template((3, 4), 'f32', ('a', 'b')) for f32[a: 3][b: 4]",
    ("uniform", "key"): "write tb.random.uniform(tb.random.key(seed), shape)",
    ("where", "x1"): "tb.nonzero(condition) returns the positions",
}
"""The remedies for arguments that are often left out, by function and parameter."""


def parameter_for(keyword: str, parameters: Sequence[str]) -> str | None:
    """Return the parameter that a keyword of another library means, or one that it resembles; `None` without any.

    >>> parameter_for("dim", ["axis", "keepdims"]), parameter_for("keepdimz", ["axis", "keepdims"])
    ('axis', 'keepdims')
    """
    meant = next((name for name in KEYWORDS.get(keyword, ()) if name in parameters), None)
    if meant is None:
        from difflib import get_close_matches  # slow to import, and only errors need it

        meant = next(iter(get_close_matches(keyword, parameters, 1, 0.75)), None)
    return meant
