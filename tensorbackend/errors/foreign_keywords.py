"""The arguments that people pass who come from other libraries, and what to write instead. The only such table.

`KEYWORDS` says which parameter a keyword may mean. Python looks here only after a call has failed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from .foreign_draws import OF_DTYPES

_OF_SAMPLES = "the derivative of samples is tb.sample_gradient(y, dx=spacing), or tb.sample_gradient(y, places)"

OF_FUNCTIONS: Final = {
    "jacobian": "write tb.jacobian(function)(x)",
    "jacfwd": "write tb.jacfwd(function)(x)",
    "hessian": "write tb.hessian(function)(x)",
    "cond": "tb.where(condition, x1, x2) chooses between values",
    "grad": "write tb.grad(function)(x)",
    "gradient": _OF_SAMPLES,
    "map": "write tb.map(x, function=...)",
    "reduce": "tb.sum(x), tb.max(x) and the like reduce a tensor",
    "trace": "tb.linalg.trace(x) is the sum of the diagonal of a matrix",
}
"""What to write where a function of this package, such as `trace`, is taken for another library's of that name."""

KEYWORDS: Final[dict[str, tuple[str, ...]]] = {
    "reverse": ("descending",),
    "rcond": ("rtol",),
    "interpolation": ("method",),
    "deg": ("degree",),
    "axis_name": ("name",),
    "axis_names": ("names",),
    "M": ("preconditioner", "n_cols"),
    "a_max": ("max",),
    "a_min": ("min",),
    "alpha": ("slope", "alpha"),
    "argnum": ("argnums",),
    "ascending": ("descending",),
    "axes": ("axis", "contract", "names"),
    "axis": ("axes", "spatial", "in_axes", "axis_name", "contract"),
    "beta1": ("b1",),
    "beta2": ("b2",),
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
    "dims": ("names", "axes", "name", "axis", "contract"),
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
    "maxiter": ("max_iterations", "limit"),
    "max_iterations": ("limit", "max_steps"),
    "max_steps": ("limit", "max_iterations"),
    "body_fn": ("body",),
    "body_fun": ("body",),
    "branches": ("functions",),
    "carried_inputs": ("initial",),
    "combine_fn": ("function",),
    "cond_fn": ("condition",),
    "cond_fun": ("condition",),
    "elems": ("xs",),
    "f": ("function",),
    "false_fn": ("false_function",),
    "false_fun": ("false_function",),
    "fn": ("function",),
    "fun": ("function",),
    "func": ("function",),
    "loop_vars": ("initial",),
    "pred": ("predicate",),
    "t_span": ("span",),
    "true_fn": ("true_function",),
    "true_fun": ("true_function",),
    "maxval": ("max",),
    "min": ("minval",),
    "minval": ("min",),
    "n": ("num", "size", "n_rows"),
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
    "solver": ("method",),
    "sorted": ("largest", "sorter"),
    "static_argnum": ("static_argnums",),
    "std": ("deviation",),
    "stddev": ("deviation",),
    "steps": ("num",),
    "step_size": ("rate",),
    "stride": ("strides",),
    "strides": ("stride",),
    "t_eval": ("times",),
    "ftol": ("tolerance",),
    "gtol": ("tolerance",),
    "xtol": ("tolerance",),
    "tol": ("tolerance", "rtol"),
    "unbiased": ("correction",),
    "weight_decay": ("decay",),
    "window_size": ("window",),
    "wrt": ("argnums",),
    "classes": ("size",),
    "donate_argnames": ("donate",),
    "lower": ("min", "minval"),
    "upper": ("max", "maxval"),
    "aux": ("has_aux",),
    "N": ("n_rows",),
    "w": ("weights",),
}
"""The parameters that a keyword may mean; the first one that the function has is named."""

