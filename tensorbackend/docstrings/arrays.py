"""Words for the parameters of what makes, moves, reads and reduces elements; the first are for all ops."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

Words = Mapping[str, str]

_MATRICES = "Matrices in the last two axes; those before are a batch."
_TOLERANCE = "The tolerance relative to the magnitude of the second operand."
_NO_AXES_NAMES = "A name or `None` for each axis; by default there are no names."
_LIKE = dict.fromkeys(("backend", "device", "dtype"), "As for x by default.")
_VECTORS = {"indices": "Index vectors along the last axis, for the leading axes of x."}

PARAMETERS: Final[Mapping[str, Words]] = {
    "": {
        "axis": "The axis, by position or by name.",
        "backend": "The backend of the new tensor; by default that of `like`, else the default backend.",
        "batch": "The axes that x and the indices share, by name, or by position if that is the same in both. Each "
        "entry along them has its own indices.",
        "descending": "Whether the greatest element comes first.",
        "device": "A device of the backend; by default that of `like`, else the backend's own.",
        "dtype": "The dtype of the result.",
        "fill_value": "The value of the entries that fill the result up to `size`.",
        "function": "A function of tensors without axes, written in ops.",
        "include_initial": "Whether the result starts with the value for no elements, as one more entry.",
        "indices": "Integers.",
        "initial": "The start value, a number or a tensor without axes.",
        "keepdims": "Whether reduced axes stay, with size 1 and their names.",
        "like": "A tensor whose backend and device the new tensor gets.",
        "mode": 'How to treat an index outside its axis: "error" raises `IndexRangeError`, "clip" moves it to the '
        'nearest end, "fill" reads zero and writes nothing.',
        "names": _NO_AXES_NAMES,
        "reverse": "Whether to go from the end of the axis to its start.",
        "shape": "The sizes of the axes.",
        "size": "The number of entries of the result, which must be given where there is no data to count them.",
        "stable": "Has no effect: the sort is always stable.",
        "weights": "A weight for each element; by default 1.",
        "x": "A tensor, a Python number or an array.",
        "x1": "A tensor, a Python number or an array.",
        "x2": "A tensor, a Python number or an array.",
    },
    # Elementwise
    "elementwise": {
        "x2": "A tensor, a Python number or an array. It broadcasts with x1 from the right; axes that meet have equal "
        "names, or one of them has none.",
    },
    "astype": {
        "dtype": "The dtype to cast to.",
        "copy": "Has no effect: data is never changed in place.",
        "device": "Must be left out: `to_device` moves a tensor.",
    },
    "bitcast": {"dtype": "A dtype of the same width."},
    "clip": {"min": "The lower bound, or `None`.", "max": "The upper bound, or `None`."},
    "elu": {"alpha": "The result tends to `-alpha` for very negative x."},
    "gelu": {"approximate": "Whether to use the approximation by the hyperbolic tangent."},
    "isclose": {"rtol": _TOLERANCE, "atol": "The absolute tolerance.", "equal_nan": "Whether NaN is close to NaN."},
    "all_close": {"rtol": _TOLERANCE, "atol": "The absolute tolerance.", "equal_nan": "Whether NaN is close to NaN."},
    "leaky_relu": {"slope": "The slope where x is negative."},
    "where": {"condition": "Bools.", "x1": "The values where the condition holds.", "x2": "The values elsewhere."},
    "gamma_inc_l": {"a": "The parameter, at least 0.", "x": "The bound of the integral, at least 0."},
    "gamma_inc_u": {"a": "The parameter, at least 0.", "x": "The bound of the integral, at least 0."},
    # Reductions, orders and what runs along an axis
    "reduction": {
        "axis": "The axes to reduce, by position or by name; by default all of them.",
        "correction": "The divisor is the number of elements minus this: 1 gives the unbiased variance of a sample.",
    },
    "argmax": {"tie_break": 'Which of several equal elements is taken: the first ("low") or the last ("high").'},
    "argmin": {"tie_break": 'Which of several equal elements is taken: the first ("low") or the last ("high").'},
    "logsumexp": {"scale": "Factors of the exponentials, broadcast to x; 1 by default."},
    "softmax": {"axis": "The axes along which the results add up to 1, by position or by name."},
    "log_softmax": {"axis": "The axes along which the results add up to 1, by position or by name."},
    "masked_softmax": {
        "axis": "The axes along which the results add up to 1, by position or by name.",
        "mask": "Bools that broadcast to x.",
    },
    "standardise": {
        "axis": "The axes over which mean and variance are taken, by position or by name.",
        "epsilon": "A small number added to the variance, so that nothing is divided by 0.",
    },
    "weighted_mean": {"weights": "Weights that broadcast to x, or one weight for each entry along a single `axis`."},
    "order_statistics": {"axis": "The axes to reduce, by position or by name; by default all of them."},
    "mode": {"axis": "The axis, by position or by name; by default the flattened tensor."},
    "quantile": {
        "q": "Probabilities from 0 to 1: a number, a list, or a tensor with one axis.",
        "method": "How to choose a value between two elements: one of NumPy's methods.",
    },
    "percentile": {
        "q": "Percentages from 0 to 100: a number, a list, or a tensor with one axis.",
        "method": "How to choose a value between two elements: one of NumPy's methods.",
    },
    "covariance": {
        "x": "Observations (..., n, d), with one variable per column.",
        "mean": "The means of the variables, (..., d); by default those of x.",
        "correction": "The divisor is the number of observations minus this: 1 gives the unbiased covariance.",
    },
    "cumulative": {"axis": "The axis, by position or by name; optional if the tensor has one axis."},
    "diff": {
        "axis": "The axis, by position or by name.",
        "n": "How many times to take differences.",
        "prepend": "Entries to put before the first one.",
        "append": "Entries to put after the last one.",
    },
    "isin": {"x2": "The elements to look for.", "invert": "Whether to test for absence instead."},
    "searchsorted": {
        "x1": "Sorted values, along one axis.",
        "x2": "The values to insert.",
        "side": "Whether a value goes before equal values or after them.",
        "sorter": "The indices that sort x1; by default x1 is sorted.",
    },
    "reduce": {
        "axis": "The axes to fold over, by position or by name; by default all of them.",
        "dtype": "The dtype to cast the initial value and each result to; by default nothing is cast.",
    },
    "map": {"dtype": "The dtype to cast the results to; by default nothing is cast."},
    # Creation
    "creation": {
        "dtype": "The dtype; by default that of the values, or the default dtype of their kind for Python numbers.",
        "fill_value": "The value, a Python number or a tensor without axes.",
        "k": "The diagonal: 0 for the main one, positive ones above it.",
        "n_rows": "The number of rows.",
        "n_cols": "The number of columns; by default `n_rows`.",
        "shape": "The sizes of the axes; an int for one axis.",
        "value": "Numbers in nested lists, an array or a tensor.",
        "x": "The tensor that gives shape, dtype, names and backend.",
    },
    **dict.fromkeys(("empty_like", "zeros_like", "ones_like", "full_like"), _LIKE),
    "eye": {"batch_shape": "The sizes of leading axes, along which the matrix is repeated."},
    "iota": {"axis": "The axis along which to count; `None` counts all elements in row-major order."},
    "arange": {
        "start": "The first number, or the bound if it is the only argument.",
        "stop": "The bound, itself excluded.",
        "step": "The distance between neighbours.",
        "name": "The name of the axis.",
    },
    "linspace": {
        "start": "The first number.",
        "stop": "The last number.",
        "num": "The number of values.",
        "endpoint": "Whether `stop` is one of them.",
        "name": "The name of the new axis.",
        "axis": "The position of the new axis in the result.",
    },
    "asarray": {"copy": "Whether to copy: always, never, or with `None` only where it must."},
    "from_dlpack": {
        "x": "An array with `__dlpack__`.",
        "copy": "Whether to copy: always, never, or with `None` only where it must.",
    },
    "from_binary": {
        "data": "The elements' bytes, row-major, in native byte order.",
        "template": "The shape, dtype and names.",
    },
    "template": {"dtype": "The dtype."},
    "rename": {
        "x": "A tensor.",
        "names": "A name or `None` for each axis, in order.",
        "renamed": "New names by the old ones.",
    },
    # Shape
    "concatenate": {
        "tensors": "Tensors whose shapes differ along the axis only.",
        "axis": "The axis, by position or by name.",
    },
    "concat": {
        "arrays": "Tensors whose shapes differ along the axis only.",
        "axis": "The axis, by position or by name; `None` flattens the tensors first.",
    },
    "stack": {
        "arrays": "Tensors with equal shapes.",
        "axis": "The position of the new axis in the result.",
        "name": "The name of the new axis.",
    },
    "split": {"sections": "The number of equal parts, or the positions at which to cut."},
    "tile": {"repetitions": "How often to repeat x along each axis, aligned with the last axis."},
    "roll": {
        "shift": "How far to move elements towards the end: one number, or one for each axis.",
        "axis": "The axes, by position or by name; `None` rolls the flattened tensor.",
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
    "align_as": {"x": "A tensor.", "other": "The tensor that gives the order of names."},
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
        "axes": "For each axis of the result the axis of x, by position or by name; by default the order is reversed."
    },
    "reshape": {
        "shape": "The sizes of the result's axes, of which one may be -1.",
        "copy": "Has no effect: data is never changed in place.",
        "names": "The names of the result's axes; by default axes that stay as they are keep their names.",
    },
    "squeeze": {"axis": "The axes, by position or by name; by default all axes of size 1."},
    "reflect": {"padding": "(low, high) for each axis, or for some axes by name or position."},
    # Indexing
    "indexing": {
        "key": "The key between the brackets.",
        "length": "The number of entries to take.",
        "segments": "The segment of each entry along the axis, from 0 to `size` - 1.",
        "updates": "Numbers with the shape that `gather` would read at the same indices.",
        "value": "The new elements, broadcast to those at the key.",
    },
    "segments": {"size": "The number of segments.", "axis": "The axis of the entries, by position or by name."},
    **dict.fromkeys(("scatter", "indexed_max", "indexed_min", "indexed_mean", "indexed_logsumexp"), _VECTORS),
    "argwhere": {"size": "The number of rows of the result; by default the number of elements that are not zero."},
    "isel": {"keys": "By axis name an int, a slice, a list, a mask or an integer tensor."},
    "put_slice": {
        "update": "The block.",
        "starts": "The first position along each axis: ints, or tensors without axes.",
    },
    "slice_": {
        "starts": "The first position along each axis.",
        "lengths": "The sizes of the result's axes.",
        "strides": "The distance of neighbours along each axis.",
    },
    "slice_along_axis": {
        "start": "The position of the first entry, an int or a tensor without axes.",
        "stride": "The distance between neighbours.",
    },
    "take": {
        "indices": "Integers of any shape; negative ones count from the end.",
        "axis": "The axis, by position or by name; optional if the tensor has one axis.",
    },
    "take_along_axis": {
        "indices": "Integers with the sizes of x except along the axis; negative ones count from the end."
    },
    # Collective operations
    "collectives": {
        "x": "Each device's own, inside a function of `shard_map`.",
        "mesh_axes": "The names of mesh axes.",
    },
    "from_end": {"indices": "Integers; negative ones count from the end.", "size": "The size of the axis."},
}
