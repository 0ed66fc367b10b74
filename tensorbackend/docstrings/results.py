"""Words for what ops return. The type stands in front of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

Words = Mapping[str, str]

_BOOLS = "Bools of the shape and with the names of x."
_LIKE = "Of the shape and with the names of x."
_REDUCED = "Without the axes that are reduced, or with them at size 1 for `keepdims`; the "
"other axes keep their names."
_LIKE_X = "Of the shape, dtype and names of x."
_MATRIX_NAMES = "The batch axes keep their names; the summary says which names the last two have."

RETURNS: Final[Words] = {
    # Elementwise
    "unary": "Of the shape and with the names of x, in its dtype unless the summary says otherwise.",
    "transcendental": "Of the shape and with the names of x; of integers in the default floating dtype.",
    "complex_functions": "Of the shape and with the names of x; of integers in the default floating dtype.",
    "activations": "Of the shape and with the names of x; of integers in the default floating dtype unless said "
    "otherwise.",
    "binary": "Of the shape to which the operands broadcast, with the names of both; bools for a comparison or a "
    "logical op, else in the dtype that the operands have in common.",
    **dict.fromkeys(("isfinite", "isinf", "isnan", "logical_not", "signbit"), _BOOLS),
    "isclose": "Bools of the shape to which the operands broadcast, with the names of both.",
    "functions": "Of the shape to which the operands broadcast, with the names of both.",
    "special": "Of the shape to which the operands broadcast, with the names of both; of integers in the default "
    "floating dtype.",
    "factorial": _LIKE_X,
    "stop_gradient": _LIKE_X,
    "astype": _LIKE,
    "bitcast": _LIKE,
    "clip": "Of the shape to which all three broadcast, in the dtype that they have in common.",
    "where": "Of the shape to which all three broadcast, in the dtype that x1 and x2 have in common.",
    # Reductions, orders and what runs along an axis
    "reduction": _REDUCED,
    "order_statistics": _REDUCED,
    "all_close": "One bool, without axes.",
    "softmax": _LIKE,
    "log_softmax": _LIKE,
    "masked_softmax": _LIKE,
    "standardise": _LIKE,
    "covariance": "Matrices (..., d, d), whose last two axes have no names.",
    "cumulative": "Of x's shape, with one entry more along the axis for `include_initial`; the names of x.",
    "cumulative_max": _LIKE_X,
    "cumulative_min": _LIKE_X,
    "diff": "With n entries fewer along the axis; the names of x.",
    "sort": _LIKE_X,
    "argsort": "Integers (int64) of the shape and with the names of x.",
    "isin": "Bools of the shape and with the names of x1.",
    "searchsorted": "Integers (int64) of the shape and with the names of x2.",
    "map": _LIKE,
    "reduce": _REDUCED,
    # Creation
    "creation": "The tensor, on the backend and of the dtype that are asked for.",
    "rename": "The same elements under other names.",
    "template": "A tensor without data, on TemplateBackend.",
    # Shape
    "shape": "The same elements, each axis with its name unless the summary says otherwise.",
    "concatenate": "As long along the axis as all tensors together, in the dtype that they have in common.",
    "concat": "As long along the axis as all tensors together, in the dtype that they have in common.",
    "stack": "With one axis more, in the dtype that the tensors have in common.",
    "unstack": "A tensor for each entry, with the names of the other axes.",
    "split": "The parts, with the names of x.",
    "tile": "Of the sizes of x times the repetitions.",
    "broadcast_arrays": "The tensors, all of one shape.",
    "broadcast_shapes": "The sizes.",
    "meshgrid": "A tensor of as many axes as there are tensors, for each of them.",
    "make_diagonal": "Matrices in the last two axes.",
    "put_diagonal": "Matrices of the shape and with the names of x.",
    "take_diagonal": "The diagonals, along the last axis.",
    "tril": _LIKE_X,
    "triu": _LIKE_X,
    "reflect": "Longer by the padding, with the names of x.",
    # Indexing
    "segments": "With `size` entries along the axis; the other axes keep their names.",
    "gather": "The leading axes of the indices, then those of x that no index runs over.",
    "indexed_add": "Of the shape and with the names of x, in the dtype that x and the updates have in common.",
    "indexed_put": "Of the shape and with the names of x, in the dtype that x and the updates have in common.",
    "indexed_max": "Of the shape and with the names of x, in the dtype that x and the updates have in common.",
    "indexed_min": "Of the shape and with the names of x, in the dtype that x and the updates have in common.",
    "indexed_mean": "Of the shape and with the names of x.",
    "indexed_logsumexp": "Of the shape and with the names of x.",
    "argwhere": "Integers (int64) of shape (number, axes of x).",
    "getitem": "The elements at the key, in x's dtype.",
    "isel": "The elements at the keys, in x's dtype.",
    "put_at": "Of the shape, dtype and names of x.",
    "put_slice": "Of the shape, dtype and names of x.",
    "slice_": "Of the sizes `lengths`, with the names of x.",
    "slice_along_axis": "With `length` entries along the axis; the names of x.",
    "take": "The indices' axes in the place of the axis, in x's dtype.",
    "take_along_axis": "Of the shape of the indices, in x's dtype.",
    "from_end": "The indices, none of which counts from the end.",
    "nonzero": "A tensor of int64 for each axis of x.",
    # Products and linear algebra
    "matmul": "The batch axes, then x1's rows and x2's columns, with their names; in the dtype that both have in "
    "common.",
    "outer": "x1's axes, then x2's, with their names; in the dtype that both have in common.",
    "vecdot": "The axes besides the contracted one, with the names of both; in the dtype that both have in common.",
    "tensordot": "The axes that are not contracted, with their names; in the dtype that both have in common.",
    "einsum": "The axes that the term of the result says, in the dtype that the operands have in common.",
    "conv": "(batch, out, *spatial), in the dtype that both have in common.",
    "linalg": _MATRIX_NAMES,
    "det": "A determinant for each matrix, with the names of the batch axes.",
    "matrix_rank": "A rank (int64) for each matrix, with the names of the batch axes.",
    "matrix_norm": "A norm for each matrix, with the names of the batch axes; the last two stay with size 1 for "
    "`keepdims`.",
    "norm": _REDUCED,
    "vector_norm": _REDUCED,
    "trace": "A sum for each matrix, with the names of the batch axes.",
    "diagonal": "The diagonals, along the last axis.",
    "cross": "Of the shape to which the operands broadcast, with the names of both.",
    "svdvals": "The singular values of each matrix, along the last axis, without a name.",
    "eigvals": "The eigenvalues of each matrix, along the last axis, without a name.",
    "eigvalsh": "The eigenvalues of each matrix, along the last axis, without a name.",
    "eig": "`eigenvalues` and `eigenvectors`.",
    "eigh": "`eigenvalues` and `eigenvectors`.",
    "lu": "`P`, `L` and `U`.",
    "qr": "`Q` and `R`.",
    "svd": "`U`, `S` and `Vh`.",
    "sparse_matmul": "(..., rows, k), in the dtype that both have in common.",
    "slogdet": "`sign` and `logabsdet`, one for each matrix.",
    "lstsq": "The solution, and what is known of how good it is.",
    # Windows
    "window": "An element for each window; the names of x.",
    "window_scatter_max": "Of the shape and with the names of x.",
    "window_scatter_min": "Of the shape and with the names of x.",
    # Transforms
    "fourier": "Complex numbers with the names of x; along the axis as many as the transform has.",
    "hfft": "Real numbers with the names of x, n along the axis.",
    "irfft": "Real numbers with the names of x, n along the axis.",
    "irfftn": "Real numbers with the names of x.",
    "fftshift": _LIKE_X,
    "ifftshift": _LIKE_X,
    "fftfreq": "n frequencies along one axis.",
    "rfftfreq": "n // 2 + 1 frequencies along one axis.",
    # Random numbers
    "random": "Random numbers of the shape, dtype and names that are asked for, on the key's backend.",
    "bernoulli": "Bools of the shape and with the names that are asked for.",
    "fold_in": "A key, (2,), or for data with axes (..., 2).",
    "key": "A key: two words (uint32).",
    "permutation": "The integers or entries in random order.",
    "shuffle": _LIKE_X,
    "random.threefry.split": "Keys, (num, 2) or of the sizes that are given and 2.",
    "threefry2x32": "Two words for each counter (uint32).",
    # Counts and sets
    "bincount": "Counts (int64), or sums of weights, along one axis.",
    "histogram": "`counts` and `edges`, along one axis each.",
    "unique_values": "The elements, along one axis, or the entries along the axis that is given.",
    "unique_counts": "`values` and `counts`.",
    "unique_inverse": "`values` and `inverse_indices`.",
    # Axes with lengths
    "ragged.reduction": "A `Ragged` as long as an axis with lengths is left.",
    "ragged.running": "Of the shape, names and lengths of x.",
    "ragged.normalisation": "Of the shape, names and lengths of x. The padding beside entries within the lengths holds "
    "0.",
    # Questions
    "can_cast": "Whether it does.",
    "inspect": "The text.",
    "isdtype": "Whether it is.",
    "result_type": "The dtype.",
    "to_batched": "The batches, which are made as they are asked for.",
}