NO_KEYWORDS: Final = {
    "transpose_b": "write y.mT for the transpose of y",
    "transpose_a": "write x.mT for the transpose of x",
    "training": "call it in training only",
    "skipna": "tb.nanmean(x), tb.nansum(x) and the like leave NaN out",
    "sigma": "pass the function that solves, lambda x: tb.solvers.solve(A, x).x, for the eigenvalues of the inverse",
    "seed": "the first argument is a key, tb.random.key(seed)",
    "scale": "multiply the result by it",
    "normalized_shape": "the axis to normalise is axis=, the last one by default",
    "names": "name the axes of the result with rename()",
    "method": "there is one method, so leave it out",
    "jac": "the derivatives are found by tb.grad and tb.jacobian",
    "eigvals_only": "tb.linalg.eigvalsh(x) has the eigenvalues alone",
    "subset_by_index": "tb.solvers.eigsh(x, k) finds a few eigenpairs",
    "decimals": "x.round(2) rounds to two decimals",
    "compute_uv": "tb.linalg.svdvals(x) has the singular values alone",
    "betas": "write b1= and b2=",
    "assume_a": "tb.linalg.cholesky_solve(tb.linalg.cholesky(a), b) is for positive definite matrices",
    "args": "write lambda x: function(x, a) for further arguments",
    "UPLO": "only the lower triangle is read",
    "casting": "cast with astype()",
    "inplace": "the result is a new tensor; write x[...] = in front of the call to assign it",
    "lower": "the lower triangle is the default",
    "operand": "write the operands by position, after the functions",
    "operands": "write the operands by position, after the functions",
    "order": "tensors have no memory order",
    "start_dim": "tb.merge_axes(x, axes, name=...) makes one axis of some",
    "end_dim": "tb.merge_axes(x, axes, name=...) makes one axis of some",
    "out": "the result is a new tensor; write x[...] = in front of the call to assign it",
    "return_indices": "tb.argmax(x, axis=...) has the indices",
    "rowvar": "a variable is a column, so write x.T where each is a row",
    "requires_grad": "tb.grad(function) differentiates with respect to any argument",
    "where": "write tb.where(mask, x, value) around the operand",
    "axis_size": "the arguments have the axis, and its size",
    "chunk_size": "tb.scan(function, initial, xs) takes one part after another",
    "dtype": "cast with astype()",
    "indices_are_sorted": "segments may be in any order, so leave it out",
    "eigvals": "tb.solvers.eigsh(matrix, k) finds some of the eigenvalues",
    "randomness": "map over keys, as in tb.random.split(key, n)",
    "unroll": "a compiled loop stays a loop, so leave it out",
    "v0": "write x0= for the first vector",
    "center": "padding='same' gives windows around each entry",
    "donate_argnums": "write donate= with the names of the parameters, as in donate=('state',)",
    "impl": "there is one generator, Threefry, so leave it out",
    "min_periods": "padding='same' gives windows at the ends too",
    "options": "each option is a keyword, such as max_iterations=",
    "some": "full_matrices=False gives the reduced factors",
}
"""The remedies for keywords that no function here has."""

_ADDED = (
    "tb.indexed_add(x, indices[:, None], updates) adds at a vector of indices along the first axis, also where one "
    "occurs twice; tb.indexed_max, tb.indexed_min and tb.indexed_prod likewise"
)
_NAN = "tb.where(mask, x, tb.nan)"
_WITHOUT_NAN = {
    "segment_mean": "segment_nanmean",
    "weighted_mean": "weighted_nanmean",
    "window_mean": "window_nanmean",
}
_POSITIONS = "write the positions of the arguments, as in argnums=0 for the first one or argnums=(0, 1)"
_OF_WINDOWS = "along one axis of several write tb.unfold(x, {'time': y.size}) @ "
_DERIVED = ("grad", "hessian", "jacfwd", "jacobian", "value_and_grad")
_SCALED = ("exponential", "gumbel", "laplace")
_MEAN_SQUARE = (
    "tb.weighted_mean(tb.square(x - tb.weighted_mean(x, weights, axis=..., keepdims=True)), weights, axis=...)"
)


def _of_lines(call: str) -> str:
    """What to write in place of `axis=` of a function of one series."""
    return f"write tb.vmap(lambda line: {call}, in_axes=1, out_axes=1)(x) for the columns of x"


