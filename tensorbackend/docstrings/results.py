"""Descriptions of what ops return and raise. In a docstring the type comes before them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

Words = Mapping[str, str]

_BOOLS = "A bool tensor with the shape and names of x."
_LIKE = "A tensor with the shape and names of x."
_LIKE_X = "A tensor with the shape, dtype and names of x."
_LIKE_OR_FLOATING = (
    "A tensor with the shape and names of x, in its dtype, or the default floating dtype for integers and bool."
)
_FLOATING = "A tensor with the shape and names of x, in the default floating dtype for integers."
_OF_BOTH = "tensor with the shape to which x1 and x2 broadcast; each axis has the name that it has in x1 or x2."
_PROMOTED = f"A {_OF_BOTH} The dtype is the one to which x1 and x2 are promoted."
_FLOATING_PROMOTED = f"{_PROMOTED} Integers are converted to the default floating dtype."
_BOOLS_OF_BOTH = f"A bool {_OF_BOTH}"
_REDUCED = (
    "A tensor without the reduced axes, or with size 1 along them if `keepdims`. The other axes keep their names."
)
_SEVERAL_REDUCED = f"{_REDUCED} A list q, or a tensor q with an axis, adds a new first axis."
_MATRIX_NAMES = "Matrices, whose batch axes keep their names. The text above says which names the last two axes have."
_WRITTEN = "A tensor with the shape and names of x, in the dtype to which x and the updates are promoted."
_SEGMENTS = "with `size` entries along the axis, which has the name `name`. The other axes keep their names."
_EIGENVALUES = "The eigenvalues of each matrix, along the last axis, which has no name."
_NO_NAME = "In the text above, `[.]` is an axis without a name."
_EIGENPAIRS = f"A named tuple of `eigenvalues`, of shape (..., n), and `eigenvectors`, of shape (..., n, n). {_NO_NAME}"
_SCHEDULES = ("optimize.descent.cosine_decay", "optimize.descent.exponential_decay", "optimize.descent.warmup")
_DECAYING = ("optimize.adafactor", "optimize.descent.lion", "optimize.moments.adamw")

RETURNS: Final[Words] = {
    # Elementwise
    "basic": "A tensor with the shape and names of x, in the dtype of x unless the text above says otherwise.",
    "transcendental": _FLOATING,
    "complex_functions": _FLOATING,
    "binary": _PROMOTED,
    **dict.fromkeys(("atan2", "divide"), _FLOATING_PROMOTED),
    **dict.fromkeys(("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"), _BOOLS_OF_BOTH),
    **dict.fromkeys(("logical_and", "logical_or", "logical_xor"), _BOOLS_OF_BOTH),
    **dict.fromkeys(("isfinite", "isinf", "isnan", "logical_not", "signbit"), _BOOLS),
    "isclose": _BOOLS_OF_BOTH,
    "functions": _FLOATING_PROMOTED,
    "fmod": _PROMOTED,
    **dict.fromkeys(("positive", "square", "trunc"), _LIKE_X),
    **dict.fromkeys(("reciprocal", "log2", "log10"), _FLOATING),
    "phase": "A real tensor with the shape and names of x, in the default floating dtype for integers.",
    "special": "A tensor with the shape to which the operands broadcast; each axis has the name that it has in one of "
    "them, in the default floating dtype for integers.",
    **dict.fromkeys(("digamma", "lgamma"), _FLOATING),
    "factorial": _LIKE_X,
    "stop_gradient": _LIKE_X,
    "astype": "A tensor with the shape and names of x, in the given dtype.",
    "bitcast": "A tensor with the shape and names of x, in the given dtype.",
    "clip": "A tensor with the shape to which all operands broadcast, in the dtype to which they are promoted.",
    "where": "A tensor with the shape to which all operands broadcast, in the dtype to which x1 and x2 are promoted.",
    **dict.fromkeys(("activations", "log_softmax", "softmax"), _LIKE_OR_FLOATING),
    "nn.normalisation": "A tensor with the shape and names of x, computed in float32 at least.",
    "nn.windows": "A vector; of one element it is 1.",
    # Collective operations
    "collectives": "A tensor with the shape, dtype and names of x, and with the same elements on all devices along the "
    "mesh axes.",
    # Reductions, sorting, searching and cumulative ops
    "reduction": _REDUCED,
    "order_statistics": _REDUCED,
    **dict.fromkeys(("quantile", "percentile", "nanquantile", "nanpercentile"), _SEVERAL_REDUCED),
    "missing_values": f"{_REDUCED} Integers give the default floating dtype where the result is inexact.",
    "all_close": "A bool tensor without axes.",
    "correlation": "Matrices of shape (..., d, d), whose last two axes have no names.",
    "digitize": "An int64 tensor with the shape and names of x.",
    "set_operations": "The elements along one axis, in the dtype to which x1 and x2 are promoted.",
    "covariance": "Matrices of shape (..., d, d), whose last two axes have no names.",
    "cumulative": "A tensor with the shape and names of x, but with one more entry along the axis if "
    "`include_initial`.",
    "cumulative_max": _LIKE_X,
    "cumulative_min": _LIKE_X,
    "diff": "A tensor with the names of x. Along the axis it has n entries fewer than x with `prepend` and `append`.",
    "sort": _LIKE_X,
    "argsort": "An int64 tensor with the shape and names of x.",
    "isin": "A bool tensor with the shape and names of x1.",
    "searchsorted": "An int64 tensor with the shape and names of x2.",
    "map": "A tensor with the shape and names of x, in the dtype of the function's results.",
    "reduce": _REDUCED,
    # Creation
    "creation": "The new tensor.",
    "rename": "A tensor with the same elements and other names.",
    "template": "A tensor without data, on `TemplateBackend`.",
    # Shape
    "shape": "A tensor with the elements of x. Each axis keeps its name unless the text above says otherwise.",
    "broadcast_to": "A tensor of the given shape, in which the elements of x are repeated.",
    "concatenate": "The joined tensor, in the dtype to which the tensors are promoted.",
    "concat": "The joined tensor, in the dtype to which the tensors are promoted.",
    "stack": "A tensor with one more axis, in the dtype to which the tensors are promoted.",
    "unstack": "A tensor for each entry, with the names of the other axes.",
    "split": "The parts, with the names of x.",
    "tile": "A tensor whose sizes are those of x times the repetitions, with the names of x.",
    "broadcast_arrays": "The tensors, all with one shape.",
    "broadcast_shapes": "The sizes of the common shape.",
    "meshgrid": "A tensor for each operand, with as many axes as there are operands.",
    "make_diagonal": "Square matrices in the last two axes.",
    "put_diagonal": "Matrices with the shape and names of x.",
    "take_diagonal": "The diagonals, along the last axis.",
    "tril": _LIKE_X,
    "triu": _LIKE_X,
    "reflect": "The padded tensor, with the names of x.",
    # Indexing
    "segments": f"A tensor {_SEGMENTS}",
    "segment_argmax": f"An int64 tensor {_SEGMENTS}",
    "gather": "A tensor with all axes of the indices but the last, then the axes of x that are not indexed. With "
    "`batch`, the batch axes come first.",
    **dict.fromkeys(("indexed_add", "indexed_put", "indexed_max", "indexed_min", "indexed_prod"), _WRITTEN),
    **dict.fromkeys(("indexed_mean", "indexed_logsumexp"), f"{_WRITTEN} Integers give the default floating dtype."),
    "argwhere": "An int64 tensor of shape (n, number of axes of x), where n is `size`, or else the number of elements "
    "that are not zero.",
    "getitem": "The elements at the key, in the dtype of x.",
    "isel": "The elements at the keys, in the dtype of x.",
    "put_at": _LIKE_X,
    "put_slice": _LIKE_X,
    "slice_": "A tensor with the sizes `lengths`, and with the dtype and names of x.",
    "slice_along_axis": "A tensor with `length` entries along the axis, and with the dtype and names of x.",
    "take": "A tensor with the axes of the indices in place of the axis, in the dtype of x.",
    "take_along_axis": "A tensor with as many entries along the axis as the indices have, in the dtype of x.",
    "from_end": "Indices of the same entries, which count from the start of the axis.",
    "nonzero": "An int64 tensor for each axis of x.",
    # Products and linear algebra
    "matmul": "A tensor with the batch axes, then the rows of x1 and the columns of x2, with their names, in the dtype "
    "to which x1 and x2 are promoted.",
    "kron": "A tensor in the dtype to which x1 and x2 are promoted.",
    "outer": "A tensor with the axes of x1, then the axes of x2, with their names, in the dtype to which x1 and x2 are "
    "promoted.",
    "vecdot": "A tensor without the contracted axis, in the dtype to which x1 and x2 are promoted.",
    "tensordot": "A tensor with the axes that are not contracted, with their names, in the dtype to which x1 and x2 "
    "are promoted.",
    "einsum": "A tensor with the axes of the term after `->`, in the dtype to which the operands are promoted.",
    **dict.fromkeys(
        ("convolve", "correlate"),
        "A vector, in the dtype to which x1 and x2 are promoted. Its axis has the name that it has in x1 or x2.",
    ),
    "conv": "A tensor of shape (batch, out, *spatial), in the dtype to which x and the kernel are promoted.",
    "linalg": _MATRIX_NAMES,
    "cholesky": f"The factors, whose batch axes keep their names. {_NO_NAME}",
    "solve": "The solution x: for each matrix a vector if x2 is a vector, else a matrix.",
    "adjoint": "Matrices. Each axis keeps its name, so that the names of the last two axes are exchanged.",
    "det": "A determinant for each matrix, with the names of the batch axes.",
    "matrix_rank": "A rank (int64) for each matrix, with the names of the batch axes.",
    "matrix_norm": "A norm for each matrix, with the names of the batch axes. If `keepdims`, the last two axes are "
    "kept with size 1.",
    "norm": _REDUCED,
    "vector_norm": _REDUCED,
    "trace": "A sum for each matrix, with the names of the batch axes.",
    "diagonal": "The diagonals, along the last axis.",
    "cross": f"A {_OF_BOTH}",
    "svdvals": "The singular values of each matrix, along the last axis, which has no name.",
    "eigvals": _EIGENVALUES,
    "eigvalsh": _EIGENVALUES,
    "eig": _EIGENPAIRS,
    "eigh": _EIGENPAIRS,
    "lu": f"A named tuple of `P`, `L` and `U`. {_NO_NAME}",
    "qr": f"A named tuple of `Q` and `R`. {_NO_NAME}",
    "svd": f"A named tuple of `U`, `S` and `Vh`. {_NO_NAME}",
    "sparse_matmul": "A tensor of shape (..., rows, k), in the dtype to which the values and x are promoted.",
    "slogdet": "A named tuple of `sign` and `logabsdet`, each with one number for each matrix.",
    "lstsq": "A named tuple of `solution`, `residuals` (squared), `rank` and `singular_values`.",
    # Windows
    "window": "A tensor with one element for each window, and with the names of x.",
    "window_scatter_max": _LIKE,
    "window_scatter_min": _LIKE,
    # Transforms
    **dict.fromkeys(("fft2", "ifft2"), "The complex transform."),
    "fourier": "A complex tensor with the names of x.",
    **dict.fromkeys(
        ("dct", "hfft", "idct", "irfft"), "A real tensor with the names of x, and with n entries along the axis."
    ),
    "irfftn": "A real tensor with the names of x.",
    "fftshift": _LIKE_X,
    "ifftshift": _LIKE_X,
    "fftfreq": "n frequencies along one axis.",
    "rfftfreq": "n // 2 + 1 frequencies along one axis.",
    # Random numbers
    "random": "Random numbers on the backend of the key.",
    "bernoulli": "Random bools on the backend of the key.",
    "categorical": "Random classes (int64) on the backend of the key.",
    "choice": "Random entries of the tensor, or random integers (int64), on the backend of the key.",
    "multivariate_normal": "Random vectors along the last axis, on the backend of the key.",
    "fold_in": "A key of shape (2,), or keys of shape (..., 2) if `data` has axes.",
    "key": "A key: a uint32 tensor of shape (2,).",
    "permutation": "The integers, or the entries of the tensor, in random order.",
    "shuffle": _LIKE_X,
    "random.threefry.split": "Keys of shape (num, 2), or (*num, 2) if `num` is a tuple.",
    "threefry2x32": "Two random words for each counter, in two uint32 tensors.",
    # Counts and sets
    "bincount": "The counts (int64), or the sums of the weights, along one axis.",
    "histogram": "A named tuple of `counts` and `edges`, each with one axis.",
    "unique_values": "The unique elements along one axis, or x with only the unique entries along `axis`.",
    "unique_counts": "A named tuple of `values` and `counts`.",
    "unique_inverse": "A named tuple of `values` and `inverse_indices`.",
    # Ragged tensors
    "ragged.reduction": "A `Ragged` if an axis with lengths remains, else a tensor.",
    "ragged.running": "The result, with the shape, names and lengths of x.",
    "ragged.normalisation": "The result, with the shape, names and lengths of x. The padding is 0.",
    # Weights and integers
    "nn.initialisers": "The weight, of the given shape, dtype and names.",
    "looped.divisors": "A tensor with the shape to which x1 and x2 broadcast, in the integer dtype to which they are "
    "promoted.",
    "optimize.transformations": "Without a state.",
    **dict.fromkeys(("optimize.descent", "optimize.moments"), "The transformation, used by its `init` and `update`."),
    **dict.fromkeys(_SCHEDULES, "The rate for a number of steps, a tensor without axes."),
    **dict.fromkeys(_DECAYING, "The transformation, used by its `init` and `update`; `update` needs the parameters."),
    # Inspection
    "can_cast": "True if the two dtypes are promoted to `to`. Integers may still be rounded, as from int64 to float32.",
    "inspect": "A text with the template, the backend and the elements.",
    "isdtype": "True if the dtype equals `kind`, or is of this kind.",
    "result_type": "The common dtype.",
    "to_batched": "An iterator over the batches, which makes each batch when it is requested.",
}

_NO_AXIS = {"AxisError": "For an axis that x does not have."}
_COMPLEX = {"DTypeError": "For a complex dtype."}

_OF_COSINES = {
    "ArgumentError": "For another type or norm.",
    "DTypeError": "For complex numbers.",
    "ShapeError": "For fewer than 1 sample, or 2 for type 1.",
}
_OF_VECTORS = {"ShapeError": "For operands without elements or of more axes."}
_OF_LABELS = {
    "ShapeError": "For labels or lengths that do not have the batch axes of the logits.",
    "NamesError": "If matching axes have different names.",
    "DTypeError": "For labels or lengths that are not integers.",
    "ArgumentError": "For a blank that is not a class.",
    "IndexRangeError": "For a label that is not a class.",
}
_OF_LOSSES = {"DTypeError": "For complex numbers.", "ShapeError, NamesError": "For operands that do not broadcast."}
_OF_PLACES = {"ArgumentError": "For a place that the axis does not have.", "DTypeError": "For complex numbers."}
_OF_PLANES = {
    "AxisError": "For an axis that the tensor does not have, or one that is given twice.",
    "ShapeError": "For a length below 1.",
}

RAISES: Final[Mapping[str, Words]] = {
    "activations": _COMPLEX,
    "softmax": _COMPLEX | _NO_AXIS,
    "log_softmax": _COMPLEX | _NO_AXIS,
    "collectives": {"ArgumentError": "For an axis that the mesh does not have, and outside a function of `shard_map`."},
    **dict.fromkeys(("fft2", "ifft2"), _OF_PLANES),
    **dict.fromkeys(("convolve", "correlate"), _OF_VECTORS),
    "dct": _OF_COSINES,
    "idct": _OF_COSINES,
    **dict.fromkeys(("argpartition", "partition"), _OF_PLACES),
    "sampling.gamma": {
        "ArgumentError": "For a number that is not above 0.",
        "DataError": "The same for tensors, whenever data can be read.",
        "DTypeError": "For a dtype that is not floating.",
        "ShapeError": "For an invalid key, and parameters that do not broadcast to the shape.",
    },
    "sampling.gamma.dirichlet": {},
    "nn.windows": {"ArgumentError": "For a negative size.", "DTypeError": "For a dtype that is not floating."},
    "nn.initialisers": {"ShapeError": "For fewer than two axes.", "DTypeError": "For a dtype that is not floating."},
    "looped.divisors": {"DTypeError": "For operands that are no integers."},
    "nn.ctc": {"ArgumentError": "For a blank that is not a class."},
    **dict.fromkeys(("nn.ctc.ctc_loss", "nn.ctc.ctc_alignment"), _OF_LABELS),
    **dict.fromkeys(("nn.losses.mean_squared_error", "nn.losses.binary_cross_entropy"), _OF_LOSSES),
    **dict.fromkeys(("nn.losses.huber", "nn.losses.triplet"), _OF_LOSSES),
}
"""For each key, what is raised and when. A docstring that has more says only that."""
