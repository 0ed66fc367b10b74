"""Descriptions of parameters of ops that create, move, index and reduce elements; the first ones are for all ops."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

Words = Mapping[str, str]

_MATRICES = "Matrices in the last two axes; the axes before them are batch axes."
_TOLERANCE = "The tolerance relative to the magnitude of x2."
_NO_AXES_NAMES = "A name or `None` for each axis, or a string for one axis; by default the axes have no names."
_DIAGONAL = "The number of the diagonal: 0 for the main diagonal, positive above it, negative below it."
_DEFAULT_FLOATING = "The dtype; by default the default floating dtype."
_OF_VALUES = (
    "The dtype; by default the dtype of an array or a tensor, or the default dtype for the kind of Python numbers."
)
_OF_VALUE_OR_LIKE = (
    "The backend of the new tensor; by default the backend of `like` or of a given tensor, else the default backend."
)
_DEFAULT_BACKEND = "The backend of the new tensor; by default the default backend."
_COPY = "Whether to copy the data: `True` for always, `False` for never, `None` for only if it is necessary."
_EXCEPT_ALONG_AXIS = "One or more tensors with the same sizes except along the axis."
_CONVERTED = "A dtype to which the elements are converted first; by default they are not."
_SOLE_AXIS = "The axis, by position or by name. It may be omitted if x has one axis."
_OF_SOLE_AXIS = {"axis": _SOLE_AXIS}
_TIE_BREAK = 'Which of several equal elements is taken: the first ("low") or the last ("high").'
_WEIGHTS = {"weights": "Weights that broadcast to x, or one weight for each entry along a single `axis`."}
_LIKE = {
    "backend": "The backend of the new tensor; by default the backend of x.",
    "device": "The name of a device of the backend; by default the device of x, or the default device of a given "
    "`backend`.",
    "dtype": "The dtype; by default the dtype of x.",
}
_VECTORS = {
    "indices": "Integers: index vectors along the last axis, which run over the leading axes of x. They are never "
    "negative."
}
_WRITING = {
    **_VECTORS,
    "mode": 'How to treat an index outside its axis: "error" raises `IndexRangeError`, "clip" moves it to the '
    'nearest end, "fill" ignores the update.',
}
_PROBABILITIES = {
    "axis": "The axes along which the result adds up to 1; `None` for all.",
    "x": "A tensor of a real dtype or bool.",
}
_OF_CLASSES = {"axis": "The axis of the classes.", "logits": "Scores, of a real dtype."}
_COMBINING = {
    **_WRITING,
    "updates": "The updates, of the shape that `gather` returns for the same indices, or of one that broadcasts to it.",
}
_TENSOR = {"x": "A tensor."}
_ANY = {"x": "A tensor of any dtype."}
_SPACED = {
    "start": "The first number.",
    "stop": "The last number, or with `endpoint=False` the bound, which is not included.",
    "num": "The number of values.",
    "endpoint": "Whether `stop` is the last value.",
    "dtype": "The dtype; by default the default floating or complex dtype, or the common dtype of tensors.",
    "name": "The name of the new axis; by default it has no name.",
    "axis": "The position of the new axis in the result.",
}
_SEPARATE = {
    "matrix": "A matrix in any format. Several values at one place stay separate (`sum_duplicates` adds them), so no "
    "data is read."
}
_DIVIDED = {
    "kth": "The places of elements that are where `sort` has them; negative ones count from the end.",
    "x": "A tensor of a real dtype or bool. NaN is larger than all numbers.",
}

PARAMETERS: Final[Mapping[str, Words]] = {
    "": {
        "axis": "The axis, by position or by name.",
        "backend": "The backend of the new tensor; by default the backend of `like`, else the default backend.",
        "batch": "The batch axes that x and the indices have in common, by name, or by position if it is the same in "
        "both. Each entry along them has its own indices.",
        "descending": "Whether to sort in descending order.",
        "device": "The name of a device of the backend; by default the device of `like`, else the default device of "
        "the backend.",
        "dtype": "The dtype of the result; by default the dtype of x, but 64 bits for narrower integers and bool.",
        "fill_value": "The value that fills the result up to `size` entries.",
        "function": "A function of tensors without axes that calls ops of this library.",
        "include_initial": "Whether to add an entry for no elements (0 for a sum, 1 for a product) before the others, "
        "or after them with `reverse`.",
        "indices": "Integers.",
        "initial": "The initial value: a number, or a tensor without axes.",
        "keepdims": "Whether the result keeps the reduced axes, with size 1 and their names.",
        "like": "A tensor on whose backend and device the new tensor is created; `backend` must then be omitted.",
        "mode": 'How to treat an index outside its axis: "error" raises `IndexRangeError`, "clip" moves it to the '
        'nearest end, "fill" returns zero.',
        "names": _NO_AXES_NAMES,
        "reverse": "Whether to go from the end of the axis to its start.",
        "size": "The number of entries of the result. By default the entries are counted; if there is no data to "
        "count, as inside `jit`, the number must be given.",
        "stable": "Has no effect: the sort is always stable.",
        "weights": "A weight for each element; by default each weight is 1.",
        "x": "A tensor, a Python number or an array.",
        "x1": "A tensor, a Python number or an array.",
        "x2": "A tensor, a Python number or an array.",
    },
    **dict.fromkeys(("argpartition", "partition"), _DIVIDED),
    **dict.fromkeys(("compress", "merge_axes", "pad", "repeat", "split_axis", "unique_all"), _ANY),
    # Elementwise
    "elementwise": {
        "x2": "A tensor, a Python number or an array that broadcasts with x1, aligned at the last axis. Matching axes "
        "have the same name, or one of them has no name."
    },
    "astype": {
        "dtype": "The dtype to cast to.",
        "copy": "Has no effect: data is never changed in place.",
        "device": "Must be omitted: `x.to_device` moves a tensor to a device.",
    },
    "bitcast": {"dtype": "A dtype with the same number of bits as the dtype of x, not bool."},
    "clip": {"min": "The lower bound; `None` for no bound.", "max": "The upper bound; `None` for no bound."},
    "isclose": {"rtol": _TOLERANCE, "atol": "The absolute tolerance.", "equal_nan": "Whether NaN is close to NaN."},
    "all_close": {"rtol": _TOLERANCE, "atol": "The absolute tolerance.", "equal_nan": "Whether NaN is close to NaN."},
    "where": {
        "condition": "A bool tensor, which broadcasts with x1 and x2.",
        "x1": "The values where the condition is true.",
        "x2": "The values where the condition is false.",
    },
    "gamma_inc_l": {
        "a": "The parameter of the function, at least 0.",
        "x": "The upper bound of the integral, at least 0.",
    },
    "gamma_inc_u": {
        "a": "The parameter of the function, at least 0.",
        "x": "The lower bound of the integral, at least 0.",
    },
    # Reductions, sorting, searching and cumulative ops
    "reduction": {
        "axis": "The axes to reduce, by position or by name; by default all of them.",
        "correction": "The divisor is the number of elements minus `correction`; 1 is for the unbiased variance of a "
        "sample.",
    },
    "missing_values": {
        "axis": "The axes to reduce, by position or by name; by default all of them.",
        "correction": "The divisor is the number of elements that are not NaN minus `correction`; 1 gives the unbiased "
        "variance of a sample.",
        "ddof": "The same by NumPy's older name; only one of the two may be given.",
    },
    "nanmean": {"dtype": _CONVERTED},
    "nanvar": {"dtype": _CONVERTED},
    "nanstd": {"dtype": _CONVERTED},
    "argmax": {
        "axis": "The axis to reduce, by position or by name; by default the tensor is flattened.",
        "tie_break": _TIE_BREAK,
    },
    "argmin": {
        "axis": "The axis to reduce, by position or by name; by default the tensor is flattened.",
        "tie_break": _TIE_BREAK,
    },
    "logsumexp": {"scale": "Factors by which the exponentials are multiplied. They broadcast to x; by default 1."},
    "weighted_mean": _WEIGHTS,
    "weighted_nanmean": _WEIGHTS,
    "order_statistics": {"axis": "The axes to reduce, by position or by name; by default all of them."},
    "mode": {"axis": "The axis to reduce, by position or by name; by default the tensor is flattened."},
    "quantile": {
        "q": "Probabilities from 0 to 1: a number, a list, or a tensor with one axis.",
        "method": "How to compute a quantile between two elements: the name of one of NumPy's methods.",
    },
    "nanquantile": {"q": "Probabilities from 0 to 1: a number, a list, or a tensor with one axis."},
    "nanpercentile": {"q": "Percentages from 0 to 100: a number, a list, or a tensor with one axis."},
    "percentile": {
        "q": "Percentages from 0 to 100: a number, a list, or a tensor with one axis.",
        "method": "How to compute a percentile between two elements: the name of one of NumPy's methods.",
    },
    "covariance": {
        "x": "Observations of shape (..., n, d), with one variable per column.",
        "mean": "The means of the variables, of shape (..., d); by default they are computed from x.",
        "correction": "The divisor is the number of observations minus `correction`; 1 is for the unbiased covariance.",
    },
    "correlation": {"x": "Observations of shape (..., n, d), with one variable per column."},
    "digitize": {
        "bins": "The edges of the bins along one axis, in ascending or descending order.",
        "right": "Whether a bin includes its upper edge, and not its lower one.",
    },
    "set_operations": {
        "size": "The number of elements of the result. With it no data is read, so that `jit` and dry "
        "runs know the shape: missing elements are `fill_value`, surplus elements are left out.",
        "fill_value": "The value of elements that are missing.",
    },
    **dict.fromkeys(("cumulative", "editing"), _OF_SOLE_AXIS),
    "diff": {
        "axis": "The axis, by position or by name.",
        "n": "The number of times that differences are taken.",
        "prepend": "Entries to insert before the first entry of x.",
        "append": "Entries to insert after the last entry of x.",
    },
    "isin": {
        "x2": "The elements with which each element of x1 is compared.",
        "invert": "Whether to return the opposite: true for elements that are not in x2.",
    },
    "searchsorted": {
        "x1": "Values in ascending order along one axis, or in any order if a `sorter` is given.",
        "x2": "The values to insert.",
        "side": 'Whether a value is inserted before equal values ("left") or after them ("right").',
        "sorter": "The indices that sort x1, as `argsort` returns them; by default x1 must be sorted.",
    },
    "reduce": {
        "axis": "The axes to fold over, by position or by name; by default all of them.",
        "dtype": "The dtype to which the initial value and each result are cast; by default nothing is cast.",
    },
    "map": {"dtype": "The dtype to which the results are cast; by default nothing is cast."},
    # Creation
    "creation": {
        "dtype": _DEFAULT_FLOATING,
        "fill_value": "The value: a Python number, or a tensor or an array without axes.",
        "k": _DIAGONAL,
        "n_rows": "The number of rows.",
        "n_cols": "The number of columns; by default `n_rows`.",
        "shape": "The sizes of the axes, or an int for a single axis.",
        "value": "A number, an array, a tensor, or nested lists of these.",
        "x": "The tensor from which shape, dtype, names and backend are taken.",
    },
    **dict.fromkeys(("empty_like", "zeros_like", "ones_like", "full_like"), _LIKE),
    "full": {"backend": _OF_VALUE_OR_LIKE, "dtype": _OF_VALUES},
    "tensor": {"backend": _OF_VALUE_OR_LIKE, "dtype": _OF_VALUES},
    "asarray": {"backend": _OF_VALUE_OR_LIKE, "copy": _COPY, "dtype": _OF_VALUES},
    "eye": {"batch_shape": "The sizes of leading axes, along which the matrix is repeated; by default there are none."},
    "iota": {
        "axis": "The axis along which to count, by position or by name; by default all elements are counted in "
        "row-major order.",
        "dtype": "The dtype; by default int64.",
    },
    "arange": {
        "start": "The first number. If it is the only argument, it is the bound, and the numbers start from 0.",
        "stop": "The bound, which is not included.",
        "step": "The spacing between numbers.",
        "dtype": "The dtype; by default the common dtype of the given numbers, with the default dtypes of Python "
        "numbers.",
        "name": "The name of the axis; by default it has no name.",
    },
    "logspace": {
        **_SPACED,
        "start": "The exponent of the first number.",
        "stop": "The exponent of the last number, or with `endpoint=False` of the bound, which is not included.",
        "base": "The number whose powers are taken.",
        "endpoint": "Whether the power of `stop` is the last value.",
    },
    "geomspace": {**_SPACED, "dtype": _DEFAULT_FLOATING, "name": "The name of the axis; by default it has no name."},
    "linspace": _SPACED,
    "from_dlpack": {
        "x": "An array of another library, which has the method `__dlpack__`.",
        "backend": _DEFAULT_BACKEND,
        "copy": _COPY,
        "device": "The name of a device of the backend, to which the other library copies the array. By default the "
        "array must be on the device of the backend.",
    },
    "from_binary": {
        "backend": _DEFAULT_BACKEND,
        "data": "The bytes of the elements, in row-major order and native byte order.",
        "template": "The shape, dtype and names of the new tensor.",
    },
    "template": {"dtype": "The dtype."},
    "rename": {
        "x": "A tensor.",
        "names": "The new names of all axes, in order; `None` for no name.",
        "renamed": "For each axis to rename, its new name by its old name.",
    },
    # Shape
    "concatenate": {"tensors": _EXCEPT_ALONG_AXIS, "axis": "The axis, by position or by name."},
    "concat": {
        "arrays": _EXCEPT_ALONG_AXIS,
        "axis": "The axis, by position or by name; `None` flattens the tensors first.",
    },
    "stack": {
        "arrays": "Tensors with equal shapes.",
        "axis": "The position of the new axis in the result.",
        "name": "The name of the new axis; by default it has no name.",
    },
    "split": {"sections": "The number of equal parts, or the positions at which to cut."},
    "tile": {"repetitions": "The number of repetitions of x along each axis, aligned at the last axis."},
    "roll": {
        "shift": "The number of places by which elements move towards the end: one for all axes, or one for each.",
        "axis": "The axes, by position or by name; `None` rolls the flattened tensor.",
    },
    "moveaxis": {
        "source": "The axes to move, by position or by name.",
        "destination": "The positions of these axes in the result.",
    },
    "broadcast_arrays": {"arrays": "Tensors, Python numbers or arrays."},
    "meshgrid": {
        "arrays": "Tensors with one axis each.",
        "indexing": 'Whether the first tensor runs along the first axis ("ij") or along the second ("xy").',
    },
    "triangles": {
        "k": _DIAGONAL,
        "offset": _DIAGONAL,
        "diagonal": "The elements for the diagonals, of shape (..., length of the diagonal).",
        "x": _MATRICES,
    },
    "make_diagonal": {"x": "The elements for the diagonals, along the last axis."},
    "align_as": {"x": "A tensor.", "other": "The tensor whose names determine the order of the axes."},
    "align_to": {"x": "A tensor.", "names": "The names of the result's axes, in order."},
    "broadcast_shapes": {"shapes": "Shapes, each as a sequence of sizes."},
    "broadcast_to": {
        "shape": "The sizes of the result's axes.",
        "names": "The names of the result's axes; by default the axes of x keep their names.",
        "axes": "For each axis of x its position in the result; by default the last positions.",
    },
    "expand_dims": {
        "axis": "The positions of the new axes in the result.",
        "name": "The names of the new axes; by default they have no names.",
    },
    "flip": {"axis": "The axes, by position or by name; by default all of them."},
    "permute_dims": {
        "axes": "For each axis of the result the axis of x that is moved there, by position or by name; by default the "
        "order is reversed."
    },
    "reshape": {
        "shape": "The sizes of the result's axes. One of them may be -1, for the remaining size.",
        "copy": "Has no effect: data is never changed in place.",
        "names": "The names of the result's axes; by default unchanged axes keep their names.",
    },
    "squeeze": {"axis": "The axes to remove, by position or by name; by default all axes of size 1."},
    "reflect": {
        "padding": "The numbers of elements to add at both ends, as (low, high) for each axis, or as a mapping from "
        "some axes, by name or position, to (low, high)."
    },
    # Indexing
    "indexing": {
        "key": "The key between the brackets of `x[key]`.",
        "length": "The number of entries to take.",
        "segments": "The segment of each entry along the axis: integers from 0 to `size` - 1.",
        "updates": "The updates, of the shape that `gather` returns for the same indices.",
        "value": "The new elements, which broadcast to the elements at the key.",
    },
    "segments": {
        "size": "The number of segments.",
        "name": "The name of the axis of segments, by default none.",
        "axis": "The axis of the entries, by position or by name.",
        "mode": 'How to treat an entry whose segment is not from 0 to `size` - 1: "error" raises `IndexRangeError`, '
        '"clip" assigns it to the nearest segment, "fill" ignores it.',
    },
    "selection": {"axis": "The axis of the entries; all elements in row-major order by default."},
    "positions": {"shape": "The shape of the tensor."},
    "scatter": _VECTORS,
    **dict.fromkeys(("indexed_add", "indexed_put"), _WRITING),
    **dict.fromkeys(("indexed_max", "indexed_min", "indexed_prod", "indexed_mean", "indexed_logsumexp"), _COMBINING),
    "argwhere": {"size": "The number of rows of the result; by default the number of nonzero elements."},
    **dict.fromkeys(("getitem", "put_at", "setitem"), _TENSOR),
    "isel": {
        **_TENSOR,
        "keys": "An int, a slice, a list, a mask or an integer tensor for each axis to index, by the axis' name.",
    },
    "put_slice": {
        "update": "The new elements of the block.",
        "starts": "The position of the block along each axis: ints, or tensors without axes.",
    },
    "slice_": {
        "starts": "The position of the first element along each axis.",
        "lengths": "The sizes of the result's axes.",
        "strides": "The distance between elements along each axis.",
    },
    "slice_along_axis": {
        "start": "The position of the first entry: an int, or a tensor without axes.",
        "stride": "The distance between entries.",
    },
    "take": {
        "indices": "Integers of any shape; negative ones count from the end.",
        "axis": _SOLE_AXIS,
    },
    "take_along_axis": {
        "indices": "Integers with as many axes as x, which broadcast with x along all axes but `axis`; negative ones "
        "count from the end."
    },
    # Functions of neural networks
    "activations": {"x": "A tensor of any shape, of a real dtype or bool."},
    **dict.fromkeys(("log_softmax", "masked_softmax", "softmax"), _PROBABILITIES),
    **dict.fromkeys(("cross_entropy", "sparse_cross_entropy"), _OF_CLASSES),
    "nn.positions": {"base": "The frequencies decrease from 1 to almost 1 / base."},
    "nn.recurrent": {"state": "The initial state, by default zeros."},
    "nn.ctc": {
        "axis": "The axis of the classes.",
        "blank": "The index of the blank label; a negative number counts from the end.",
        "label_lengths": "The number of labels of each example; broadcasts to the batch axes. By default all.",
        "labels": "(batch..., positions): classes, none of which is the blank. Labels beyond the length of an example "
        "are ignored.",
        "logit_lengths": "The number of frames of each example; broadcasts to the batch axes. By default all.",
        "logits": "Scores with axes of frames and classes, and batch axes, as in `ctc_loss`.",
        "time": "The axis of the frames.",
    },
    "nn.normalisation": {
        "axis": "The axis of the features.",
        "epsilon": "Added to the variance.",
        "offset": "An offset for each feature.",
        "scale": "A scale for each feature.",
        "x": "A tensor of a real dtype.",
    },
    "nn.initialisers": {
        "dtype": "A floating dtype; by default the default floating dtype.",
        "inputs": "The axis of the inputs, by position or by one of the names.",
        "key": "A random key.",
        "names": "The names of the axes.",
        "outputs": "The axis of the outputs, by position or by one of the names.",
        "shape": "The shape of the weight, with at least two axes.",
    },
    "nn.windows": {
        "backend": "By default the default backend.",
        "dtype": "A floating dtype, by default the default one.",
        "name": "The name of the axis.",
        "periodic": "Whether the period ends after the last element, as spectra require and in PyTorch, or at it, as "
        "in NumPy.",
        "size": "The number of elements.",
    },
    # Matrices and integers
    **dict.fromkeys(("sparse.conversion.to_csr", "sparse.conversion.to_csc"), _SEPARATE),
    "looped.divisors": {"x1": "Integers.", "x2": "Integers, which broadcast with x1."},
    "quantized.rounding": {"x": "A tensor of floats."},
    # Loops and collective operations
    "along": {
        "axis": "The axis, by position or by name.",
        "xs": "Tensors of the same size along the axis, nested in lists, tuples, dicts and dataclasses.",
    },
    "control": {"initial": "The carried values before the first step, nested in any way."},
    "collectives": {
        "x": "The tensor of each device, inside a function of `shard_map`.",
        "mesh_axes": "The name of a mesh axis, or the names of several.",
    },
    "from_end": {"indices": "Integers; negative ones count from the end.", "size": "The size of the axis."},
}
