"""Calls of functions that take the same operands, made from lists of names."""

# ruff: noqa: E501 # patterns are not broken
from __future__ import annotations

from typing import Final

UNARY: Final = [
    "absolute", "cos", "cosh", "sin", "tan", "tanh", "sinh", "arctan", "arcsinh", "exp", "expm1", "exp2",
    "floor", "ceil", "trunc", "rint", "sign", "negative", "positive", "square", "cbrt", "signbit", "isnan",
    "isinf", "isfinite", "fabs", "deg2rad", "rad2deg", "degrees", "radians", "spacing", "logical_not",
]  # fmt: skip
OF_POSITIVE: Final = ["log", "log2", "log10", "log1p", "sqrt", "reciprocal"]
OF_UNITS: Final = ["arcsin", "arccos", "arctanh"]
BINARY: Final = [
    "add", "subtract", "multiply", "maximum", "minimum", "fmax", "fmin", "equal", "not_equal", "less",
    "less_equal", "greater", "greater_equal", "logical_and", "logical_or", "logical_xor", "hypot", "copysign",
    "nextafter", "logaddexp", "logaddexp2", "arctan2", "heaviside",
]  # fmt: skip
OF_DIVISORS: Final = ["divide", "floor_divide", "remainder", "fmod", "float_power", "power", "divmod"]
OF_INTS: Final = [
    "bitwise_and", "bitwise_or", "bitwise_xor", "gcd", "lcm", "add", "subtract", "multiply", "maximum",
    "minimum",
]  # fmt: skip

CALLS: Final = [
    *[f"np.{name}({x})" for name in UNARY for x in ("a", "t", "f4", "2.5")],
    *[f"np.{name}({x})" for name in ("absolute", "exp", "floor", "sqrt", "negative", "square", "sign") for x in ("i", "i4")],
    *[f"np.{name}({x})" for name in OF_POSITIVE for x in ("p", "p[0]")],
    *[f"np.{name}(np.tanh({x}) * 0.9)" for name in OF_UNITS for x in ("a", "v")],
    "np.arccosh(p + 1.0)",
    *[f"np.{name}({x})" for name in BINARY for x in ("a, b", "a, row", "row, 2.0", "3, a", "a, v[:1]", "f4, f4")],
    *[f"np.{name}({x})" for name in ("add", "multiply", "less", "maximum") for x in ("a, i", "i, f4", "i4, f4", "m, i", "m, w", "i, 2.5", "f4, 2", "c, a", "[1, 2], 3")
      if not (name == "maximum" and x == "c, a")],
    *[f"np.{name}({x})" for name in ("less", "less_equal", "greater", "greater_equal")
      for x in ("c, d", "c, c", "c, a", "c, 0.5", "1j, d", "np.real(c) + 0j, c", "c, np.real(c) + h * 1j")],
    *[f"np.{name}({x})" for name in OF_DIVISORS for x in ("p, p", "p, 2.0", "3, p")],
    *[f"np.{name}({x})" for name in OF_INTS for x in ("i, j", "i, 3", "i4, i4")],
    *[f"np.{name}(c)" for name in ("absolute", "exp", "sin", "cos", "conjugate", "square", "negative", "angle", "real", "imag", "isnan", "sqrt")],
    *[f"np.{name}({x})" for name in ("sum", "prod", "mean", "std", "var", "max", "min", "all", "any", "argmax", "argmin", "median", "ptp", "count_nonzero")
      for x in ("a", "a, axis=0", "a, 1", "a, axis=-1, keepdims=True", "i, axis=1", "f4", "t, axis=1") if not (name == "ptp" and "keepdims" in x)],
    *[f"np.{name}({x})" for name in ("sum", "prod", "mean", "all", "any") for x in ("m", "m, axis=0", "t, axis=(0, 2)", "a, axis=1, where=m")],
    *[f"np.{name}(a, axis=0, initial=0.5)" for name in ("sum", "prod", "max", "min")],
    *[f"np.{name}(a, axis=1, where=m, initial=0.25)" for name in ("sum", "prod", "max", "min")],
    *[f"np.{name}({x})" for name in ("var", "std", "nanvar", "nanstd") for x in ("c, where=m", "h, where=m, axis=0, ddof=1", "a, axis=0, mean=row[None]")],
    *[f"np.{name}(h{x})" for name in ("nansum", "nanprod", "nanmean", "nanstd", "nanvar", "nanmax", "nanmin", "nanmedian") for x in ("", ", axis=0", ", axis=1, keepdims=True")],
    *[f"np.{name}(h{x})" for name in ("nancumsum", "nancumprod") for x in ("", ", axis=1")],
    *[f"np.{name}(h)" for name in ("nanargmax", "nanargmin")],
    *[f"np.{name}(h, {x})" for name in ("nanquantile",) for x in ("0.25", "[0.1, 0.9], axis=0", "0.5, axis=1, keepdims=True")],
    *[f"np.fft.{name}({x})" for name in ("fft", "ifft", "rfft") for x in ("v", "a, axis=0", "v, 3", "v, norm='ortho'")],
    *[f"np.fft.{name}(c[0])" for name in ("irfft", "hfft", "fft", "ifft")],
    *[f"np.fft.{name}({x})" for name in ("fft2", "ifft2", "fftn", "ifftn", "rfft2", "rfftn") for x in ("a", "a, axes=(1, 0)")],
    *[f"np.fft.{name}({x})" for name in ("irfft2", "irfftn") for x in ("c",)],
    *[f"np.fft.{name}({x})" for name in ("fftshift", "ifftshift") for x in ("v", "a, axes=1", "a")],
]  # fmt: skip
