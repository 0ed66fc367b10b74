"""Words for the parameters of what makes, moves, reads and reduces elements; the first are for all ops."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

Words = Mapping[str, str]

_MATRICES = "Matrices in the last two axes; those before are a batch."
_TOLERANCE = "The relative tolerance, beside which the magnitude of the second operand counts."
_NO_AXES_NAMES = "A name or `None` for each axis; by default there are no names."
_LIKE = dict.fromkeys(("backend", "device", "dtype"), "By default that of x.")
_VECTORS = {"indices": "Index vectors along the last axis, which run over the leading axes of x."}

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
        "x2": "Another one. Axes meet from the right: of one size or of size 1, of one name or without.",
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
    **dict.fromkeys(("empty_like", "zeros_like", "ones_like", "full_like"), _LIKE),
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
    "from_binary": {
        "data": "The elements' bytes, row-major, in native byte order.",
        "template": "What the tensor looks like.",
    },
    "template": {"dtype": "The dtype."},
    "rename": {
        "x": "A tensor.",
        "names": "A name or `None` for each axis, in order.",
        "renamed": "New names by the old ones.",
    },
    # Shape
    "concatenate": {
        "tensors": "Tensors that differ along the axis alone.",
        "axis": "The axis, by position or by name.",
    },
    "concat": {
        "arrays": "Tensors that differ along the axis alone.",
        "axis": "The axis, by position or by name; `None` for tensors laid flat.",
    },
    "stack": {
        "arrays": "Tensors of one shape.",
        "axis": "The position of the new axis in the result.",
        "name": "The name of the new axis.",
    },
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
    "permute_dims": {
        "axes": "For each axis of the result that of x, by position or by name; by default the last comes first."
    },
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
    **dict.fromkeys(("scatter", "indexed_max", "indexed_min", "indexed_mean", "indexed_logsumexp"), _VECTORS),
    "argwhere": {
        "size": "The number of rows of the result; by default as many as there are elements that are not zero."
    },
    "isel": {"keys": "For some axes by name an int, a slice, a list, a mask or an integer tensor."},
    "put_slice": {
        "update": "The block.",
        "starts": "Where the block begins along each axis; tensors without axes may be among them.",
    },
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
    "take_along_axis": {
        "indices": "Integers with the sizes of x but along the axis; negative ones count from the end."
    },
    "from_end": {"indices": "Integers, of which negative ones count from the end.", "size": "The size of the axis."},
}
