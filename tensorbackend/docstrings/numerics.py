"""Descriptions of parameters of products, linear algebra, windows, transforms, random numbers and counts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

Words = Mapping[str, str]

_RANDOM_SHAPE = "The sizes of the result's axes."
_MATRICES = "Matrices in the last two axes; the axes before them are batch axes."
_SQUARE = "Square matrices in the last two axes; the axes before them are batch axes."
_HERMITIAN = "Hermitian matrices in the last two axes. Only the lower triangle of each matrix is read."
_VECTOR_OR_MATRICES = "A vector, or matrices in the last two axes."
_PER_AXIS = (
    "one number for all axes, one for each axis, or a mapping of axes, by name or position, to numbers (other axes "
    "have 1)."
)
_SQUARES = {"x": _SQUARE}
_TWO_VECTORS = {"x1": "A vector of at least one element.", "x2": "Another vector."}
_OF_REAL = {"n": "The number of entries of the result along the axis; by default 2 * (size - 1)."}
_FREQUENCIES = {
    "n": "The number of samples.",
    "dtype": "A floating dtype; by default the default floating dtype.",
    "name": "The name of the axis; by default it has no name.",
}
_ONE_AXIS = {"axis": "The axis, by position or by name."}

_OF_COSINES = {
    "n": "The number of samples: longer input is truncated, shorter input padded with zeros.",
    "x": "Real numbers. Those of less than 32 bits are computed in float32, integers in the default floating dtype.",
}
_OF_BATCHES = {
    "names": "The names of rows and columns. The names of the batch's axes may come before them.",
    "shape": "The numbers of rows and columns. The sizes of the batch's axes may come before them.",
}
_OF_PARAMETERS = {
    "dtype": "A floating dtype; by default that of a floating parameter, else the default one.",
    "names": "The names of the sample's axes; by default those of the parameters.",
    "shape": "The shape of the sample, by default the one to which the parameters broadcast.",
}
_OF_PLANES = {
    "axes": "The axes of the planes.",
    "norm": "Which transforms are divided by the number of elements, as for `fft`.",
    "s": "The lengths of the transforms, by default those of the axes.",
    "x": "A tensor of at least two axes.",
}

PARAMETERS: Final[Mapping[str, Words]] = {
    # Products and linear algebra
    "contraction": {"x2": "A tensor, a Python number or an array."},
    "einsum": {
        "operands": "A tensor for each term.",
        "subscripts": "A term for each operand, separated by commas, and the term of the result after `->`.",
    },
    "tensordot": {"axes": "The number of axes to contract, or (axes of x1, axes of x2) by position or by name."},
    "linalg": {
        "x": _MATRICES,
        "ord": "The order of the norm, as described above.",
        "offset": "The number of the diagonal: 0 for the main diagonal, positive above it, negative below it.",
        "hermitian": "Whether each matrix is Hermitian; its lower triangle is then read, as by `eigh`.",
        "axis1": "The axis of the rows, by position or by name.",
        "axis2": "The axis of the columns, by position or by name.",
        "rtol": "Singular values of at most `rtol` times the largest one count as 0; by default the eps of the dtype "
        "times the longer side of the matrix.",
    },
    "cholesky": {
        "x": "Hermitian positive definite matrices in the last two axes.",
        "upper": "Whether to return the upper factor U rather than the lower factor L.",
    },
    **dict.fromkeys(("det", "eig", "eigvals", "expm", "inv", "slogdet"), _SQUARES),
    "cross": {"x1": "Vectors of three components along the axis.", "x2": "Vectors of three components along the axis."},
    "eigh": {"x": _HERMITIAN},
    "eigvalsh": {"x": _HERMITIAN},
    "lstsq": {"a": _MATRICES, "b": _VECTOR_OR_MATRICES, "rcond": "Another name for `rtol`, which NumPy uses."},
    "matrix_power": {"x": _SQUARE, "n": "The exponent."},
    "norm": {
        "x": "A tensor, a Python number or an array.",
        "axis": "One axis for vectors or two for matrices, by position or by name. By default all elements are one "
        "vector, or with `ord` x itself must be a vector or a matrix.",
    },
    "vector_norm": {
        "x": "A tensor, a Python number or an array.",
        "axis": "The axes of the vectors, by position or by name; by default all of them.",
    },
    "qr": {"mode": 'Whether Q has only as many columns as R needs ("reduced") or is square ("complete").'},
    "solve": {"x1": _SQUARE, "x2": _VECTOR_OR_MATRICES},
    "sparse_matmul": {
        "values": "The stored entries, of shape (..., n). Entries at the same place are added.",
        "first": 'Integers of shape (..., n) for "coo", (..., rows + 1) for "csr", (..., columns + 1) for "csc".',
        "second": "Integers of shape (..., n).",
        "x": "A tensor of shape (..., columns, k).",
        "format": 'What `first` and `second` hold, as in `sparse_matvec`: "coo", "csr" or "csc".',
        "rows": "The number of rows.",
    },
    "svd": {"full_matrices": "Whether U and Vh are square; otherwise they have only the vectors that x needs."},
    # Windows
    "window": {
        "window": f"The sizes of the windows: {_PER_AXIS}",
        "strides": f"The distances between the starts of windows: {_PER_AXIS}",
        "padding": '"valid" for no padding, "same" for ceil(size / stride) windows, (low, high) for each axis, or a '
        "mapping from some axes, by name or position, to (low, high).",
        "dilations": f"The distances between the elements of a window: {_PER_AXIS}",
        "include_padding": "Whether padding is counted as elements that are 0.",
        "source": "The numbers to add, one for each window: of the shape that `window_max` and `window_min` return.",
    },
    "conv": {
        "x": "A tensor of shape (batch, channels, *spatial).",
        "kernel": "A tensor of shape (out, channels, *spatial).",
        "strides": "The distances between the starts of windows: one number for all spatial axes, one for "
        "each, or a mapping from names to numbers.",
        "padding": '"valid" for no padding, "same" for ceil(size / stride) windows, (low, high) for each spatial axis, '
        "or a mapping from names to (low, high).",
        "input_dilation": "The distances between the elements of x, which are filled with zeros; given as `strides`.",
        "kernel_dilation": "The distances between the elements of x that one window reads; given as `strides`.",
        "feature_groups": "The number of groups into which the channels are divided. Each group is convolved with its "
        "share of the kernels.",
        "batch_groups": "The number of groups into which the batch is divided. Each group is convolved with its share "
        "of the kernels.",
    },
    **dict.fromkeys(("convolve", "correlate"), _TWO_VECTORS),
    # Transforms
    "fourier": {
        "axes": "The axes, by position or by name; by default all of them.",
        "d": "The distance between samples.",
        "n": "The number of samples: longer input is truncated, shorter input padded with zeros; by default the size "
        "of the axis.",
        "norm": 'Which transform divides by the length: the inverse ("backward"), the forward one ("forward"), or both '
        'by its square root ("ortho").',
        "s": "The number of samples along each of the `axes`, which must then be given; by default the sizes of x.",
    },
    "irfftn": {
        "s": "The number of entries of the result along each of the `axes`, which must then be given; by default the "
        "sizes of x, but 2 * (size - 1) along the last of them."
    },
    **dict.fromkeys(("fft2", "ifft2"), _OF_PLANES),
    **dict.fromkeys(("dct", "idct"), _OF_COSINES),
    "hfft": _OF_REAL,
    "irfft": _OF_REAL,
    "fftfreq": _FREQUENCIES,
    "rfftfreq": _FREQUENCIES,
    # Random numbers
    "random": {
        "dtype": "A floating dtype; by default the default floating dtype.",
        "independent": "Whether each vector along the axis is shuffled separately.",
        "key": "A random key, as `key`, `split` and `fold_in` return it.",
        "lower": "The lower bound.",
        "maxval": "The upper bound, which is not included.",
        "mean": "The mean.",
        "minval": "The lower bound, which is included.",
        "mode": 'The number of random bits for each number: "high" draws twice as many as "low", for rare events.',
        "replace": "Whether an entry may be drawn more than once.",
        "shape": _RANDOM_SHAPE,
        "upper": "The upper bound.",
    },
    "bernoulli": {
        "names": "A name or `None` for each axis; by default the names of `p`.",
        "p": "The probability of True.",
        "shape": f"{_RANDOM_SHAPE} By default the sizes of `p`.",
    },
    "bits": {"dtype": "An unsigned integer dtype."},
    "categorical": {
        "logits": "Unnormalised logarithms of probabilities.",
        "axis": "The axis of the classes, by position or by name.",
        "names": "A name or `None` for each axis; by default the names of the logits.",
        "shape": f"{_RANDOM_SHAPE} The last ones are the sizes of the logits without the axis of the classes. By "
        "default there are no others.",
    },
    "choice": {
        "a": "The tensor to draw from, or a number n for the integers below n.",
        "p": "The probability of each entry; by default all entries are equally likely.",
        "axis": "The axis along which to draw, by position or by name.",
        "names": "A name or `None` for each axis of the result; by default the axes of `a` keep their names.",
        "shape": "The sizes of the axes that take the place of the axis in the result.",
    },
    "fold_in": {"data": "An integer, or a tensor of integers."},
    "random.key": {"seed": "An int of up to 64 bits."},
    "multivariate_normal": {
        "mean": "The mean, of shape (..., n).",
        "cov": "The covariance, of shape (..., n, n).",
        "dtype": "A floating dtype; by default the dtype to which the mean and the covariance are promoted.",
        "shape": "The sizes of the axes before the last; by default the sizes to which the mean and the "
        "covariance broadcast.",
        "names": "A name or `None` for each axis; by default the names of the mean.",
    },
    "normal": {
        "deviation": "The standard deviation.",
        "dtype": "A floating or complex dtype; by default the default floating dtype.",
        "names": "A name or `None` for each axis; by default the names of the mean and the deviation.",
    },
    "permutation": {"x": "The tensor to permute, or a number n for the integers below n."},
    "randint": {
        "dtype": "An integer dtype; by default int64.",
        "names": "A name or `None` for each axis; by default the names of the bounds.",
    },
    "random.threefry.split": {"num": "The number of keys, or the sizes of the leading axes of the result."},
    "threefry2x32": {
        "key": "Two words along the last axis (uint32).",
        "high": "The high word of each counter (uint32).",
        "low": "The low word of each counter (uint32).",
    },
    "sampling.counts": _OF_PARAMETERS,
    "sampling.gamma": _OF_PARAMETERS,
    # Counts and sets
    "bincount": {"minlength": "The minimum number of entries of the result.", "x": "Integers."},
    "histogram": {
        "bins": "The number of intervals, or their edges in ascending order.",
        "range": "The outer edges of equal intervals; by default the smallest and the largest element.",
        "density": "Whether to divide the counts by their sum and by the widths of the intervals.",
    },
    "sets": {"axis": "The axis whose entries are compared; by default the elements are compared."},
    # Ragged tensors
    "ragged": {"x": "The values."},
    "ragged.reduction": {
        "axis": "The axes to reduce, by position or by name; by default all of them. Along an axis that lengths depend "
        "on, such as the batch, each position reduces the examples that are long enough to reach it, and the result "
        "is as long as the longest of them.",
        "correction": "The divisor is the number of elements minus `correction`; 1 is for the unbiased variance of a "
        "sample.",
        "keepdims": "Whether the result keeps the reduced axes, with size 1 and without lengths.",
    },
    "ragged.reduction.argmax": _ONE_AXIS,
    "ragged.reduction.argmin": _ONE_AXIS,
    "ragged.running": {**_ONE_AXIS, "reverse": "Whether to go from the end of each length to the start."},
    "ragged.running.argsort": {
        "x": "Real values.",
        "axis": "An axis that no lengths depend on.",
        "descending": "Whether to sort in descending order.",
    },
    "ragged.normalisation": {
        "x": "Real values.",
        "axis": "The axes along which the exponentials of the results add up to 1, by position or by name.",
    },
    "ragged.moving": {"axis": "An axis with lengths.", "x": "A tensor with lengths."},
    # Sparse matrices
    "sparse": {
        "format": "The storage format.",
        "matrix": "In any format.",
        "names": "The names of rows and columns.",
        "shape": "The numbers of rows and columns.",
    },
    **dict.fromkeys(("sparse.construction.coo", "sparse.construction.csr", "sparse.construction.csc"), _OF_BATCHES),
    "sparse.algebra": {
        "matrix": "Shape (..., rows, columns).",
        "x1": "A matrix.",
        "x2": "A matrix with the same numbers of rows and columns; the batch's axes broadcast.",
    },
    # Optimisers
    "optimize": {
        "rate": "The learning rate. A schedule is a function of the number of previous steps.",
        "decay": "The fraction of the weights that is subtracted in each step, times the rate.",
        "mask": "Which parameters decay, as for `add_decayed_weights`.",
        "momentum": "The weight of a step one step later, from 0 to below 1.",
        "nesterov": "Whether to use Nesterov's accelerated form.",
    },
    # Inspection
    "can_cast": {"from_": "A dtype, or a tensor whose dtype is used.", "to": "A dtype."},
    "inspect": {"x": "A tensor.", "limit": "The largest number of elements to read and show."},
    "isdtype": {"dtype": "A dtype.", "kind": "A dtype, the name of a kind, or a tuple of several of them."},
    "result_type": {"arrays_and_dtypes": "Tensors, dtypes and Python numbers."},
    "to_batched": {
        "x": "A tensor with axes.",
        "size": "The number of entries in a batch.",
        "leftover": 'What to do if too few entries are left for the last batch: "keep" it shorter, "discard" it, or '
        '"repeat" entries from the start to fill it.',
    },
}