OF_KEYWORDS: Final = {
    **{(name, keyword): _POSITIONS for name in _DERIVED for keyword in ("argnames", "wrt")},
    **{(name, "skipna"): f"write tb.{other}, which leaves NaN out" for name, other in _WITHOUT_NAN.items()},
    **{(name, "where"): f"write tb.{other} of {_NAN}" for name, other in _WITHOUT_NAN.items()},
    **{(name, "rate"): "divide the result by it" for name in _SCALED},
    ("convolve", "axis"): f"{_OF_WINDOWS}tb.flip(y), which is mode='valid'",
    ("correlate", "axis"): f"{_OF_WINDOWS}y, which is mode='valid'",
    ("mean", "weights"): "write tb.weighted_mean(x, weights, axis=...)",
    ("std", "weights"): f"write tb.sqrt({_MEAN_SQUARE})",
    ("sum", "weights"): "write tb.dot(x, weights, contract=...)",
    ("var", "weights"): f"write {_MEAN_SQUARE}",
    ("adam", "weight_decay"): "tb.optimize.adamw(rate, decay=...) has one",
    ("all", "where"): "write x | ~mask as the operand",
    ("any", "where"): "write x & mask as the operand",
    ("correlation", "axis"): "observations are the rows of x, and variables its columns",
    ("covariance", "axis"): "observations are the rows of x, and variables its columns",
    ("max", "initial"): "write tb.maximum(tb.max(x), initial)",
    ("max", "where"): f"write tb.nanmax({_NAN})",
    ("mean", "where"): f"write tb.nanmean({_NAN})",
    ("meshgrid", "sparse"): "x[:, None] and y broadcast like the grids",
    ("min", "initial"): "write tb.minimum(tb.min(x), initial)",
    ("min", "where"): f"write tb.nanmin({_NAN})",
    ("minimize", "callback"): "trajectory=(0, 10, 20) keeps the values after these iterations",
    ("minimize", "options"): "write max_iterations= and tolerance=",
    ("prod", "initial"): "multiply the result by it",
    ("prod", "where"): "write tb.where(mask, x, 1) as the operand",
    ("solve", "callback"): "trajectory=(0, 10, 20) keeps the values after these iterations",
    ("solve_ivp", "args"): "write lambda t, y: function(t, y, a) for further arguments",
    ("solve_ivp", "dense_output"): "times= takes the times of the solution",
    ("solve_ivp", "events"): "tb.while_loop(condition, body, initial) stops at an event",
    ("solve_ivp", "first_step"): "the steps follow from rtol= and atol=",
    ("solve_ivp", "max_step"): "the steps follow from rtol= and atol=",
    ("std", "where"): f"write tb.nanstd({_NAN})",
    ("split", "name"): "name the axes of the result with rename(), as in keys.rename('sample', None)",
    ("sum", "initial"): "add it to the result",
    ("sum", "where"): "write tb.where(mask, x, 0) as the operand",
    ("triangular_solve", "trans"): "write transform='transpose'",
    ("triangular_solve", "upper"): "write lower=False for an upper triangle",
    ("window_mean", "min_periods"): "tb.window_nanmean is the mean of what a window has, padding and NaN left out",
    ("var", "where"): f"write tb.nanvar({_NAN})",
    ("add", "axis"): "tb.sum(x, axis=...) adds along an axis",
    ("gather", "axis"): "write tb.take(x, indices, axis=...), or tb.take_along_axis(x, indices, axis=...)",
    ("maximum", "axis"): "write tb.max(x, axis=...)",
    ("minimum", "axis"): "write tb.min(x, axis=...)",
    ("bincount", "axis"): _of_lines("tb.bincount(line, size=n)"),
    ("histogram", "axis"): _of_lines("tb.histogram(line, bins=n, range=(low, high)).counts"),
    (
        "interp",
        "axis",
    ): "write tb.vmap(lambda line: tb.interp(x, xp, line), in_axes=1, out_axes=1)(fp) for the columns of fp",
    ("lstsq", "axis"): "the columns of b are solved for together: write tb.moveaxis(b, axis, 0)",
    (
        "polyfit",
        "axis",
    ): "it fits along the first axis of y: write tb.moveaxis(y, axis, 0), and merge_axes() of the others",
    ("searchsorted", "axis"): _of_lines("tb.searchsorted(line, values)"),
    ("polyfit", "cov"): "tb.linalg.lstsq(a, b) has the residuals and the rank",
    ("polyfit", "full"): "tb.linalg.lstsq(a, b) has the residuals and the rank",
    ("multiply", "axis"): "tb.prod(x, axis=...) multiplies along an axis",
    ("gradient", "axis"): f"{_OF_SAMPLES}, with axis=",
    ("gradient", "dx"): _OF_SAMPLES,
    ("gradient", "edge_order"): _OF_SAMPLES,
    ("gradient", "spacing"): _OF_SAMPLES,
    ("eigh", "k"): "tb.solvers.eigsh(matrix, k) finds k of the eigenpairs",
    ("eigvalsh", "k"): "tb.solvers.eigsh(matrix, k) finds k of the eigenpairs",
    ("indexed_put", "accumulate"): _ADDED,
    ("put_at", "accumulate"): _ADDED,
    ("put_at", "mode"): _ADDED,
    ("put_at", "op"): _ADDED,
    ("put_at", "reduce"): _ADDED,
    ("median", "where"): "write tb.nanmedian(tb.where(mask, x, tb.nan))",
}
"""The remedies for keywords that mean something of their own to a function, by function and keyword."""

