"""Calls of NumPy's functions, each a text that is run with NumPy and with the namespace in its place.

The operands are drawn: `a`, `b` and `row` are float64 of shapes (n, m), (n, m) and (m,); `i`, `j` are int64 of that shape
and `k` a line of them; `p` holds positive floats; `m`, `w` are bools; `c`, `d` are complex; `v`, `u` are lines of floats,
`s` is one that is sorted; `h` has NaN among its elements; `f4` and `i4` are float32 and int32; `M`, `N` are square
matrices, `S` is positive definite; `t` has three axes.
"""

# ruff: noqa: E501 # texts and patterns are not broken
from __future__ import annotations

from typing import Final

UNARY: Final = [
    "absolute",
    "cos",
    "cosh",
    "sin",
    "tan",
    "tanh",
    "sinh",
    "arctan",
    "arcsinh",
    "exp",
    "expm1",
    "exp2",
    "floor",
    "ceil",
    "trunc",
    "rint",
    "sign",
    "negative",
    "positive",
    "square",
    "cbrt",
    "signbit",
    "isnan",
    "isinf",
    "isfinite",
    "fabs",
    "deg2rad",
    "rad2deg",
    "degrees",
    "radians",
    "spacing",
    "logical_not",
]
OF_POSITIVE: Final = ["log", "log2", "log10", "log1p", "sqrt", "reciprocal"]
OF_UNITS: Final = ["arcsin", "arccos", "arctanh"]
BINARY: Final = [
    "add",
    "subtract",
    "multiply",
    "maximum",
    "minimum",
    "fmax",
    "fmin",
    "equal",
    "not_equal",
    "less",
    "less_equal",
    "greater",
    "greater_equal",
    "logical_and",
    "logical_or",
    "logical_xor",
    "hypot",
    "copysign",
    "nextafter",
    "logaddexp",
    "logaddexp2",
    "arctan2",
    "heaviside",
]
OF_DIVISORS: Final = ["divide", "floor_divide", "remainder", "fmod", "float_power", "power", "divmod"]
OF_INTS: Final = [
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "gcd",
    "lcm",
    "add",
    "subtract",
    "multiply",
    "maximum",
    "minimum",
]

