"""Words for the parameters of products, linear algebra, windows, transforms, random numbers and counts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

Words = Mapping[str, str]

_RANDOM_SHAPE = "The sizes of the result's axes."
_MATRICES = "Matrices in the last two axes; those before are a batch."
_SQUARE = "Square matrices in the last two axes; those before are a batch."
_WINDOW_STEP = "The distance between the starts of windows along each axis, or a mapping from some axes to it."
_SQUARES = {"x": _SQUARE}

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
        "ord": "Which norm.",
        "offset": "The diagonal: 0 for the main one, positive ones above it.",
        "rtol": "Singular values up to `rtol` times the largest count as 0; by default the dtype's eps times the "
        "longer side.",
    },
    "cholesky": {
        "x": "Hermitian positive definite matrices in the last two axes.",
        "upper": "Whether to give the upper factor.",
    },
    **dict.fromkeys(("det", "eig", "eigvals", "expm", "inv", "slogdet"), _SQUARES),
    "cross": {"x1": "Vectors of three components along the axis.", "x2": "Vectors of three components along the axis."},
    "eigh": {"x": "Hermitian matrices in the last two axes; only the lower half is read."},
    "eigvalsh": {"x": "Hermitian matrices in the last two axes; only the lower half is read."},
    "lstsq": {
        "a": _MATRICES,
        "b": "A vector, or matrices in the last two axes.",
        "rcond": "NumPy's name of `rtol`.",
    },
    "matrix_power": {"x": _SQUARE, "n": "The power, an int."},
    "norm": {
        "x": "A tensor with axes.",
        "axis": "One axis or two, by position or by name; by default the tensor is flattened.",
    },
    "vector_norm": {
        "x": "A tensor.",
        "axis": "The axes of the vectors, by position or by name; by default all of them.",
    },
    "qr": {"mode": 'Whether Q has as many columns as R needs ("reduced") or is square ("complete").'},
    "solve": {"x1": _SQUARE, "x2": "A vector, or matrices in the last two axes."},
    "sparse_matmul": {
        "values": "The stored entries, (..., n); entries at one place add up.",
        "first": "Integers (..., n) or (..., rows + 1), as the format says.",
        "second": "Integers (..., n) or (..., columns + 1), as the format says.",
        "x": "(..., columns, k).",
        "format": 'What `first` and `second` say, "coo", "csr" or "csc": as in `sparse_matvec`.',
        "rows": "The number of rows.",
    },
    "svd": {"full_matrices": "Whether U and Vh are square."},
    # Windows
    "window": {
        "window": "The size of a window along each axis, or along some by name or position.",
        "strides": _WINDOW_STEP,
        "padding": '"valid" for no padding, "same" for ceil(size / stride) windows, (low, high) for each axis, or a '
        "mapping from some axes to such pairs.",
        "dilations": "The distance between elements of a window along each axis, or a mapping from some axes to it.",
        "include_padding": "Whether padding counts as elements that are 0.",
        "source": "The numbers to add, of the shape of `window_max` or `window_min`.",
    },
    "conv": {
        "x": "(batch, channels, *spatial).",
        "kernel": "(out, channels, *spatial).",
        "strides": "The distance between the starts of windows along each spatial axis, or a mapping by name.",
        "padding": '"valid", "same", (low, high) for each spatial axis, or a mapping by name.',
        "input_dilation": "The distance between the elements of x, with zeros between them.",
        "kernel_dilation": "The distance between the elements of x that a window reads.",
        "feature_groups": "The number of groups of channels, each with its share of the kernels.",
        "batch_groups": "The number of groups of the batch, each with its share of the kernels.",
    },
    # Transforms
    "fourier": {
        "axes": "The axes, by position or by name; by default all of them.",
        "d": "The distance between samples.",
        "n": "The number of samples: longer input is cut off, shorter input is padded with zeros; by default the size "
        "of the axis.",
        "norm": 'Which direction divides by the length: the inverse ("backward"), the other ("forward"), or each by '
        'its square root ("ortho").',
        "s": "The number of samples along each axis, as `n` of `fft`; by default the sizes.",
    },
    "hfft": {"n": "The number of samples of the result; by default 2 * (size - 1)."},
    "irfft": {"n": "The number of samples of the result; by default 2 * (size - 1)."},
    "fftfreq": {"n": "The number of samples.", "dtype": "A floating dtype; by default the default one."},
    "rfftfreq": {"n": "The number of samples.", "dtype": "A floating dtype; by default the default one."},
    # Random numbers
    "random": {
        "dtype": "The dtype; by default the default one of its kind.",
        "independent": "Whether each vector along the axis is shuffled on its own.",
        "key": "A key, as `key`, `split` and `fold_in` give it.",
        "lower": "The lower bound.",
        "maxval": "The upper bound, itself excluded.",
        "mean": "The mean.",
        "minval": "The least integer.",
        "mode": 'How many bits a number is made of: "high" takes twice as many, for rare events.',
        "replace": "Whether an entry may be drawn more than once.",
        "shape": _RANDOM_SHAPE,
        "upper": "The upper bound.",
    },
    "bernoulli": {"p": "The probability of True.", "shape": f"{_RANDOM_SHAPE} By default those of `p`."},
    "categorical": {
        "logits": "Unnormalised logarithms of probabilities.",
        "axis": "The axis of the classes, by position or by name.",
        "shape": f"{_RANDOM_SHAPE} The last ones are those of the logits, which are the default.",
    },
    "choice": {
        "a": "The tensor to draw from, or a number n to draw integers below n.",
        "p": "The probability of each entry; by default they are equally likely.",
        "axis": "The axis to draw along, by position or by name.",
    },
    "fold_in": {"data": "Integers."},
    "random.key": {"seed": "An int of up to 64 bits."},
    "multivariate_normal": {
        "mean": "(..., n).",
        "cov": "(..., n, n), positive definite.",
        "shape": "The sizes of the axes before the last; by default those that the mean and the covariance broadcast "
        "to.",
        "names": "A name or `None` for each axis; by default those of the mean.",
    },
    "normal": {"deviation": "The standard deviation."},
    "permutation": {"x": "The tensor to permute, or a number n for the integers below n."},
    "random.threefry.split": {"num": "The number of keys, or the sizes of leading axes."},
    "threefry2x32": {
        "key": "Two words along the last axis (uint32).",
        "high": "The high word of each counter (uint32).",
        "low": "The low word of each counter (uint32).",
    },
    "truncated_normal": {"shape": f"{_RANDOM_SHAPE} By default those that the bounds broadcast to."},
    # Counts and sets
    "bincount": {"minlength": "The least size of the result.", "x": "Integers."},
    "histogram": {
        "bins": "The number of intervals, or their edges in ascending order.",
        "range": "The outer edges of equal intervals; by default the least and the greatest element.",
        "density": "Whether to divide the counts by their sum and by the widths.",
    },
    "sets": {"axis": "The axis whose entries are compared; by default single elements are."},
    # Axes with lengths
    "ragged": {"x": "The values."},
    "ragged.reduction": {
        "axis": "The axes, by position or by name; by default all. Along an axis that lengths depend on, such as the "
        "batch, each position reduces the examples that are long enough to reach it, and the result is as long as the "
        "longest of them.",
        "correction": "The divisor is the number of elements minus this: 1 gives the unbiased variance of a sample.",
        "keepdims": "Whether the axes stay, with size 1 and without lengths.",
    },
    "ragged.reduction.argmax": {"axis": "By position or by name."},
    "ragged.reduction.argmin": {"axis": "By position or by name."},
    "ragged.running": {
        "axis": "By position or by name.",
        "reverse": "Whether to go from the end of each length to the start.",
    },
    "ragged.running.argsort": {
        "x": "Real values.",
        "axis": "An axis that no lengths depend on.",
        "descending": "Whether the greatest comes first.",
    },
    "ragged.normalisation": {"x": "Real values.", "axis": "By position or by name, one axis or several."},
    # Questions
    "can_cast": {"from_": "A dtype, or a tensor for its own.", "to": "A dtype."},
    "inspect": {"limit": "The largest number of elements to read and show."},
    "isdtype": {"dtype": "A dtype.", "kind": "A dtype, a kind, or several of them."},
    "result_type": {"arrays_and_dtypes": "Tensors, dtypes and Python numbers."},
    "to_batched": {
        "x": "A tensor with axes.",
        "size": "The number of entries in a batch.",
        "leftover": "What to do with fewer entries at the end.",
    },
}