ARGUMENTS_OF: Final = {
    **{(name, "argnums"): _POSITIONS for name in _DERIVED},
    ("jit", "donate"): "write the names of the parameters, as in donate=('state',)",
    ("dot", "contract"): "write contract=([0], [0]) for positions in both operands",
    ("roll", "shift"): "write the shift by position, and axis='time'",
}
"""The remedies for values of a wrong type, by function and parameter."""

NAME_OF_AXIS: Final = {
    "expand_dims": "write name= for the name of the new axis, and axis= for its position",
    "stack": "write name= for the name of the new axis, and axis= for its position",
}
"""What to write where a name is passed as the position of a new axis."""

SURPLUS: Final = {
    "matrix_norm": "ord=",
    "normal": OF_DTYPES["normal"].removeprefix("write "),
    "uniform": OF_DTYPES["uniform"].removeprefix("write "),
    "max": "tb.maximum(x, y) for the larger of two",
    "min": "tb.minimum(x, y) for the smaller of two",
    "norm": "ord=",
    "round": "x.round(2) to round to two decimals",
    "sum": "tb.add(x, y) for the sum of two",
    "vector_norm": "ord=",
    "with_lengths": "time=lengths, by the name of the axis that has lengths",
    "correlation": "tb.correlation(tb.stack([x, y], axis=1)), with a variable a column",
    "covariance": "tb.covariance(tb.stack([x, y], axis=1)), with a variable a column",
    "gather": "tb.take_along_axis(x, indices, axis=...) for indices along one axis",
    "gradient": "tb.sample_gradient(y, dx=spacing) for samples, once for each axis",
    "isel": "the axes by their names, as in x.isel(time=0)",
    "map": "tb.map(x, function=...), or tb.vmap(function)(x)",
}
"""What to write in place of an argument by position where the types of the parameters do not say it, by function."""

_TWO = "it takes two values, as in lambda x, y: x + y"
_WHOLE = "it takes all values as one, as in lambda x: x[0] + x[1] for a pair; put further arguments into a lambda"
_OPERANDS = "the operands follow the functions, as in tb.cond(predicate, true_function, false_function, x)"

