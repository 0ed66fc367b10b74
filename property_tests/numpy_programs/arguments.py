"""Arrays and arguments for every function of NumPy's namespace, and where results differ from NumPy's, with reasons.

The arguments are texts with `x` for the array. Most suit few functions; NumPy says which.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy

SOURCES: Final = {
    "matrix": numpy.arange(12.0).reshape(3, 4),
    "integers": numpy.arange(12).reshape(3, 4),
    "bools": numpy.arange(12).reshape(3, 4) % 2 == 0,
    "imaginary": numpy.arange(12).reshape(3, 4) * 1j,
    "line": numpy.arange(4.0),
    "number": numpy.array(2.0),
    "row": numpy.arange(4.0).reshape(1, 4),
    "identity": numpy.eye(3),
    "special": numpy.array([[1.0, numpy.nan, 2.0], [numpy.inf, 0.0, -0.0]]),
    "float32": numpy.arange(6, dtype="f4").reshape(2, 3),
    "int8": numpy.array([[100, 100], [-128, 3]], "i1"),
    "uint8": numpy.array([200, 100, 3], "u1"),
    "float16": numpy.array([1, 2.5, 600], "f2"),
    "empty": numpy.zeros((0, 3)),
    "complex64": numpy.array([1 + 1j, 2 - 1j], "c8"),
    "signed": numpy.array([[-1.5, 2.5, -0.5], [3.5, 0.5, -2.0]]),
}

ARGUMENTS: Final = """
x
x, 0
x, 1
x, -1
x, 3
x, 0.5
x, x
x, (3, 4)
x, [0, 2]
x, [0, 2], 0
x, x > 2
x > 2, x
x > 2, x, x
1, x
2.5, x
[0], x
[x, x]
(x, x), 0
[x[:1], x]
x, 0, 1
x, 0, 0
x, 2, 1
x, (12,)
x, (0, 1)
x, None
x, 1, None
x, None, 2
x, "C"
x, 2, axis=0
x, 2, axis=1
x, [1, 0], axis=0
x, 0.3, axis=0
x, [0.2, 0.5], axis=0, keepdims=True
x, axis=0
x, axis=-1, keepdims=True
x, axis=None
x, axis=(0, 1)
x, keepdims=True
x, dtype="f4"
x, dtype="i4"
x, axis=0, dtype="f8"
x, axis=0, where=x > 1
x, where=x > 1, initial=0
x, initial=2
x, axis=0, ddof=1
x, x, axis=0
x, x, axis=-1
x, x, axes=1
x, n=2
x, n=5, axis=0
x, k=1
x, k=-1
x, ord=1
x, ord=numpy.inf, axis=0
x, prepend=0
x, append=1, axis=0
x, axes=(1, 0)
x, copy=True
x, copy=False
x, order="F"
x, kind="stable"
x, stable=True
x, return_index=True, return_inverse=True, return_counts=True
x, return_counts=True, axis=0
x, minlength=13
x, weights=x
x, axis=0, weights=x
x, bins=4
x, bins=3, range=(0, 5), density=True
x, bins=x
x, pad_width=((1, 0), (0, 2))
x, pad_width=1, mode="edge"
x, pad_width=1, mode="reflect"
x, pad_width=1, mode="wrap"
x, x, mode="same"
x, x, mode="valid"
x, decimals=1
x, shift=1, axis=1
x, shift=(1, 2), axis=(0, 1)
x, x > 2, axis=0
x, 2.0, axis=0
x, rowvar=False
x, bias=True, dtype="f4"
x, a_min=1, a_max=3
x, min=1, dtype="f8"
x, repeats=[1] * len(x), axis=0
x, side="right", v=x
x, start=1, stop=2
x, N=3, increasing=True
x, invert=True, test_elements=[1, 2]
x, nan=1, posinf=2, neginf=3
x, period=5
x, indices=[0, 0], mode="clip"
x, indices=[7, -9], mode="wrap"
x, indices=[0], axis=0, mode="clip"
x, offset=1
x, offset=-1, axis1=1, axis2=0
x, offset=5, dtype="i4"
x, num=4, stop=9
x, stop=9, num=4, endpoint=False, retstep=True
x, b=x, equal_nan=True
x, norm="ortho"
x, s=(4, 4)
x, d=0.5
x, UPLO="U"
x, full_matrices=False
x, compute_uv=False
x, hermitian=True
x, rtol=0.1
x, axis=0, include_initial=True
x, x, sparse=True, indexing="ij"
x, x, copy=False
x, fill_value=3
x, shape=(2, 2)
x, reps=(2, 1)
x, trim="f"
x, fweights=[1] * len(x), rowvar=False
""".strip().splitlines()


class Row(NamedTuple):
    """Calls whose results are not NumPy's, as patterns: of the functions, what differs, the calls; and why."""

    functions: str
    what: str
    calls: str
    reason: str
    always: bool = True
    """Whether they differ from every version of NumPy."""


