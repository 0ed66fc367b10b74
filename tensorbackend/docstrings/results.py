"""Words for what ops return. The type stands in front of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

Words = Mapping[str, str]

_BOOLS = "Bools with the shape and names of x."
_LIKE = "Has the shape and names of x."
_REDUCED = "The reduced axes are dropped, or kept with size 1 if `keepdims`; the other axes keep their names."
_LIKE_X = "Has the shape, dtype and names of x."
_MATRIX_NAMES = "Batch axes keep their names; the text above says which names the last two axes have."

RETURNS: Final[Words] = {
    # Elementwise
    "unary": "Has the shape and names of x, and its dtype unless the text above says otherwise.",
    "transcendental": "Has the shape and names of x. Integers give the default floating dtype.",
    "complex_functions": "Has the shape and names of x. Integers give the default floating dtype.",
    "activations": "Has the shape and names of x. Integers give the default floating dtype unless the text above says "
    "otherwise.",
    "binary": "Has the shape to which the operands broadcast, and the names of both. The dtype is bool for a "
    "comparison or a logical op, else the one to which the operands are promoted.",
    **dict.fromkeys(("isfinite", "isinf", "isnan", "logical_not", "signbit"), _BOOLS),
    "isclose": "Bools with the shape to which the operands broadcast, and the names of both.",
    "functions": "Has the shape to which the operands broadcast, and the names of both.",
    "special": "Has the shape to which the operands broadcast, and the names of both. Integers give the default "
    "floating dtype.",
    "factorial": _LIKE_X,
    "stop_gradient": _LIKE_X,
    "astype": _LIKE,
    "bitcast": _LIKE,
    "clip": "Has the shape to which all three broadcast, and the dtype to which they are promoted.",
    "where": "Has the shape to which all three broadcast, and the dtype to which x1 and x2 are promoted.",
    # Collective operations
    "collectives": "Has the template of x, and the same elements on all devices along the mesh axes.",
    # Reductions, orders and what runs along an axis
    "reduction": _REDUCED,
    "order_statistics": _REDUCED,
    "all_close": "One bool: a tensor without axes.",
    "softmax": _LIKE,
    "log_softmax": _LIKE,
    "masked_softmax": _LIKE,
    "standardise": _LIKE,
    "covariance": "Matrices (..., d, d), whose last two axes have no names.",
    "cumulative": "Has the shape and names of x, with one more entry along the axis if `include_initial`.",
    "cumulative_max": _LIKE_X,
    "cumulative_min": _LIKE_X,
    "diff": "Has the names of x, and n fewer entries along the axis.",
    "sort": _LIKE_X,
    "argsort": "Integers (int64) with the shape and names of x.",
    "isin": "Bools with the shape and names of x1.",
    "searchsorted": "Integers (int64) with the shape and names of x2.",
    "map": _LIKE,
    "reduce": _REDUCED,
    # Creation
    "creation": "The new tensor.",
    "rename": "The same elements under other names.",
    "template": "A tensor without data, on TemplateBackend.",
    # Shape
    "shape": "The same elements. Each axis keeps its name unless the text above says otherwise.",
    "concatenate": "The joined tensor, in the dtype to which the tensors are promoted.",
    "concat": "The joined tensor, in the dtype to which the tensors are promoted.",
    "stack": "Has one more axis, and the dtype to which the tensors are promoted.",
    "unstack": "A tensor for each entry, with the names of the other axes.",
    "split": "The parts, with the names of x.",
    "tile": "Has the sizes of x times the repetitions.",
    "broadcast_arrays": "The tensors, all with one shape.",
    "broadcast_shapes": "The sizes.",
    "meshgrid": "One tensor for each input, with as many axes as there are inputs.",
    "make_diagonal": "Matrices in the last two axes.",
    "put_diagonal": "Matrices with the shape and names of x.",
    "take_diagonal": "The diagonals, along the last axis.",
    "tril": _LIKE_X,
    "triu": _LIKE_X,
    "reflect": "The padded tensor, with the names of x.",
    # Indexing
    "segments": "Has `size` entries along the axis; the other axes keep their names.",
    "gather": "Has the leading axes of the indices, then the axes of x that are not indexed.",
    "indexed_add": "Has the shape and names of x, and the dtype to which x and the updates are promoted.",
    "indexed_put": "Has the shape and names of x, and the dtype to which x and the updates are promoted.",
    "indexed_max": "Has the shape and names of x, and the dtype to which x and the updates are promoted.",
    "indexed_min": "Has the shape and names of x, and the dtype to which x and the updates are promoted.",
    "indexed_mean": "Has the shape and names of x.",
    "indexed_logsumexp": "Has the shape and names of x.",
    "argwhere": "Integers (int64) of shape (number of elements, number of axes of x).",
    "getitem": "The elements at the key, in x's dtype.",
    "isel": "The elements at the keys, in x's dtype.",
    "put_at": "Has the shape, dtype and names of x.",
    "put_slice": "Has the shape, dtype and names of x.",
    "slice_": "Has the sizes `lengths` and the names of x.",
    "slice_along_axis": "Has `length` entries along the axis, and the names of x.",
    "take": "Has the axes of the indices in place of the axis, and the dtype of x.",
    "take_along_axis": "Has the shape of the indices and the dtype of x.",
    "from_end": "The same positions as indices that are not negative.",
    "nonzero": "One tensor of int64 for each axis of x.",
    # Products and linear algebra
    "matmul": "Has the batch axes, then x1's rows and x2's columns, with their names, and the dtype to which both are "
    "promoted.",
    "outer": "Has x1's axes, then x2's, with their names, and the dtype to which both are promoted.",
    "vecdot": "Has the axes other than the contracted one, and the dtype to which both are promoted.",
    "tensordot": "Has the axes that are not contracted, with their names, and the dtype to which both are promoted.",
    "einsum": "Has the axes of the term behind `->`, and the dtype to which the operands are promoted.",
    "conv": "(batch, out, *spatial), in the dtype to which both are promoted.",
    "linalg": _MATRIX_NAMES,
    "det": "A determinant for each matrix, with the names of the batch axes.",
    "matrix_rank": "A rank (int64) for each matrix, with the names of the batch axes.",
    "matrix_norm": "A norm for each matrix, with the names of the batch axes. If `keepdims`, the last two axes stay "
    "with size 1.",
    "norm": _REDUCED,
    "vector_norm": _REDUCED,
    "trace": "A sum for each matrix, with the names of the batch axes.",
    "diagonal": "The diagonals, along the last axis.",
    "cross": "Has the shape to which the operands broadcast, and the names of both.",
    "svdvals": "The singular values of each matrix, along the last axis, without a name.",
    "eigvals": "The eigenvalues of each matrix, along the last axis, without a name.",
    "eigvalsh": "The eigenvalues of each matrix, along the last axis, without a name.",
    "eig": "`eigenvalues` and `eigenvectors`.",
    "eigh": "`eigenvalues` and `eigenvectors`.",
    "lu": "`P`, `L` and `U`.",
    "qr": "`Q` and `R`.",
    "svd": "`U`, `S` and `Vh`.",
    "sparse_matmul": "(..., rows, k), in the dtype to which both are promoted.",
    "slogdet": "`sign` and `logabsdet`, one for each matrix.",
    "lstsq": "The solution, the squared residuals, the rank and the singular values.",
    # Windows
    "window": "One element for each window, with the names of x.",
    "window_scatter_max": "Has the shape and names of x.",
    "window_scatter_min": "Has the shape and names of x.",
    # Transforms
    "fourier": "Complex numbers with the names of x.",
    "hfft": "Real numbers with the names of x, n along the axis.",
    "irfft": "Real numbers with the names of x, n along the axis.",
    "irfftn": "Real numbers with the names of x.",
    "fftshift": _LIKE_X,
    "ifftshift": _LIKE_X,
    "fftfreq": "n frequencies along one axis.",
    "rfftfreq": "n // 2 + 1 frequencies along one axis.",
    # Random numbers
    "random": "Random numbers on the key's backend.",
    "bernoulli": "Random bools on the key's backend.",
    "fold_in": "A key of shape (2,), or keys (..., 2) if `data` has axes.",
    "key": "A key: two words (uint32).",
    "permutation": "The integers or entries in random order.",
    "shuffle": _LIKE_X,
    "random.threefry.split": "Keys of shape (num, 2), or (*num, 2) if `num` is a tuple.",
    "threefry2x32": "Two words for each counter (uint32).",
    # Counts and sets
    "bincount": "Counts (int64), or sums of weights, along one axis.",
    "histogram": "`counts` and `edges`, along one axis each.",
    "unique_values": "The different elements along one axis, or the different entries along `axis`.",
    "unique_counts": "`values` and `counts`.",
    "unique_inverse": "`values` and `inverse_indices`.",
    # Axes with lengths
    "ragged.reduction": "A `Ragged` if an axis with lengths is left, else a tensor.",
    "ragged.running": "Has the shape, names and lengths of x.",
    "ragged.normalisation": "Has the shape, names and lengths of x. Padding holds 0.",
    # Questions
    "can_cast": "True if the cast loses no value.",
    "inspect": "The template, the backend and the elements.",
    "isdtype": "True if the dtype is of the kind.",
    "result_type": "The dtype.",
    "to_batched": "An iterator that makes each batch when it is asked for.",
}