OF_CALLBACKS: Final = {
    "associative_scan": _TWO,
    "cond": _OPERANDS,
    "fixed_point": _WHOLE,
    "fori_loop": "it takes the index and the state, as in lambda i, x: x + i",
    "least_squares": _WHOLE,
    "minimize": _WHOLE,
    "reduce": _TWO,
    "root": _WHOLE,
    "scan": "it takes the carry and an entry of xs, as in lambda carry, x: (carry + x, carry)",
    "solve_ivp": "it takes the time and the state, as in lambda t, y: -y",
    "switch": _OPERANDS.replace("cond(predicate, true_function, false_function,", "switch(index, functions,"),
    "while_loop": "it takes the whole state, as in lambda state: state[0] < 3",
    "window_reduce": _TWO,
}
"""What to write where a function of the user's takes another number of arguments, by the function that calls it."""

OPS_OF_PLACES: Final = (
    "gather",
    *(f"indexed_{name}" for name in ("add", "logsumexp", "max", "mean", "min", "prod", "put")),
)
"""The functions whose indices are vectors along the last axis."""

OF_INDICES: Final = (
    "write tb.stack(indices, axis=-1), as the last axis of the indices runs over the leading axes of x",
    "write tb.stack(tb.broadcast_arrays(*map(tb.asarray, indices)), axis=-1), as the last axis of the indices runs "
    "over the leading axes of x",
)
"""What to write in place of indices for each axis: for tensors of one shape, and for others."""

OF_KEYS: Final = "the first argument is a key, as in tb.random.key(seed)"
"""What to write where an argument of a function of keys is missing, and the first one is not a key."""

MISSING: Final = {
    ("gamma", "a"): "a is the shape parameter of the distribution",
    ("fori_loop", "initial"): "the arguments are lower, upper, body, initial",
    ("while_loop", "initial"): "the arguments are condition, body, initial",
    ("scan", "initial"): "the arguments are function, initial, xs",
    ("randint", "maxval"): "the arguments are key, shape, minval, maxval",
    ("where", "x2"): "the arguments are condition, value where it is true, value elsewhere",
    ("one_hot", "size"): "size is the number of classes",
    **{
        (f"segment_{name}", "size"): "size= is the number of segments"
        for name in ("argmax", "logsumexp", "max", "mean", "min", "prod", "sum")
    },
    ("gradient", "x"): _OF_SAMPLES,
    ("adam", "rate"): "rate is the learning rate, a number or a function of the step",
    **{
        (name, "function"): f"write functools.partial(tb.{name}, {option}=...) as a decorator with options"
        for name, option in (("grad", "argnums"), ("value_and_grad", "argnums"), ("vmap", "in_axes"))
    },
    **{
        (name, "shape"): f"write tb.sparse.{name}({order}, shape=...)"
        for name, order in (
            ("coo", "values, rows, columns"),
            ("csc", "values, indices, pointers"),
            ("csr", "values, indices, pointers"),
        )
    },
    ("coo", "rows"): "write tb.sparse.coo(values, rows, columns, shape=...), or tb.sparse.from_dense(x) for a dense x",
    ("csc", "indices"): "write tb.sparse.csc(values, indices, pointers, shape=...), or tb.sparse.from_dense(x)",
    ("csr", "indices"): "write tb.sparse.csr(values, indices, pointers, shape=...), or tb.sparse.from_dense(x)",
    ("dot", "contract"): "x @ y is the product of vectors and matrices; contract= takes the names of the axes to sum",
    ("normal", "key"): "write tb.random.normal(tb.random.key(seed), shape)",
    (
        "template",
        "dtype",
    ): "write tb.template((3, 4), 'f32', ('a', 'b')) for f32[a: 3][b: 4], or x.template",
    ("uniform", "key"): "write tb.random.uniform(tb.random.key(seed), shape)",
    ("where", "x1"): "tb.nonzero(condition) returns the positions",
    ("diagonals", "offsets"): "as in tb.sparse.diagonals([x, y], [0, 1], (n, n)), with a list for each diagonal",
    ("diagonals", "shape"): "as in tb.sparse.diagonals([x, y], [0, 1], (n, n)), with a list for each diagonal",
    ("randint", "minval"): "the order is key, shape, minval, maxval",
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
