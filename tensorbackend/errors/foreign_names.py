"""What people type who come from NumPy, SciPy, JAX, PyTorch, xarray and Nx. The only such table.

`SYNONYMS` are the same functions under other names, so that `numpy.arccos(x)` finds ours; `ADVICE` says what to write
instead of other functions, `IN_NAMESPACES` what of functions looked for in a namespace, and `OF_TENSORS` what of
attributes and methods of a tensor. Arguments are in `foreign_keywords`. This is read only after a look-up has failed.
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
    "DataArray": "tb.asarray(values, names=('time', 'place'))",
    "Variable": "tb.asarray(value)",
    "addmm": "x + tb.matmul(y, z)",
    "append": "tb.concatenate([x, y], axis=...)",
    "array": "tb.asarray(value), or tb.tensor(value) for a copy",
    "as_strided": "tb.unfold(x, size)",
    "as_tensor": "tb.asarray(value)",
    "ascontiguousarray": "x itself, which has no layout",
    "atleast_1d": "tb.reshape(x, ...)",
    "average": "tb.weighted_mean(x, weights), or tb.mean(x)",
    "axis_size": "x.shape[...]",
    "bmm": "tb.matmul(x, y)",
    "broadcast": "tb.broadcast_to(x, shape), or tb.broadcast_arrays(x, y)",
    "cho_solve": "tb.linalg.cholesky_solve(factor, b)",
    "column_stack": "tb.stack(tensors, axis=1)",
    "conv1d": "tb.nn.conv(x, kernel)",
    "conv2d": "tb.nn.conv(x, kernel)",
    "conv3d": "tb.nn.conv(x, kernel)",
    "copy": "tb.tensor(x)",
    "corrcoef": "tb.correlation(x), with a variable a column",
    "cov": "tb.covariance(x), with a variable a column",
    "curve_fit": "tb.optimize.least_squares(residuals, x0)",
    "determinant": "tb.linalg.det(x)",
    "device_put": "tb.asarray(x, device=...)",
    "diag": "tb.make_diagonal(x) or tb.take_diagonal(x)",
    "eigs": "tb.solvers.eigsh(matrix, k), for Hermitian matrices",
    "eigsh": "tb.solvers.eigsh(matrix, k)",
    "embedding": "tb.nn.embedding(indices, table)",
    "exp2": "tb.pow(2.0, x)",
    "fill_diagonal": "tb.put_diagonal(x, values)",
    "flat_size": "x.size",
    "flatten": "tb.reshape(x, -1)",
    "fliplr": "tb.flip(x, axis=1)",
    "flipud": "tb.flip(x, axis=0)",
    "from_numpy": "tb.asarray(array)",
    "hann_window": "tb.nn.hann(size)",
    "hanning": "tb.nn.hann(size, periodic=False)",
    "hstack": "tb.concatenate(tensors, axis=1)",
    "identity": "tb.eye(n)",
    "index_add": "tb.indexed_add(x, indices, updates)",
    "index_select": "tb.take(x, indices, axis=...)",
    "inner": "tb.vecdot(x, y)",
    "jacrev": "tb.jacobian(function)",
    "lobpcg": "tb.solvers.eigsh(matrix, k)",
    "lax": "the functions of lax in tb itself: tb.scan, tb.cond, tb.while_loop, tb.fori_loop",
    "manual_seed": "tb.random.key(seed)",
    "masked_fill": "tb.where(mask, value, x)",
    "masked_select": "x[mask], or tb.compress(mask, x)",
    "mm": "tb.matmul(x, y)",
    "mse_loss": "tb.nn.mean_squared_error(predictions, targets)",
    "mv": "tb.matmul(x, y)",
    "nan_to_num": "tb.where(tb.isnan(x), 0, x)",
    "narrow": "x[start:stop], or x.isel(time=slice(start, stop)) by the name of an axis",
    "ndim": "x.ndim",
    "new_axis": "tb.expand_dims(x, axis, name=...)",
    "no_grad": "tb.stop_gradient(x); nothing is recorded outside tb.grad and tb.tape",
    "norm": "tb.linalg.norm(x)",
    "odeint": "tb.solvers.solve_ivp(function, span, y0)",
    "piecewise": "tb.where(condition, x1, x2)",
    "ptp": "tb.max(x) - tb.min(x)",
    "rand": "tb.random.uniform(key, shape)",
    "randn": "tb.random.normal(key, shape)",
    "ravel": "tb.reshape(x, -1)",
    "relu": "tb.nn.relu(x)",
    "scatter": "tb.indexed_put(x, indices, updates)",
    "scatter_add": "tb.indexed_add(x, indices, updates), or tb.segment_sum(x, segments, size=...)",
    "shape": "x.shape",
    "signal": "tb.nn.stft(x, ...), or tb.convolve(x, y) and tb.correlate(x, y)",
    "size": "x.size",
    "sliding_window_view": "tb.unfold(x, size)",
    "solve_ivp": "tb.solvers.solve_ivp(function, span, y0)",
    "swapaxes": "tb.permute_dims(x, axes)",
    "tensor_split": "tb.split(x, positions, axis=...)",
    "transpose": "tb.permute_dims(x, axes), or tb.matrix_transpose(x)",
    "tree": "tb.tree_map(function, tree)",
    "unbind": "tb.unstack(x, axis=...)",
    "unique": "tb.unique_values(x)",
    "unsqueeze": "tb.expand_dims(x, axis)",
    "value_and_gradient": "tb.value_and_grad(function)",
    "view": "tb.reshape(x, shape), or tb.bitcast(x, dtype)",
    "vstack": "tb.concatenate(tensors, axis=0)",
    "windows": "tb.unfold(x, size) for the windows of a tensor, or tb.window_sum(x, size) and the like",
}

IN_NAMESPACES: Final[dict[str, dict[str, str]]] = {
    "linalg": {
        "cond": "the largest of tb.linalg.svdvals(x), divided by the smallest",
        "dot": "x @ y, or tb.dot(x, y, contract=...) by the names of axes",
        "einsum": "tb.einsum(subscripts, x, y)",
        "inverse": "tb.linalg.inv(x)",
        "lu_factor": "tb.linalg.lu(x)",
        "multi_dot": "x @ y @ z, or tb.einsum(subscripts, x, y, z)",
        "orth": "tb.linalg.qr(x).Q",
        "pinverse": "tb.linalg.pinv(x)",
        "solve_triangular": "tb.linalg.triangular_solve(a, b)",
        "symeig": "tb.linalg.eigh(x)",
        "tensorinv": "tb.linalg.inv(tb.reshape(x, (n, n)))",
        "transpose": "tb.matrix_transpose(x), or x.mT",
    },
    "fft": {
        "convolve": "tb.convolve(x, y)",
        "freq": "tb.fft.fftfreq(n)",
        "irfft2": "tb.fft.irfftn(x, axes=(-2, -1))",
        "rfft2": "tb.fft.rfftn(x, axes=(-2, -1))",
        "stft": "tb.nn.stft(x, frame_length=..., frame_step=...)",
    },
    "nn": {
        "AdaptiveAvgPool2d": "tb.mean(x, axis=...)",
        "AvgPool2d": "tb.nn.mean_pool(x, window)",
        "BatchNorm2d": "tb.nn.batch_norm(x, statistics=..., training=...)",
        "Conv2d": "tb.nn.conv(x, kernel), as parameters are tensors of your own",
        "CrossEntropyLoss": "tb.nn.sparse_cross_entropy(logits, classes)",
        "Linear": "x @ weight + bias, or tb.dot(x, weight, contract=...): parameters are tensors in a dictionary",
        "MaxPool2d": "tb.nn.max_pool(x, window)",
        "Module": "a function of parameters, which are tensors in dictionaries, lists or dataclasses",
        "MultiheadAttention": "tb.nn.multi_head_attention(...)",
        "conv_transpose2d": "tb.nn.conv_transpose(x, kernel)",
        "Parameter": "tb.asarray(value), and tb.grad(function)(parameters)",
        "Sequential": "a function that calls one layer after another",
        "avg_pool": "tb.nn.mean_pool(x, window)",
        "avg_pool2d": "tb.nn.mean_pool(x, window)",
        "conv1d": "tb.nn.conv(x, kernel)",
        "conv3d": "tb.nn.conv(x, kernel)",
        "functional": "the functions in tb.nn itself, such as tb.nn.relu(x)",
        "hardswish": "tb.nn.hard_silu(x)",
        "init": "tb.nn.glorot_uniform(key, shape), tb.nn.he_normal(key, shape) and the like",
        "initializers": "tb.nn.glorot_uniform(key, shape), tb.nn.he_normal(key, shape) and the like",
        "interpolate": "tb.resize(x, sizes)",
        "max_pool2d": "tb.nn.max_pool(x, window)",
        "nll_loss": "tb.nn.sparse_cross_entropy(logits, classes)",
        "relu6": "tb.clip(x, 0, 6)",
        "scaled_dot_product_attention": "tb.nn.attention(query, key, value)",
        "softmax_cross_entropy": "tb.nn.cross_entropy(logits, targets)",
        "swish": "tb.nn.silu(x)",
        "tanh": "tb.tanh(x)",
        "xavier_normal": "tb.nn.glorot_normal(key, shape)",
        "xavier_uniform": "tb.nn.glorot_uniform(key, shape)",
    },
    "optimize": {
        "Adam": "tb.optimize.adam(rate)",
        "SGD": "tb.optimize.sgd(rate)",
        "brentq": "tb.optimize.bisect(...)",
        "cosine_decay_schedule": "tb.optimize.cosine_decay(...)",
        "fsolve": "tb.optimize.root(function, x0)",
        "newton": "tb.optimize.root(function, x0)",
        "root_scalar": "tb.optimize.bisect(...), or tb.optimize.root(function, x0)",
    },
    "random": {
        "PRNGKey": "tb.random.key(seed)",
        "default_rng": "tb.random.generator(seed), or tb.random.key(seed)",
        "integers": "tb.random.randint(key, shape, minval, maxval)",
        "manual_seed": "tb.random.key(seed)",
        "rand": "tb.random.uniform(key, shape)",
        "randn": "tb.random.normal(key, shape)",
        "random": "tb.random.uniform(key, shape)",
        "randperm": "tb.random.permutation(key, n)",
        "seed": "tb.random.key(seed)",
        "standard_normal": "tb.random.normal(key, shape)",
    },
}
"""What to write instead of names looked for in a namespace of this package."""

OF_TENSORS: Final = {
    "add_": "x = x + y, or x[...] = x + y to assign",
    "assign_coords": "x.rename(...) for names; coordinates are tensors of their own",
    "at": "x[index] = value, or tb.put_at(x, ...) for a new tensor",
    "attrs": "x.template; a tensor has no other attributes",
    "backward": "tb.grad(function)(x), or tb.tape() and tb.gradient(y, x)",
    "bfloat16": "x.astype('bfloat16')",
    "block_until_done": "x.block_until_ready()",
    "bool": "x.astype('bool')",
    "clone": "tb.tensor(x)",
    "contiguous": "x itself, which has no layout",
    "coords": "tensors of their own for coordinates; x.names has the names of the axes",
    "copy": "tb.tensor(x)",
    "cpu": "x.to_device('cpu'), or numpy.asarray(x)",
    "cuda": "x.to_device(...), with one of tb.devices()",
    "dim": "x.ndim",
    "dims": "x.names",
    "double": "x.astype('float64')",
    "expand": "tb.broadcast_to(x, shape)",
    "float": "x.astype('float32')",
    "get_shape": "x.shape",
    "grad": "tb.grad(function)(x)",
    "groupby": "tb.segment_sum(x, segments, size=...), tb.segment_mean and the like",
    "half": "x.astype('float16')",
    "int": "x.astype('int32')",
    "is_cuda": "x.device",
    "itemsize": "x.dtype.bits // 8",
    "long": "x.astype('int64')",
    "loc": "x[...], or x.isel(time=3) by the name of an axis",
    "named": "x.rename('batch', 'feature')",
    "norm": "tb.linalg.norm(x)",
    "numel": "x.size",
    "numpy": "numpy.asarray(x)",
    "permute": "tb.permute_dims(x, axes), or x.transpose(axes)",
    "refine_names": "x.rename('batch', 'feature')",
    "requires_grad": "tb.grad(function)(x); any tensor may be an argument",
    "requires_grad_": "tb.grad(function)(x); any tensor may be an argument",
    "retain_grad": "tb.grad(function)(x)",
    "rolling": "tb.window_mean(x, ...), tb.unfold(x, size)",
    "sel": "x.isel(time=3), as axes have no labels; tb.searchsorted(labels, value) finds a position",
    "sizes": "dict(zip(x.names, x.shape))",
    "stride": "x.shape; a tensor has no strides",
    "strides": "x.shape; a tensor has no strides",
    "swapaxes": "tb.permute_dims(x, axes)",
    "t": "x.T, or x.mT for stacks of matrices",
    "to": "x.astype(dtype), x.to_device(device) or x.backend_copy(backend)",
    "to_dict": "x.tolist()",
    "to_numpy": "numpy.asarray(x)",
    "tobytes": "x.to_binary()",
    "type": "x.astype(dtype), or x.dtype",
    "unsqueeze": "tb.expand_dims(x, axis)",
    "values": "numpy.asarray(x)",
    "view": "x.reshape(shape), or tb.bitcast(x, dtype)",
    "zero_": "x[...] = 0",
}
"""What to write instead of attributes and methods that a tensor does not have."""


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
