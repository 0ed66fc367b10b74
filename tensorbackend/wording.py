"""What the docstrings of ops have in common: the words for a parameter, and for a result.

A key is the name of an op, of the module that declares it, or of its family; the empty one is for all ops. The first that
has the word says it, in this order. Those of functions of `ragged` begin with that. A word stands here if several ops share it, or if nothing but it is to be said of an
op's parameters; an op about which there is more to say has the section in its own docstring.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

Words = Mapping[str, str]

TYPES: Final[Words] = {
    "Axes": "int, str or a sequence of them",
    "Axis": "int or str",
    "Axis | Sequence[Axis]": "int, str or a sequence of them",
    "BackendLike": "Backend, class or str",
    "Batch": "int, str or a sequence of them",
    "DTypeLike": "DType or str",
    "Leftover": '{"keep", "discard", "repeat"}',
    "Like": "Tensor",
    "Mode": '{"error", "clip", "fill"}',
    "Norm": '{"backward", "ortho", "forward"}',
    "OfOne": "function of a tensor",
    "OfTwo": "function of two tensors",
    "Order": "float or str",
    "Paddings": "str, sequence or mapping",
    "PerAxis": "int, sequence of int or mapping",
    "RandomMode": '{"low", "high"}',
    "Side": '{"left", "right"}',
    "Ragged | Tensor": "Ragged or Tensor",
    "SoleAxis": "int or str",
    "Template": "Tensor",
    "TensorLike": "Tensor",
    "TieBreak": '{"low", "high"}',
    'Literal["reduced", "complete"]': '{"reduced", "complete"}',
}
"""What a docstring calls the type of an annotation, where that is not its own text."""

_RANDOM_SHAPE = "The sizes of the result's axes."
_MATRICES = "Matrices in the last two axes; those before are a batch."
_SQUARE = "Square matrices in the last two axes; those before are a batch."
_TOLERANCE = "The relative tolerance, beside which the magnitude of the second operand counts."
_WINDOW_STEP = "How far apart windows begin along each axis, or along some by name or position."
_NO_AXES_NAMES = "A name or `None` for each axis; by default there are no names."

PARAMETERS: Final[Mapping[str, Words]] = {
    "": {
        "axis": "The axis, by position or by name.",
        "backend": "Where the tensor is made; by default on the backend of `like`, else on the default one.",
        "batch": "The axes that x and the indices have in common, by names or by positions that are the same in both; "
        "each entry of these has indices of its own.",
        "descending": "Whether the greatest element comes first.",
        "device": "A device of the backend; by default that of `like`, else the backend's own.",
        "dtype": "The dtype of the result.",
        "fill_value": "What the entries hold beyond those that are found.",
        "function": "A function of tensors without axes, written in ops.",
        "include_initial": "Whether the result begins with that of no elements, so that the axis has one more.",
        "indices": "Integers.",
        "initial": "The value to begin with, without axes.",
        "keepdims": "Whether the axes that are reduced stay, with size 1 and their names.",
        "like": "A tensor on whose backend and device the new one is made.",
        "mode": 'What an index outside its axis does: "error" raises `IndexRangeError`, "clip" moves it to the nearest '
        'end, "fill" reads zero and writes nothing.',
        "names": _NO_AXES_NAMES,
        "reverse": "Whether to go from the end of the axis to its start.",
        "shape": "The sizes of the axes.",
        "size": "The number of entries of the result, for what runs without data; by default as many as there are.",
        "stable": "Has no effect: the order of equal elements stays whatever it says.",
        "weights": "A weight for each element; by default 1.",
        "x": "A tensor, a Python number or an array.",
        "x1": "A tensor, a Python number or an array.",
        "x2": "Another one.",
    },
    # Elementwise
    "elementwise": {
        "x2": "Another one. Its axes meet those of x1 from the right: of one size or of size 1, of one name or without.",
    },
    "astype": {
        "dtype": "The dtype to cast to.",
        "copy": "Has no effect, as no payload ever changes.",
        "device": "Must be left out: `to_device` moves a tensor.",
    },
    "bitcast": {"dtype": "A dtype of the same width."},
    "clip": {"min": "The lower bound; `None` for none.", "max": "The upper bound; `None` for none."},
    "elu": {"alpha": "What the result tends to, with the sign turned, where x is very negative."},
    "gelu": {"approximate": "Whether to take the formula with the hyperbolic tangent."},
    "isclose": {"rtol": _TOLERANCE, "atol": "The absolute tolerance.", "equal_nan": "Whether NaN is close to NaN."},
    "all_close": {"rtol": _TOLERANCE, "atol": "The absolute tolerance.", "equal_nan": "Whether NaN is close to NaN."},
    "leaky_relu": {"slope": "The slope where x is negative."},
    "where": {"condition": "A bool for each element.", "x1": "Where the condition holds.", "x2": "Where it does not."},
    "gamma_inc_l": {"a": "The parameter, from 0 up.", "x": "The bound of the integral, from 0 up."},
    "gamma_inc_u": {"a": "The parameter, from 0 up.", "x": "The bound of the integral, from 0 up."},
    # Reductions, orders and what runs along an axis
    "reduction": {
        "axis": "The axes to reduce, by position or by name; by default all of them.",
        "correction": "What is taken from the number of elements to make the divisor: 1 for the variance of a sample.",
    },
    "argmax": {"tie_break": 'Which of several equal elements counts: the first ("low") or the last ("high").'},
    "argmin": {"tie_break": 'Which of several equal elements counts: the first ("low") or the last ("high").'},
    "logsumexp": {"scale": "Factors of the exponentials, which broadcast to x; by default 1."},
    "softmax": {"axis": "The axes along which the results add up to 1, by position or by name."},
    "log_softmax": {"axis": "The axes along which the results add up to 1, by position or by name."},
    "masked_softmax": {
        "axis": "The axes along which the results add up to 1, by position or by name.",
        "mask": "A bool for each element, which broadcasts to x.",
    },
    "standardise": {
        "axis": "The axes over which mean and variance are taken, by position or by name.",
        "epsilon": "A small number under the root, which keeps the divisor from 0.",
    },
    "weighted_mean": {"weights": "Weights that broadcast to x, or one for each entry along the one axis."},
    "order_statistics": {"axis": "The axes to reduce, by position or by name; by default all of them."},
    "mode": {"axis": "The axis, by position or by name; by default the elements are laid flat."},
    "quantile": {
        "q": "Shares from 0 to 1: a number, a list, or a tensor of one axis.",
        "method": "What lies between two elements, by NumPy's word.",
    },
    "percentile": {
        "q": "Shares from 0 to 100: a number, a list, or a tensor of one axis.",
        "method": "What lies between two elements, by NumPy's word.",
    },
    "covariance": {
        "x": "Observations (..., n, d), a variable a column.",
        "mean": "The means of the variables, (..., d); by default those of x.",
        "correction": "What is taken from the number of observations to make the divisor: 1 for those of a sample.",
    },
    "cumulative": {"axis": "The axis, by position or by name; it may be left out of a tensor of one axis."},
    "diff": {
        "axis": "The axis, by position or by name.",
        "n": "How often differences are taken.",
        "prepend": "What stands before the first entry.",
        "append": "What stands after the last entry.",
    },
    "isin": {"x2": "The elements to look for.", "invert": "Whether to look for those that are in none."},
    "searchsorted": {
        "x1": "Sorted values, of one axis.",
        "x2": "The values to find places for.",
        "side": "Whether a value goes before equal ones or after them.",
        "sorter": "The indices that sort x1; by default it is sorted.",
    },
    "reduce": {
        "axis": "The axes to fold over, by position or by name; by default all of them.",
        "dtype": "The dtype to which the initial value and each result are cast; by default none is.",
    },
    "map": {"dtype": "The dtype to which the results are cast; by default none is."},
    # Creation
    "creation": {
        "dtype": "The dtype; by default that of the values, for numbers the default one of their kind.",
        "fill_value": "The value, a Python number or a tensor without axes.",
        "k": "The diagonal: 0 for the main one, positive ones above it.",
        "n_rows": "The number of rows.",
        "n_cols": "The number of columns; by default that of the rows.",
        "shape": "The sizes of the axes; an int for one axis.",
        "value": "Numbers in nested lists, an array or a tensor.",
        "x": "The tensor whose shape, dtype, names and backend are taken.",
    },
    "empty_like": {"backend": "By default that of x.", "dtype": "By default that of x.", "device": "By default that of x."},
    "zeros_like": {"backend": "By default that of x.", "dtype": "By default that of x.", "device": "By default that of x."},
    "ones_like": {"backend": "By default that of x.", "dtype": "By default that of x.", "device": "By default that of x."},
    "full_like": {"backend": "By default that of x.", "dtype": "By default that of x.", "device": "By default that of x."},
    "eye": {"batch_shape": "The sizes of leading axes, along which the matrix is repeated."},
    "iota": {"axis": "The axis along which to count; `None` counts all elements in row-major order."},
    "arange": {
        "start": "The first number; the bound, where no other is given.",
        "stop": "The bound, which is left out.",
        "step": "The distance of neighbours.",
        "name": "The name of the axis.",
    },
    "linspace": {
        "start": "The first number.",
        "stop": "The last number.",
        "num": "How many numbers there are.",
        "endpoint": "Whether `stop` is one of them.",
        "name": "The name of the new axis.",
        "axis": "The position of the new axis in the result.",
    },
    "asarray": {"copy": "Whether to copy: always, never, or for `None` where it must."},
    "from_dlpack": {
        "x": "An array with `__dlpack__`.",
        "copy": "Whether to copy: always, never, or for `None` where it must.",
    },
    "from_binary": {"data": "The elements' bytes, row-major, in native byte order.", "template": "What the tensor looks like."},
    "template": {"dtype": "The dtype."},
    "rename": {
        "x": "A tensor.",
        "names": "A name or `None` for each axis, in order.",
        "renamed": "New names by the old ones.",
    },
    # Shape
    "concatenate": {"tensors": "Tensors that differ along the axis alone.", "axis": "The axis, by position or by name."},
    "concat": {
        "arrays": "Tensors that differ along the axis alone.",
        "axis": "The axis, by position or by name; `None` for tensors laid flat.",
    },
    "stack": {
        "arrays": "Tensors of one shape.",
        "axis": "The position of the new axis in the result.",
        "name": "The name of the new axis.",
    },
    "unstack": {},
    "split": {"sections": "The number of equal parts, or the positions at which to cut."},
    "tile": {"repetitions": "How often x is repeated along each axis; the last is for the last axis."},
    "roll": {
        "shift": "How far elements move towards the end: one number, or one for each axis.",
        "axis": "The axes, by position or by name; `None` for the elements laid flat.",
    },
    "moveaxis": {
        "source": "The axes to move, by position or by name.",
        "destination": "Their positions in the result.",
    },
    "broadcast_arrays": {"arrays": "Tensors, Python numbers or arrays."},
    "meshgrid": {
        "arrays": "Tensors of one axis.",
        "indexing": 'Whether the first tensor runs along the first axis ("ij") or along the second ("xy").',
    },
    "triangles": {
        "k": "The diagonal: 0 for the main one, positive ones above it.",
        "offset": "The diagonal: 0 for the main one, positive ones above it.",
        "diagonal": "The numbers for the diagonal, (..., its length).",
        "x": _MATRICES,
    },
    "make_diagonal": {"x": "The numbers for the diagonals, along the last axis."},
    "align_as": {"x": "A tensor.", "other": "The tensor whose order of names is taken."},
    "align_to": {"x": "A tensor.", "names": "The names in the order of the result."},
    "broadcast_shapes": {"shapes": "Sizes of axes."},
    "broadcast_to": {
        "shape": "The sizes of the result's axes.",
        "names": "The names of the result's axes; by default those of x.",
        "axes": "The positions of x's axes in the result; by default the last ones.",
    },
    "expand_dims": {
        "axis": "The positions of the new axes in the result.",
        "name": "The names of the new axes; by default they have none.",
    },
    "flip": {"axis": "The axes, by position or by name; by default all of them."},
    "permute_dims": {"axes": "For each axis of the result that of x, by position or by name; by default the last comes first."},
    "reshape": {
        "shape": "The sizes of the result's axes, of which one may be -1.",
        "copy": "Has no effect, as no payload ever changes.",
        "names": "The names of the result's axes; by default those of axes that are not touched stay.",
    },
    "squeeze": {"axis": "The axes, by position or by name; by default all of size 1."},
    "reflect": {"padding": "(low, high) for each axis, or for some axes by name or position."},
    # Indexing
    "indexing": {
        "key": "What stands between the brackets.",
        "length": "How many entries to take.",
        "segments": "The segment of each entry along the axis, from 0 to `size` - 1.",
        "updates": "Numbers of the shape that `gather` reads at the same indices.",
        "value": "What the elements become; it broadcasts to them.",
    },
    "segments": {"size": "The number of segments.", "axis": "The axis of the entries, by position or by name."},
    "scatter": {"indices": "Index vectors along the last axis, which run over the leading axes of x."},
    "indexed_max": {"indices": "Index vectors along the last axis, which run over the leading axes of x."},
    "indexed_min": {"indices": "Index vectors along the last axis, which run over the leading axes of x."},
    "indexed_mean": {"indices": "Index vectors along the last axis, which run over the leading axes of x."},
    "indexed_logsumexp": {"indices": "Index vectors along the last axis, which run over the leading axes of x."},
    "argwhere": {"size": "The number of rows of the result; by default as many as there are elements that are not zero."},
    "isel": {"keys": "For some axes by name an int, a slice, a list, a mask or an integer tensor."},
    "put_slice": {"update": "The block.", "starts": "Where the block begins along each axis; tensors without axes may be among them."},
    "slice_": {
        "starts": "The first position along each axis.",
        "lengths": "The sizes of the result's axes.",
        "strides": "The distance of neighbours along each axis.",
    },
    "slice_along_axis": {
        "start": "The position of the first entry, an int or a tensor without axes.",
        "stride": "The distance of neighbours.",
    },
    "take": {
        "indices": "Integers of any shape; negative ones count from the end.",
        "axis": "The axis, by position or by name; it may be left out of a tensor of one axis.",
    },
    "take_along_axis": {"indices": "Integers with the sizes of x but along the axis; negative ones count from the end."},
    "from_end": {"indices": "Integers, of which negative ones count from the end.", "size": "The size of the axis."},
    # Products and linear algebra
    "contraction": {"x2": "Another one."},
    "einsum": {"operands": "A tensor for each term.", "subscripts": "A term for each operand, with commas between them, and that of the result after `->`."},
    "tensordot": {"axes": "The number of axes to contract, or (axes of x1, axes of x2) by position or by name."},
    "linalg": {
        "x": _MATRICES,
        "ord": "Which norm.",
        "offset": "The diagonal: 0 for the main one, positive ones above it.",
        "rtol": "The share of the greatest singular value up to which one counts as 0; by default the dtype's eps times "
        "the longer side.",
    },
    "cholesky": {"x": "Hermitian positive definite matrices in the last two axes.", "upper": "Whether to give the upper factor."},
    "cross": {"x1": "Vectors of three components along the axis.", "x2": "Others."},
    "det": {"x": _SQUARE},
    "eig": {"x": _SQUARE},
    "eigh": {"x": "Hermitian matrices in the last two axes, of which the lower half is read."},
    "eigvals": {"x": _SQUARE},
    "eigvalsh": {"x": "Hermitian matrices in the last two axes, of which the lower half is read."},
    "expm": {"x": _SQUARE},
    "inv": {"x": _SQUARE},
    "lstsq": {
        "a": _MATRICES,
        "b": "A vector, or matrices in the last two axes.",
        "rcond": "NumPy's name of `rtol`.",
    },
    "matrix_power": {"x": _SQUARE, "n": "The power, an int."},
    "norm": {"x": "A tensor with axes.", "axis": "One axis or two, by position or by name; by default all elements are laid flat."},
    "vector_norm": {"x": "A tensor.", "axis": "The axes of the vectors, by position or by name; by default all of them."},
    "qr": {"mode": 'Whether Q has as many columns as R needs ("reduced") or is square ("complete").'},
    "slogdet": {"x": _SQUARE},
    "solve": {"x1": _SQUARE, "x2": "A vector, or matrices in the last two axes."},
    "sparse_matmul": {
        "values": "(..., n): the entries stored; those at one place add up.",
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
        "padding": '"valid" for none, "same" for windows at as many places as strides allow, (low, high) for each axis, '
        "or that for some axes by name or position.",
        "dilations": "How far apart the elements of one window are along each axis, or along some by name or position.",
        "include_padding": "Whether padding counts as elements that are 0.",
        "source": "The numbers to add, of the shape of `window_max` or `window_min`.",
    },
    "conv": {
        "x": "(batch, channels, *spatial).",
        "kernel": "(out, channels, *spatial).",
        "strides": "How far apart windows begin along each spatial axis, or along some by name.",
        "padding": '"valid", "same", (low, high) for each spatial axis, or that for some by name.',
        "input_dilation": "How far apart the elements of x are set, with zeros between them.",
        "kernel_dilation": "How far apart the elements of x are that one window reads.",
        "feature_groups": "So many groups of channels, each with its share of the kernels.",
        "batch_groups": "So many groups of the batch, each with its share of the kernels.",
    },
    # Transforms
    "fourier": {
        "axes": "The axes, by position or by name; by default all of them.",
        "d": "The distance of samples.",
        "n": "The number of samples: longer input is cut off, shorter is filled up with zeros; by default the size of the axis.",
        "norm": 'Which direction divides by the length: the inverse ("backward"), the other ("forward"), or each by its '
        'square root ("ortho").',
        "s": "The number of samples along each axis, as `n` of `fft`; by default the sizes.",
    },
    "hfft": {"n": "The number of samples of the result; by default 2 * (size - 1)."},
    "irfft": {"n": "The number of samples of the result; by default 2 * (size - 1)."},
    "fftfreq": {"n": "The number of samples.", "dtype": "A floating dtype; by default the default one."},
    "rfftfreq": {"n": "The number of samples.", "dtype": "A floating dtype; by default the default one."},
    # Random numbers
    "random": {
        "dtype": "The dtype; by default the default one of its kind.",
        "independent": "Whether each run along the axis has an order of its own.",
        "key": "A key, as `key`, `split` and `fold_in` give it.",
        "lower": "The lower bound.",
        "maxval": "The upper bound, which is left out.",
        "mean": "The mean.",
        "minval": "The least integer.",
        "mode": 'How many bits a number is made of: "high" takes twice as many, for rare events.',
        "replace": "Whether an entry may be drawn more than once.",
        "shape": _RANDOM_SHAPE,
        "upper": "The upper bound.",
    },
    "bernoulli": {"p": "The probability of True.", "shape": f"{_RANDOM_SHAPE} By default those of `p`."},
    "categorical": {
        "logits": "Logarithms of probabilities, up to a number that is added to all.",
        "axis": "The axis of the classes, by position or by name.",
        "shape": f"{_RANDOM_SHAPE} The last ones are those of the logits, which are the default.",
    },
    "choice": {
        "a": "The tensor to draw from, or a number below which to draw.",
        "p": "The probability of each entry; by default they are equally likely.",
        "axis": "The axis to draw along, by position or by name.",
    },
    "fold_in": {"data": "Integers."},
    "random.key": {"seed": "An int of up to 64 bits."},
    "multivariate_normal": {
        "mean": "(..., n).",
        "cov": "(..., n, n), positive definite.",
        "shape": "The sizes of the axes before the last; by default those that the mean and the covariance broadcast to.",
        "names": "A name or `None` for each axis; by default those of the mean.",
    },
    "normal": {"deviation": "The standard deviation."},
    "permutation": {"x": "A number below which to count, or the tensor whose entries are put in order."},
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
    "sets": {"axis": "The axis whose entries are compared; by default the elements are."},
    # Axes with lengths
    "ragged": {"x": "The values."},
    "ragged.reduction": {
        "axis": "By position or by name; by default all axes. Along an axis that lengths are over, such as the batch, "
        "each entry of the other axis reduces the examples that reach it, and the greatest of their lengths is the "
        "length of the result.",
        "correction": "What is taken from the number of elements to make the divisor: 1 for the variance of a sample.",
        "keepdims": "Whether the axes stay with size 1; they have no lengths then.",
    },
    "ragged.reduction.argmax": {"axis": "By position or by name."},
    "ragged.reduction.argmin": {"axis": "By position or by name."},
    "ragged.running": {
        "axis": "By position or by name.",
        "reverse": "Whether to go from the end of each length to the start.",
    },
    "ragged.running.argsort": {
        "x": "Real values.",
        "axis": "An axis that no lengths are over.",
        "descending": "Whether the greatest comes first.",
    },
    "ragged.normalisation": {"x": "Real values.", "axis": "By position or by name, one axis or several."},
    # Questions
    "can_cast": {"from_": "A dtype, or a tensor for its own.", "to": "A dtype."},
    "inspect": {"limit": "The most elements that are read and shown."},
    "isdtype": {"dtype": "A dtype.", "kind": "A dtype, a kind, or several of them."},
    "result_type": {"arrays_and_dtypes": "Tensors, dtypes and Python numbers."},
    "to_batched": {
        "x": "A tensor with axes.",
        "size": "The number of entries in a batch.",
        "leftover": "What becomes of fewer entries at the end.",
    },
}  # fmt: skip
"""For each parameter what it is."""

_BOOLS = "Bools of the shape and with the names of x."
_LIKE = "Of the shape and with the names of x."
_REDUCED = "Without the axes that are reduced, or with them at size 1 for `keepdims`; the other axes keep their names."
_LIKE_X = "Of the shape, dtype and names of x."
_MATRIX_NAMES = "The batch axes keep their names; the summary says which names the last two have."

RETURNS: Final[Words] = {
    # Elementwise
    "unary": "Of the shape and with the names of x, in its dtype unless the summary says otherwise.",
    "transcendental": "Of the shape and with the names of x; of integers in the default floating dtype.",
    "complex_functions": "Of the shape and with the names of x; of integers in the default floating dtype.",
    "activations": "Of the shape and with the names of x; of integers in the default floating dtype unless said otherwise.",
    "binary": "Of the shape to which the operands broadcast, with the names of both; bools for a comparison or a logical "
    "op, else in the dtype that the operands have in common.",
    **dict.fromkeys(("isfinite", "isinf", "isnan", "logical_not", "signbit"), _BOOLS),
    "isclose": "Bools of the shape to which the operands broadcast, with the names of both.",
    "functions": "Of the shape to which the operands broadcast, with the names of both.",
    "special": "Of the shape to which the operands broadcast, with the names of both; of integers in the default floating "
    "dtype.",
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
    "matmul": "The batch axes, then x1's rows and x2's columns, with their names; in the dtype that both have in common.",
    "outer": "x1's axes, then x2's, with their names; in the dtype that both have in common.",
    "vecdot": "The axes besides the contracted one, with the names of both; in the dtype that both have in common.",
    "tensordot": "The axes that are not contracted, with their names; in the dtype that both have in common.",
    "einsum": "The axes that the term of the result says, in the dtype that the operands have in common.",
    "conv": "(batch, out, *spatial), in the dtype that both have in common.",
    "linalg": _MATRIX_NAMES,
    "det": "A determinant for each matrix, with the names of the batch axes.",
    "matrix_rank": "A rank (int64) for each matrix, with the names of the batch axes.",
    "matrix_norm": "A norm for each matrix, with the names of the batch axes; the last two stay with size 1 for `keepdims`.",
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
    "ragged.normalisation": "Of the shape, names and lengths of x. The padding beside entries within the lengths holds 0.",
    # Questions
    "can_cast": "Whether it does.",
    "inspect": "The text.",
    "isdtype": "Whether it is.",
    "result_type": "The dtype.",
    "to_batched": "The batches, which are made as they are asked for.",
}  # fmt: skip
"""What an op returns. The type stands in front of it."""