_BEYOND: Final = "NaN, infinities and numbers out of range become 0 and the limits of an integer dtype, not any number"
_ROUNDED: Final = "float16 and small integers overflow or lose digits in between in NumPy, which computes in them"
_ORDER: Final = "the order of equal elements is free; here the first comes first"
_REPEATED: Final = "assume_unique says that no element is repeated, and they are"
_HOST: Final = "arrays of objects or texts among others are NumPy's own"
_NUMBER: Final = "a result without axes is a number here, an array in NumPy, or the other way round"

ROWS: Final[tuple[Row, ...]] = (
    Row(r"as\w*array\w*|array|require|\.astype", "value", "i4", _BEYOND),
    Row(r"\.?(sum|mean|cumsum|cumprod)|nan(sum|cumsum|cumprod)", "value", "i4", _BEYOND),
    Row(
        "reciprocal",
        "value",
        r"integers|bools|int8|x > 2, x|\[0\], x",
        "1 / 0 is the largest integer, as in other divisions",
    ),
    Row(
        r"(floor_divide|divmod)", "value", "special", "an infinity divided by a number is infinite, as in the standard"
    ),
    Row("i0", "value", "special", "i0 of an infinity is infinite"),
    Row(r"\.?(around|round|spacing)", "value", "int8", _ROUNDED),
    Row(r"\.?(nan)?(std|var)|(linalg\.)?(vector_|matrix_)?norm", "value", "float16", _ROUNDED),
    Row(r"fft\.(i?r?fftn?|ifft2|irfftn|i?hfft)", "value|dtype", "float16", _ROUNDED),
    Row("linspace|logspace", "value", "float16", _ROUNDED),
    Row(r"\.?(std|var)|nanvar", "value", "i4", "an integer dtype: rounded once, at the end"),
    Row("unwrap", "value|dtype", "int8|float16|bools", _ROUNDED),
    Row("unwrap", "value", "special", "an infinity makes what follows infinite, not NaN"),
    Row("(nan)?(percentile|quantile)", "value", "int8", _ROUNDED),
    Row("(nan)?(percentile|quantile)", "value", "special", "next to an infinity a share of 0 is the element"),
    Row("(nan)?percentile", "dtype", "x > 2", "shares that are bools count as float64", always=False),
    Row("nan(percentile|quantile)", "shape", "empty", "the axis of shares stays when there is no element"),
    Row(r"\.?(arg)?partition", "value", "", _ORDER),
    Row(r"\.?argsort", "value", "None", _ORDER),
    Row("unique_values", "value", "", "sorted here; NumPy's order is free", always=False),
    Row("intersect1d|setxor1d", "shape|dtype", r"x, (0, 1|x, 1|1, None|2, 1)", _REPEATED),
    Row(
        r"\.?(nan)?(std|var)",
        "value",
        "f4|f8",
        "imaginary parts are dropped first, as by astype; in NumPy from the mean",
    ),
    Row(r"atleast_\dd|broadcast_arrays", "memory", '"C"|None', _HOST),
    Row("append|logical_or", "value", "None", _HOST),
    Row("roll|flip|i0|(nan)?median|tile|resize|polyval|dot", "array", "", _NUMBER),
    Row("cross|trim_zeros", "array", "", _NUMBER, always=False),
    Row(r"\.?(around|round)", "memory", "integers|int8", "NumPy 2.2 returns integers as they are", always=False),
    Row("fix", "value", "x, x", "an output that is an operand too: NumPy 2.2 reads what it has written", always=False),
    Row("rot90", "shape|value", "0.5", "half a turn of a quarter: NumPy 2.5 turns, older ones refuse", always=False),
    Row(r"cross", "value", "special|float16", "differences of products: inf - inf, in another order", always=False),
    Row("dot|inner|tensordot|\\.dot", "value", "special", "0 times NaN is NaN, which some of NumPy's loops skip"),
    Row("gradient", "value", "uint8", "0 / 0 and 1 / 0 in another order"),
    Row("vecdot", "value", "x > 2, x, x", "an output that is an operand too: NumPy reads what it has written"),
    Row(r"\.choose", "memory", "x > 2, x, x", "an output that is an operand too is returned itself"),
    Row("frexp|modf", "shape", r"\((1|\[0\]|2.5), x", "an output broadcasts no operand"),
    Row(r"linalg\.matrix_rank|linalg\.pinv|fft\.i?fft[n2]", "shape|dtype", "empty", "of no element, less is looked at"),
    Row(r"fft\.i?fftn", "dtype", "number", "of no axis: complex as all transforms"),
    Row(r"linalg\.(pinv|svd)", "value", "int8|hermitian", "tolerances at the end, or a matrix that is not hermitian"),
    Row(r"linalg\.lstsq", "value", "special", "NaN in one column: LAPACK leaves any number"),
    Row("polyint", "shape", "number", "of order 0 with axes, as of other orders"),
    Row("cov|corrcoef", "dtype", "empty", "the dtype that is asked for, also of no element"),
    Row("indices", "dtype", "None", "None is float64 in NumPy"),
    Row(r"\.view", "dtype", "None", "None keeps the dtype"),
)
