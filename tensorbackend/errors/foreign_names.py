"""What people type who come from NumPy, SciPy, JAX, PyTorch, xarray and Nx. The only such table.

`SYNONYMS` are the same functions under other names, so that `numpy.arccos(x)` finds ours; `ADVICE` says what to write
instead of other functions, `IN_NAMESPACES` what of functions looked for in a namespace, and `OF_TENSORS` what of
attributes and methods of a tensor. Arguments are in `foreign_keywords`. This is read only after a look-up has failed.
"""

from __future__ import annotations

from typing import Final

from .foreign_attributes import IN_NAMESPACES, OF_TENSORS

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
    "rem": "remainder",
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

ADVICE: Final = {
    "addmm": "x + tb.matmul(y, z)",
    "aminmax": "tb.min(x) and tb.max(x)",
    "angle": "tb.phase(z)",
    "append": "tb.concatenate([x, y], axis=...)",
    "apply_along_axis": "tb.map_along_axis(function, x, axis=...), or tb.vmap(function)",
    "around": "tb.round(x)",
    "array": "tb.asarray(value), or tb.tensor(value) for a copy",
    "array_equal": "tb.all(x == y)",
    "array_split": "tb.split(x, positions, axis=...)",
    "as_strided": "tb.unfold(x, size)",
    "as_tensor": "tb.asarray(value)",
    "asanyarray": "tb.asarray(value)",
    "ascontiguousarray": "x itself, which has no layout",
    "atleast_1d": "tb.reshape(x, ...)",
    "atleast_2d": "tb.reshape(x, ...)",
    "atleast_3d": "tb.reshape(x, ...)",
    "average": "tb.weighted_mean(x, weights), or tb.mean(x)",
    "axis_size": "x.shape[...]",
    "block": "tb.concatenate(tensors, axis=...)",
    "bmm": "tb.matmul(x, y)",
    "broadcast": "tb.broadcast_to(x, shape), or tb.broadcast_arrays(x, y)",
    "cho_solve": "tb.linalg.cholesky_solve(factor, b)",
    "choose": "tb.where(condition, x1, x2), or tb.take_along_axis(x, indices, axis=...)",
    "chunk": "tb.split(x, sections, axis=...)",
    "column_stack": "tb.stack(tensors, axis=1)",
    "conv1d": "tb.nn.conv(x, kernel)",
    "conv2d": "tb.nn.conv(x, kernel)",
    "conv3d": "tb.nn.conv(x, kernel)",
    "copy": "tb.tensor(x)",
    "corrcoef": "tb.correlation(x), with a variable a column",
    "cov": "tb.covariance(x), with a variable a column",
    "curve_fit": "tb.optimize.least_squares(residuals, x0)",
    "DataArray": "tb.asarray(values, names=('time', 'place'))",
    "deg2rad": "x * tb.pi / 180",
    "degrees": "x * 180 / tb.pi",
    "determinant": "tb.linalg.det(x)",
    "device_put": "tb.asarray(x, device=...)",
    "diag": "tb.make_diagonal(x) or tb.take_diagonal(x)",
    "diag_embed": "tb.make_diagonal(x)",
    "diag_indices": "tb.take_diagonal(x) and tb.put_diagonal(x, values)",
    "diagflat": "tb.make_diagonal(x)",
    "divmod": "tb.floor_divide(x, y) and tb.remainder(x, y)",
    "dstack": "tb.concatenate(tensors, axis=2)",
    "dynamic_slice": "tb.slice_(x, ...)",
    "dynamic_update_slice": "tb.put_slice(x, update, starts=...)",
    "ediff1d": "tb.diff(x)",
    "eigs": "tb.solvers.eigsh(matrix, k), for Hermitian matrices",
    "eigsh": "tb.solvers.eigsh(matrix, k)",
    "embedding": "tb.nn.embedding(indices, table)",
    "eval_shape": "tb.template(...) as an argument of the function, or tb.trace(function)",
    "exp2": "tb.pow(2.0, x)",
    "fabs": "tb.abs(x)",
    "fill_diagonal": "tb.put_diagonal(x, values)",
    "flat_size": "x.size",
    "flatnonzero": "tb.nonzero(x)",
    "flatten": "tb.reshape(x, -1)",
    "fliplr": "tb.flip(x, axis=1)",
    "flipud": "tb.flip(x, axis=0)",
    "float_power": "tb.pow(x.astype('float64'), y)",
    "fmax": "tb.nanmax(tb.stack([x, y]), axis=0)",
    "fmin": "tb.nanmin(tb.stack([x, y]), axis=0)",
    "from_numpy": "tb.asarray(array)",
    "frombuffer": "tb.from_binary(data, template)",
    "fromfunction": "tb.iota(shape, axis=...), of which a function is computed",
    "gradient_checkpoint": "tb.checkpoint(function)",
    "hann_window": "tb.nn.hann(size)",
    "hanning": "tb.nn.hann(size, periodic=False)",
    "heaviside": "tb.where(x > 0, 1.0, 0.0)",
    "hsplit": "tb.split(x, sections, axis=1)",
    "hstack": "tb.concatenate(tensors, axis=1)",
    "identity": "tb.eye(n)",
    "index_add": "tb.indexed_add(x, indices, updates)",
    "index_select": "tb.take(x, indices, axis=...)",
    "indices": "tb.iota(shape, axis=...)",
    "inner": "tb.vecdot(x, y)",
    "iscomplexobj": "tb.isdtype(x.dtype, 'complex floating')",
    "isneginf": "x == -tb.inf",
    "isposinf": "x == tb.inf",
    "isreal": "tb.imag(z) == 0",
    "ix_": "tb.take(x, indices, axis=...), once for each axis",
    "jacrev": "tb.jacobian(function)",
    "kthvalue": "tb.sort(x)[k], or tb.top_k(x, k)",
    "lax": "the functions of lax in tb itself: tb.scan, tb.cond, tb.while_loop, tb.fori_loop",
    "lerp": "x + weight * (y - x)",
    "linear_transpose": "tb.vjp(function, x)",
    "loadtxt": "numpy.loadtxt(path), and tb.asarray(array)",
    "lobpcg": "tb.solvers.eigsh(matrix, k)",
    "logaddexp2": "tb.logaddexp(x, y), in natural logarithms",
    "logcumsumexp": "tb.associative_scan(tb.logaddexp, x)",
    "logit": "tb.log(p) - tb.log1p(-p)",
    "make_jaxpr": "tb.trace(function)",
    "make_mesh": "tb.Mesh(axes)",
    "manual_seed": "tb.random.key(seed)",
    "masked_fill": "tb.where(mask, value, x)",
    "masked_scatter": "tb.where(mask, values, x)",
    "masked_select": "x[mask], or tb.compress(mask, x)",
    "mm": "tb.matmul(x, y)",
    "movedim": "tb.moveaxis(x, source, destination)",
    "mse_loss": "tb.nn.mean_squared_error(predictions, targets)",
    "msort": "tb.sort(x, axis=0)",
    "multinomial": "tb.random.categorical(key, logits)",
    "mv": "tb.matmul(x, y)",
    "named_scope": "tb.name_scope(name)",
    "nan_to_num": "tb.where(tb.isnan(x), 0, x)",
    "nanargmax": "tb.argmax(tb.where(tb.isnan(x), -tb.inf, x))",
    "nanargmin": "tb.argmin(tb.where(tb.isnan(x), tb.inf, x))",
    "nancumsum": "tb.cumulative_sum(tb.where(tb.isnan(x), 0, x))",
    "nanpercentile": "tb.percentile(x[~tb.isnan(x)], q)",
    "nanquantile": "tb.quantile(x[~tb.isnan(x)], q)",
    "narrow": "x[start:stop], or x.isel(time=slice(start, stop)) by the name of an axis",
    "ndim": "x.ndim",
    "new_axis": "tb.expand_dims(x, axis, name=...)",
    "no_grad": "tb.stop_gradient(x); nothing is recorded outside tb.grad and tb.tape",
    "norm": "tb.linalg.norm(x)",
    "odeint": "tb.solvers.solve_ivp(function, span, y0)",
    "piecewise": "tb.where(condition, x1, x2)",
    "pmap": "tb.shard_map(function, ...), or a layout of tb.Mesh",
    "ptp": "tb.max(x) - tb.min(x)",
    "pure_callback": "tb.host_call(function, templates, *arguments)",
    "put_along_axis": "tb.put_at(x, ...)",
    "rad2deg": "x * 180 / tb.pi",
    "radians": "x * tb.pi / 180",
    "rand": "tb.random.uniform(key, shape)",
    "randn": "tb.random.normal(key, shape)",
    "ravel": "tb.reshape(x, -1)",
    "relu": "tb.nn.relu(x)",
    "remat": "tb.checkpoint(function)",
    "repeat_interleave": "tb.repeat(x, repeats, axis=...)",
    "rollaxis": "tb.moveaxis(x, source, destination)",
    "rot90": "tb.flip(tb.matrix_transpose(x), axis=0)",
    "row_stack": "tb.concatenate(tensors, axis=0)",
    "savetxt": "numpy.savetxt(path, numpy.asarray(x))",
    "savez": "tb.save(path, tensors)",
    "scatter": "tb.indexed_put(x, indices, updates)",
    "scatter_add": "tb.indexed_add(x, indices, updates), or tb.segment_sum(x, segments, size=...)",
    "scatter_reduce": "tb.indexed_max(x, indices, updates), tb.indexed_add and the like",
    "select_n": "tb.where(condition, x1, x2)",
    "shape": "x.shape",
    "signal": "tb.nn.stft(x, ...), or tb.convolve(x, y) and tb.correlate(x, y)",
    "sinc": "tb.where(x == 0, 1.0, tb.sin(tb.pi * x) / (tb.pi * x))",
    "size": "x.size",
    "sliding_window_view": "tb.unfold(x, size)",
    "solve_ivp": "tb.solvers.solve_ivp(function, span, y0)",
    "split_with_sizes": "tb.split(x, positions, axis=...)",
    "swapaxes": "tb.permute_dims(x, axes)",
    "swapdims": "tb.permute_dims(x, axes)",
    "take_along_dim": "tb.take_along_axis(x, indices, axis=...)",
    "tensor_split": "tb.split(x, positions, axis=...)",
    "transpose": "tb.permute_dims(x, axes), or tb.matrix_transpose(x)",
    "tree": "tb.tree_map(function, tree)",
    "tril_indices": "tb.nonzero(tb.tri(n))",
    "triu_indices": "tb.nonzero(tb.triu(tb.ones((n, n))))",
    "typeof": "x.template",
    "unbind": "tb.unstack(x, axis=...)",
    "unflatten": "tb.split_axis(x, axis, sizes)",
    "unique": "tb.unique_values(x)",
    "unsqueeze": "tb.expand_dims(x, axis)",
    "value_and_gradient": "tb.value_and_grad(function)",
    "vander": "x[:, None] ** tb.arange(n)",
    "Variable": "tb.asarray(value)",
    "vdot": "tb.vecdot(x, y)",
    "view": "tb.reshape(x, shape), or tb.bitcast(x, dtype)",
    "vsplit": "tb.split(x, sections, axis=0)",
    "vstack": "tb.concatenate(tensors, axis=0)",
    "windows": "tb.unfold(x, size) for the windows of a tensor, or tb.window_sum(x, size) and the like",
    "with_sharding_constraint": "a layout of the names, as in JaxBackend(mesh=..., layout=...)",
    "xlogy": "tb.where(x == 0, 0.0, x * tb.log(y))",
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
    return ADVICE.get(name)


def fold(name: str) -> str:
    """Return a name without what libraries spell differently: capitals and underscores.

    >>> fold("LayerNorm"), fold("layer_norm")
    ('layernorm', 'layernorm')
    """
    return name.replace("_", "").lower()