GENERATED: Final = [
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
"""Calls of functions that take the same operands."""

WRITTEN: Final = """
np.abs(a)
np.acos(np.tanh(a))
np.acosh(p + 1.0)
np.asin(np.tanh(a))
np.asinh(a)
np.atan(a)
np.atan2(a, b)
np.atanh(np.tanh(a) * 0.9)
np.add.reduce(a)
np.add.reduce(a, axis=1, keepdims=True)
np.add.accumulate(a, axis=1)
np.add.outer(v, row)
np.add.reduceat(v, [0, 2])
np.multiply.reduce(a, 0)
np.multiply.outer(k, k)
np.maximum.reduce(a, axis=None)
np.maximum.accumulate(a)
np.subtract.reduce(v)
np.subtract.accumulate(v)
np.hypot.reduce(v)
np.logical_and.reduce(m, axis=1)
np.logical_xor.accumulate(m, axis=0)
np.bitwise_or.reduce(k)
np.add(a, b, out=np.zeros(a.shape))
np.add(a, b, np.zeros(a.shape))
np.exp(a, dtype=np.float32)
np.add(i, j, dtype=float)
np.add(a, b, where=m, out=np.ones(a.shape))
np.negative(a, where=m, out=a.copy())
np.bitwise_count(np.abs(i))
np.bitwise_invert(i)
np.bitwise_not(m)
np.invert(i)
np.bitwise_left_shift(np.abs(i), 2)
np.left_shift(np.abs(i), 1)
np.bitwise_right_shift(i, 1)
np.right_shift(i, 2)
np.conj(c)
np.conjugate(a)
np.mod(a, p)
np.pow(p, 2)
np.power(a, 2)
np.power(2, np.abs(i))
np.true_divide(i, 4)
np.modf(a)
np.frexp(a)
np.ldexp(a, i4)
np.matmul(M, N)
np.matmul(a, row)
np.matvec(M, np.arange(M.shape[0]))
np.vecmat(np.arange(M.shape[0]), M)
np.vecdot(a, b)
np.zeros(3)
np.zeros((2, 3), int)
np.zeros(shape=(2,), dtype="f4")
np.ones((2, 2))
np.ones(3, dtype=bool)
np.full((2, 3), 7)
np.full(2, [1.5, 2.5])
np.full((2,), 1, dtype=float)
np.zeros_like(a)
np.zeros_like(a, dtype=int)
np.zeros_like(a, shape=(4,))
np.ones_like(i)
np.full_like(a, 2)
np.full_like(i, 2.7)
np.empty((2, 0))
np.empty_like(a) * 0
np.arange(5)
np.arange(1, 10, 3)
np.arange(0.0, 1.0, 0.25)
np.arange(3, dtype=np.float32)
np.linspace(0, 1)
np.linspace(0, 1, 5)
np.linspace(1, 2, num=4, endpoint=False)
np.linspace(0, 5, 6, retstep=True)
np.linspace(0, 5, 6, dtype=int)
np.linspace(v, 2 * v, 4)
np.logspace(0, 2, 5)
np.logspace(0, 2, 5, base=2.0)
np.geomspace(1, 1000, 4)
np.eye(3)
np.eye(2, 4, k=1)
np.eye(3, dtype=int)
np.identity(2)
np.tri(3, 4, 1)
np.vander(v)
np.vander(v, 3, increasing=True)
np.diag(v)
np.diag(v, k=1)
np.diag(a)
np.diag(a, -1)
np.diagflat(a, 1)
np.diagonal(t)
np.diagonal(t, 1, 1, 2)
np.fromfunction(lambda x, y: x + 2 * y, (2, 3))
np.fromfunction(lambda x, y: x == y, (3, 3), dtype=int)
np.indices((2, 3))
np.indices((2, 3), sparse=True)
np.fromiter((x * x for x in range(4)), float)
np.frombuffer(b"\\x01\\x02\\x03", np.uint8)
np.meshgrid(v, row)
np.meshgrid(v, row, indexing="ij")
np.meshgrid(v, row, sparse=True)
np.mgrid[0:3, 0:2]
np.ogrid[0:3, 1:2]
np.mgrid[0:1:5j]
np.r_[1, 2, v, 5]
np.r_[1:4, 0]
np.c_[v, v]
np.array([[1, 2], [3, 4]])
np.array([1, 2.5])
np.array([1, 2], dtype=np.int8)
np.array(a, ndmin=3)
np.array([v, v])
np.array([[True, False]])
np.asarray([1, 2], float)
np.asanyarray(a)
np.ascontiguousarray(a.T)
np.asfortranarray(a)
np.asarray_chkfinite(a)
np.require(a, dtype="f4")
np.copy(a)
np.astype(a, int)
np.reshape(a, -1)
np.reshape(t, (t.shape[0], -1))
np.reshape(a, (a.shape[1], a.shape[0]), order="F")
np.ravel(a)
np.ravel(a, "F")
np.transpose(t)
np.transpose(t, (1, 0, 2))
np.permute_dims(t, (2, 0, 1))
np.matrix_transpose(t)
np.swapaxes(t, 0, 2)
np.moveaxis(t, 0, -1)
np.moveaxis(t, [0, 1], [2, 0])
np.rollaxis(t, 2)
np.rollaxis(t, 0, 3)
np.squeeze(a[None])
np.squeeze(a[:, None], axis=1)
np.expand_dims(a, 0)
np.expand_dims(a, axis=(0, 2))
np.flip(a)
np.flip(a, 1)
np.flip(t, axis=(0, 2))
np.flipud(a)
np.fliplr(a)
np.rot90(a)
np.rot90(a, 2)
np.rot90(t, k=3, axes=(1, 2))
np.broadcast_to(row, (2, row.shape[0]))
np.broadcast_arrays(a, row)
np.broadcast_shapes((2, 1), (3,))
np.atleast_1d(1.0)
np.atleast_1d(a, 2)
np.atleast_2d(v)
np.atleast_3d(a)
np.atleast_3d(v)
np.shape(a)
np.ndim(t)
np.size(a)
np.size(a, 1)
np.concatenate([a, b])
np.concatenate((a, i), axis=1)
np.concatenate([a, b], axis=None)
np.concat([v, u])
np.stack([a, b])
np.stack([a, b], axis=-1)
np.hstack([v, u])
np.hstack((a, b))
np.vstack([v, v])
np.vstack([a, b])
np.dstack([a, b])
np.dstack([v, v])
np.column_stack([v, v])
np.column_stack([a, b])
np.block([[a, b], [b, a]])
np.block([v, 1.0])
np.append(a, b)
np.append(a, b, axis=0)
np.split(np.arange(6), 3)
np.split(a, [1], axis=1)
np.array_split(v, 3)
np.array_split(a, 2, axis=1)
np.hsplit(np.arange(8).reshape(2, 4), 2)
np.vsplit(np.arange(8).reshape(4, 2), [1, 3])
np.dsplit(np.arange(8).reshape(1, 2, 4), 2)
np.unstack(a)
np.unstack(a, axis=1)
np.tile(v, 2)
np.tile(a, (2, 1, 3))
np.repeat(v, 2)
np.repeat(a, 3, axis=1)
np.repeat([1, 2, 3], [0, 1, 2])
np.roll(v, 2)
np.roll(a, 1, axis=0)
np.roll(a, (1, 2), axis=(0, 1))
np.roll(a, -1)
np.resize(v, (2, 3))
np.trim_zeros(np.array([0, 0, 1, 2, 0]))
np.trim_zeros([0, 1, 0], "b")
np.tril(a)
np.triu(a, 1)
np.tril(t, k=-1)
np.pad(v, 2)
np.pad(v, (1, 2), mode="edge")
np.pad(a, ((1, 0), (0, 2)), constant_values=3)
np.pad(v, 2, "wrap")
np.pad(np.arange(5), 2, mode="reflect")
np.pad(np.arange(5), 3, mode="symmetric")
np.pad(v, 1, mode="mean")
np.pad(np.arange(4.0), 2, mode="linear_ramp", end_values=(1, 2))
np.clip(a, -1, 1)
np.clip(a, None, 0.5)
np.clip(a, b - 1, b + 1)
np.clip(i, 0, 3)
np.clip(a, a_min=0, a_max=None)
np.round(a)
np.round(a, 2)
np.around(a, decimals=1)
np.round(i, -1)
np.fix(a)
np.sinc(a)
np.i0(a)
np.nan_to_num(h)
np.nan_to_num(h, nan=2.0)
np.real_if_close(c * 0 + 1)
np.angle(c, deg=True)
np.isclose(a, a + 1e-9)
np.isclose(h, h, equal_nan=True)
np.allclose(a, b)
np.allclose(a, a, rtol=1e-3)
np.array_equal(a, a)
np.array_equal(h, h, equal_nan=True)
np.array_equal(a, v)
np.array_equiv(row, np.stack([row, row]))
np.iscomplex(c)
np.isreal(c)
np.iscomplexobj(c)
np.isrealobj(a)
np.isposinf(h)
np.isneginf(h)
np.dot(M, N)
np.dot(v, v)
np.dot(a, 2.0)
np.dot(t, M[:1, :1].repeat(t.shape[2], 0))
np.vdot(c, d)
np.inner(a, b)
np.inner(v, v)
np.outer(v, row)
np.tensordot(a, b, axes=([0, 1], [0, 1]))
np.tensordot(a, b.T, 1)
np.einsum("ij,ij->i", a, b)
np.einsum("ij->ji", a)
np.einsum("ij,kj", a, b)
np.einsum(a, [0, 1], b, [0, 1], [0])
np.kron(v, row)
np.kron(M, np.eye(2))
np.cross(np.ones((2, 3)), np.arange(3.0))
np.trace(M)
np.trace(t, 0, 1, 2)
np.cumsum(a)
np.cumsum(a, axis=0)
np.cumsum(m)
np.cumprod(a, 1)
np.cumulative_sum(v)
np.cumulative_sum(a, axis=1, include_initial=True)
np.cumulative_prod(v)
np.diff(v)
np.diff(a, n=2, axis=0)
np.diff(a, prepend=0)
np.diff(m)
np.ediff1d(a)
np.ediff1d(v, to_begin=-99, to_end=[1, 2])
np.gradient(np.arange(5.0) ** 2)
np.gradient(np.arange(12.0).reshape(3, 4) ** 2)
np.gradient(np.arange(5.0) ** 2, 2.0)
np.gradient(np.arange(5.0) ** 2, np.array([0.0, 1, 3, 4, 7]))
np.gradient(np.arange(12.0).reshape(3, 4), axis=1, edge_order=2)
np.trapezoid(v)
np.trapezoid(a, dx=0.5, axis=0)
np.trapezoid(v, np.arange(v.shape[0]) ** 2)
np.unwrap(np.cumsum(p))
np.unwrap(v * 5, period=4)
np.interp(a, s, np.arange(s.shape[0]))
np.interp([0.5, 9e9], [0, 1], [2.0, 4.0], left=-1, right=7)
np.interp(v, [0.0, 1.0, 2.0], [3.0, 1.0, 2.0], period=3)
np.convolve(v, u)
np.convolve(v, u, "same")
np.convolve(v, u, mode="valid")
np.convolve([1, 2, 3], [0, 1])
np.correlate(v, u)
np.correlate(v, u, "full")
np.correlate(v, u, "same")
np.correlate(c[0], d[0], "full")
np.take(v, [0, 1])
np.take(a, [0, -1], axis=1)
np.take(a, 0)
np.take(v, [9, -9], mode="wrap")
np.take(v, [9, -9], mode="clip")
np.take_along_axis(a, np.argsort(a, axis=1), axis=1)
np.where(m, a, b)
np.where(m, a, 0)
np.where(m, 1, i)
np.where(m, 1, 2.5)
np.where(m)
np.nonzero(i)
np.flatnonzero(i)
np.argwhere(m)
np.compress([True, False], a[:2], axis=0)
np.extract(m, a)
np.choose([0, 1, 0], [[1, 2, 3], [4, 5, 6]])
np.choose([3, -1], [10, 20], mode="wrap")
np.select([a > 1, a < 0], [a, 10 * a], 42)
np.piecewise(v, [v < 0, v >= 0], [-1, lambda x: 2 * x])
np.insert(v, 1, 5.0)
np.insert(a, [0, 1], 7, axis=1)
np.insert(a, 1, row, axis=0)
np.insert(a, [2], a[:2], axis=0)
np.insert(v, [1, 1, 0], [4, 5, 6])
np.insert(v, slice(1, 3), [[8, 9]])
np.insert(a, -1, a[:, 0], axis=1)
np.unwrap(5 * a, axis=0)
np.unwrap(i, period=5)
np.i0(4 * f4)
np.delete(v, 0)
np.delete(a, [0, -1], axis=0)
np.delete(a, slice(0, 1), 1)
np.unravel_index([1, 5], (2, 3))
np.unravel_index(4, (2, 3), "F")
np.ravel_multi_index(([0, 1], [2, 0]), (2, 3))
np.ravel_multi_index(([0, 4],), (3,), mode="wrap")
np.ix_([0, 1], [True, False, True])
np.diag_indices(3)
np.diag_indices_from(M)
np.tril_indices(3)
np.triu_indices(3, 1, 4)
np.tril_indices_from(M, -1)
np.triu_indices_from(M)
np.mask_indices(3, np.triu)
list(np.ndindex(2, 2))
[x for _, x in np.ndenumerate(v)]
np.sort(a)
np.sort(a, axis=0)
np.sort(a, None)
np.sort(h)
np.argsort(a)
np.argsort(a, axis=0, stable=True)
np.sort_complex(c[0])
np.partition(v, 1)[1]
np.argpartition(v, 0)[0]
np.lexsort((v, -v))
np.searchsorted(s, v)
np.searchsorted(s, 0.5, "right")
np.searchsorted([3, 1, 2], [2], sorter=[1, 2, 0])
np.digitize(v, [-1.0, 0.0, 1.0])
np.digitize(v, [1.0, 0.0], right=True)
np.unique(i)
np.unique(i, return_index=True, return_inverse=True, return_counts=True)
np.unique(i, axis=0)
np.unique(h)
np.unique_all(k)
np.unique_counts(k)
np.unique_inverse(k)
np.sort(np.unique_values(k))
np.isin(i, [1, 2])
np.isin(i, k, invert=True)
np.intersect1d(i, j)
np.intersect1d([1, 3, 4], [3, 1, 7], return_indices=True)
np.union1d(i, j)
np.setdiff1d(i, j)
np.setxor1d(i, j)
np.average(a)
np.average(a, axis=1)
np.average(a, 0, weights=p)
np.average(a, axis=1, weights=np.arange(1, a.shape[1] + 1), returned=True)
np.quantile(a, 0.25)
np.quantile(a, [0.1, 0.5], axis=0)
np.quantile(a, 0.3, axis=1, method="lower", keepdims=True)
np.quantile(a, 0.3, method="hazen")
np.quantile(f4, 0.3)
np.percentile(f4, 30)
np.nanpercentile(f4, 30.0)
np.percentile(a, 75)
np.percentile(a, [10, 90], axis=1)
np.nanpercentile(h, 40, axis=0)
np.nanmedian(h, axis=1)
np.nanmax(h, axis=0)
np.nanmin(h)
np.cov(a)
np.cov(a, rowvar=False)
np.cov(v, v, bias=True)
np.cov(a, ddof=0, aweights=np.arange(1, a.shape[1] + 1))
np.corrcoef(np.vstack([s, s[::-1]]))
np.bincount(np.abs(k))
np.bincount(np.abs(k), minlength=9)
np.bincount([0, 1, 1], weights=[0.5, 1.5, 2.0])
np.histogram(a)
np.histogram(a, 4)
np.histogram(a, bins=5, range=(-1, 1))
np.histogram(a, [-1.0, 0.0, 1.0])
np.histogram(a, 4, density=True)
np.histogram(a, 4, weights=p)
np.histogram(i, bins="auto")
np.histogram_bin_edges(a, 4)
np.histogram(f4, 4)
np.histogram(f4, 4, range=(-1, 1))
np.histogram_bin_edges(f4, 4)
np.histogram2d(f4.ravel(), f4.ravel() * 2, 3)
np.histogram2d(f4.ravel(), f4.ravel(), 3, range=[(-1, 1), (-2, 2)])
np.histogram2d(i4.ravel(), f4.ravel(), 3)
np.histogram2d(v, v, 3)
np.histogramdd(np.stack([v, v], 1), bins=(2, 3))
np.polyval([1.0, 2.0, 3.0], a)
np.polyfit(np.arange(5.0), [1.0, 3.0, 2.0, 5.0, 4.0], 2)
np.polyfit(np.arange(5.0), [1.0, 3.0, 2.0, 5.0, 4.0], 1, cov=True)
np.polyadd([1, 2], [1, 2, 3])
np.polysub([1, 2], [1, 2, 3])
np.polymul([1, 2], [1, 2, 3])
np.polydiv([1.0, 5.0, 6.0], [1.0, 2.0])
np.polyder([1.0, 2.0, 3.0, 4.0])
np.polyder([1.0, 2.0, 3.0, 4.0], 2)
np.polyint([1.0, 2.0])
np.polyint([1.0, 2.0], m=2, k=[1, 2])
np.poly([1.0, 2.0, 3.0])
np.poly([1, 2])
np.sort(np.roots([1.0, -6.0, 11.0, -6.0]))
np.hanning(5)
np.hamming(6)
np.blackman(7)
np.bartlett(5)
np.kaiser(6, 8.6)
np.packbits(m)
np.packbits(m, axis=1, bitorder="little")
np.unpackbits(np.array([3, 129], np.uint8))
np.unpackbits(np.array([[3], [129]], np.uint8), axis=1, count=4)
np.vectorize(lambda x, y: x + 2 * y)(a, 3.0)
np.vectorize(lambda x: 1.0 if x > 0 else -1.0)(a)
np.apply_along_axis(lambda x: x.sum(), 0, a)
np.apply_along_axis(np.sort, 1, a)
np.apply_over_axes(np.sum, t, [0, 2])
np.lib.stride_tricks.sliding_window_view(v, 2)
np.lib.stride_tricks.sliding_window_view(a, (1, 2))
np.result_type(i4, f4)
np.result_type(np.float32, 3.0)
np.promote_types("i4", "f4")
np.can_cast("i4", "i8")
np.min_scalar_type(300)
np.common_type(f4, a)
np.finfo(np.float32).eps
np.iinfo(int).max
np.issubdtype(a.dtype, np.floating)
np.isdtype(a.dtype, "real floating")
np.isscalar(3.0)
np.iterable(a)
np.isfortran(a)
np.may_share_memory(a, a[0])
np.shares_memory(a, b)
np.binary_repr(5, 8)
np.base_repr(5, 3)
np.array_repr(np.array([1.5, 2.0]))
np.array_str(np.arange(4))
np.array2string(np.arange(3), separator=", ")
np.diff(np.array([1, 4, 9]))
np.fromstring("1 2 3", sep=" ")
np.linalg.norm(a)
np.linalg.norm(v, 1)
np.linalg.norm(a, axis=1)
np.linalg.norm(a, np.inf)
np.linalg.norm(a, "fro", (0, 1), True)
np.linalg.norm(M, 2)
np.linalg.norm(M, "nuc")
np.linalg.vector_norm(a, axis=0)
np.linalg.matrix_norm(a)
np.linalg.inv(S)
np.linalg.det(M)
np.linalg.slogdet(S)
np.linalg.solve(S, np.arange(S.shape[0]))
np.linalg.solve(S, M)
np.linalg.cholesky(S)
np.linalg.eigvalsh(S)
np.linalg.eigh(S)[0]
np.sort(np.linalg.eigvals(S))
np.linalg.svd(a, compute_uv=False)
np.linalg.svd(a, full_matrices=False)[1]
np.linalg.svdvals(a)
np.abs(np.linalg.qr(a)[1])
np.abs(np.linalg.qr(S, "r"))
np.linalg.pinv(S)
np.linalg.lstsq(S, np.arange(S.shape[0]), rcond=None)[0]
np.linalg.lstsq(S, np.arange(S.shape[0]), rcond=None)[2]
np.linalg.matrix_rank(S)
np.linalg.matrix_power(M, 3)
np.linalg.matrix_power(S, -1)
np.linalg.multi_dot([a, a.T, a])
np.linalg.cond(S)
np.linalg.cond(S, 1)
np.linalg.tensorsolve(np.eye(4).reshape(2, 2, 2, 2) * 2, np.ones((2, 2)))
np.linalg.tensorinv(np.eye(4).reshape(4, 2, 2), ind=1)
np.linalg.diagonal(t)
np.linalg.trace(t)
np.linalg.cross([1.0, 0, 0], [0.0, 1, 0])
np.linalg.outer(v, row)
np.linalg.matmul(M, N)
np.linalg.matrix_transpose(t)
np.linalg.tensordot(a, b.T, axes=1)
np.linalg.vecdot(a, b)
np.linalg.eig(S)[0].sum()
np.fft.fftfreq(5)
np.fft.rfftfreq(6, 0.1)
np.fft.ihfft(v)
a + b * 2 - row
a / p
i / 2
i // 3
i % 3
-a
abs(i)
a @ b.T
2 ** i4.clip(0, 5)
p ** 0.5
a > b
(a > 0) & (b > 0)
~m
i & 3
i << 1
divmod(p, 2.0)
a == i
a + 1j
m + m
m * 2
a + [1.0] * a.shape[1]
np.float64(3) * a
np.float32(2) * f4
np.int8(3) + i
a.sum()
a.mean(0)
a.std(axis=1, ddof=1)
a.max(axis=0, keepdims=True)
a.argmax()
a.argsort(axis=0)
a.cumsum()
a.cumprod(axis=0)
a.clip(0, 1)
a.round(1)
a.dot(b.T)
a.ravel()
a.flatten("F")
a.reshape(-1, 1)
a.reshape((a.size,))
t.transpose(1, 0, 2)
t.T
t.mT
t.swapaxes(0, 1)
a.squeeze()
a.repeat(2)
a.take([0, 1])
a.trace()
a.diagonal()
a.nonzero()
a.all()
a.any(axis=1)
a.prod()
a.var()
a.astype(int)
a.astype("f4")
a.tolist()
a.copy()
c.real
c.imag
c.conj()
a.real
i.imag
a[0]
a[-1, 0]
a[:, 0]
a[::-1]
a[..., None]
a[m]
a[[0, -1]]
a[:, [0, 0]]
a[[0, -1], [0, 0]]
a[i % a.shape[0], 0]
a[m.nonzero()]
a[np.newaxis, :, 0]
a[a > 0]
t[:, [0], :1]
t[0, ..., 0]
a.flat[1]
list(a.flat)
len(a)
a.shape
a.size
a.ndim
a.dtype
a.itemsize
a.nbytes
a.strides
float(v[0])
int(k[0])
a.item(0)
a.tobytes()
i.view(np.uint64)
f4.view("i4")
a.compress([True], axis=0)
a.searchsorted(0.0) if a.ndim == 1 else v.shape
a.partition
np.set_printoptions
""".strip().splitlines()
"""Calls that are written out, a line for each."""

CALLS: Final = [*GENERATED, *WRITTEN]
