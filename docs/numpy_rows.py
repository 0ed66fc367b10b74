"""The counterparts of NumPy's functions here: the rows of coming-from-numpy.md, which `rows.py` makes."""

INTRODUCTION = """\
**Your program, one line changed**: `import tensorbackend.numpy as np` takes a NumPy program as it is, with views,
`+=` that the caller sees, `out=` and float64 ([NumPy programs as they are](numpy.md)). The rest of this page is for
programs that use the library's own functions.

Most functions have their names in the Array API standard, which NumPy 2 has too. NumPy's own functions take tensors as
well: `np.exp(x)` is `tb.exp(x)`. The differences are:

- `x[0] = 1` changes the tensor `x`, and no slice of it, as `x[1:]` is not a view; `x += y` is `x = x + y`, a new tensor
  ([assignment](semantics.md#assignment)).
- Numbers default to float32, as in JAX and PyTorch, and so does `float` as a dtype; `tb.set_precision(64)` makes that
  float64. float32 with an int stays float32.
- Axes may have [names](named-axes.md), and `axis=` takes them.
- Options are keyword arguments: `tb.sum(x, axis=0)`. Methods also take the axis as a positional argument: `x.sum(0)`.
- Random numbers come from [keys](random.md), not from a hidden state.
- Division by zero, overflow and invalid operations follow IEEE 754 without a warning."""

NAMES = """\
import numpy as np

import tensorbackend as tb

a = np.array([[3.0, 1.0, 2.0], [0.5, 4.0, 0.25]], dtype=np.float32)
b = np.array([[1.0, 2.0, 0.5], [2.0, 1.0, 4.0]], dtype=np.float32)
i = np.array([[2, 0, 1], [1, 1, 0]])
s = np.array([[4.0, 1.0], [1.0, 3.0]], dtype=np.float32)
x, y, j, m = tb.asarray(a), tb.asarray(b), tb.asarray(i), tb.asarray(s)
rng, key = np.random.default_rng(0), tb.random.key(0)
"""

COMPARED = "{}"

ROWS = """
np.array([1.0, 2.0]) | tb.tensor([1.0, 2.0]) | copies; float32
np.asarray(a) | tb.asarray(a) | shares the memory
np.zeros((2, 3)) | tb.zeros((2, 3)) |
np.ones((2, 3)) | tb.ones((2, 3)) |
np.full((2, 3), 7.0) | tb.full((2, 3), 7.0) |
np.zeros_like(a) | tb.zeros_like(x) |
np.arange(0, 10, 3) | tb.arange(0, 10, 3) |
np.linspace(0, 1, 5) | tb.linspace(0, 1, 5) |
np.eye(3) | tb.eye(3) |
np.diag([1.0, 2.0]) | tb.make_diagonal(tb.asarray([1.0, 2.0])) | `tb.take_diagonal` reads the diagonal of a matrix
np.tri(3) | tb.tri(3) |
np.meshgrid([1, 2], [3, 4], indexing="ij") | tb.meshgrid(tb.asarray([1, 2]), tb.asarray([3, 4]), indexing="ij") |
a.copy() | tb.tensor(x) | seldom needed: what was made of a tensor keeps its elements when that is assigned to
a.astype(np.int32) | x.astype("s32") | or `tb.int32`; NaN becomes 0, a number out of range the nearest limit
a.shape | x.shape |
a.ndim | x.ndim |
a.size | x.size |
a.T | x.T |
a.tolist() | x.tolist() |
a[0, 1].item() | x[0, 1].item() |
a[:, 1:] | x[:, 1:] |
a[a > 1] | x[x > 1] | inside `jit` use `tb.compress(..., size=...)`
a[:, [2, 0]] | x[:, [2, 0]] |
a[..., None] | x[..., None] |
np.take(a, [2, 0], axis=1) | tb.take(x, [2, 0], axis=1) |
np.take_along_axis(a, i, axis=1) | tb.take_along_axis(x, j, axis=1) |
np.where(a > 1, a, b) | tb.where(x > 1, x, y) |
np.nonzero(a > 1) | tb.nonzero(x > 1) |
np.argwhere(a > 1) | tb.argwhere(x > 1) |
np.reshape(a, (3, 2)) | tb.reshape(x, (3, 2)) |
a.ravel() | x.ravel() |
np.transpose(a, (1, 0)) | tb.permute_dims(x, (1, 0)) |
np.swapaxes(a, 0, 1) | tb.permute_dims(x, (1, 0)) |
np.moveaxis(a, 0, 1) | tb.moveaxis(x, 0, 1) |
np.expand_dims(a, 0) | tb.expand_dims(x, 0) | `name="batch"` gives the axis a name
np.squeeze(a[None]) | tb.squeeze(x[None]) |
np.concatenate([a, b], axis=1) | tb.concatenate([x, y], axis=1) |
np.vstack([a, b]) | tb.concatenate([x, y], axis=0) |
np.stack([a, b]) | tb.stack([x, y]) | `name=` names the new axis
np.split(a, 3, axis=1) | tb.split(x, 3, axis=1) | or pass the positions of the cuts
np.tile(a, (2, 1)) | tb.tile(x, (2, 1)) |
np.repeat(a, 2, axis=0) | tb.repeat(x, 2, axis=0) |
np.flip(a, axis=1) | tb.flip(x, axis=1) |
np.roll(a, 1, axis=1) | tb.roll(x, 1, axis=1) |
np.pad(a, ((1, 0), (0, 2))) | tb.pad(x, ((1, 0), (0, 2))) | `tb.pad(x, 1)` pads all sides
np.broadcast_to(a, (4, 2, 3)) | tb.broadcast_to(x, (4, 2, 3)) |
np.triu(s) | tb.triu(m) |
np.sum(a, axis=1) | tb.sum(x, axis=1) | small ints are summed in int64
np.sum(a, axis=(0, 1), keepdims=True) | tb.sum(x, axis=(0, 1), keepdims=True) |
np.prod(a, axis=0) | tb.prod(x, axis=0) |
np.mean(a, axis=0) | tb.mean(x, axis=0) |
np.average(a, axis=1, weights=b) | tb.weighted_mean(x, y, axis=1) |
np.std(a, axis=0, ddof=1) | tb.std(x, axis=0, correction=1) |
np.var(a) | tb.var(x) |
np.median(a, axis=1) | tb.median(x, axis=1) |
np.quantile(a, 0.25, axis=1) | tb.quantile(x, 0.25, axis=1) |
np.percentile(a, 75) | tb.percentile(x, 75) |
np.max(a, axis=1) | tb.max(x, axis=1) |
np.argmax(a, axis=1) | tb.argmax(x, axis=1) |
np.any(a > 3, axis=0) | tb.any(x > 3, axis=0) |
np.count_nonzero(a > 1) | tb.count_nonzero(x > 1) |
np.cumsum(a, axis=1) | tb.cumulative_sum(x, axis=1) |
np.cumprod(a, axis=0) | tb.cumulative_prod(x, axis=0) |
np.maximum.accumulate(a, axis=1) | tb.cumulative_max(x, axis=1) |
np.diff(a, axis=1) | tb.diff(x, axis=1) |
np.add.reduce(a, axis=0) | tb.sum(x, axis=0) | `tb.reduce` reduces with any function
np.sort(a, axis=1) | tb.sort(x, axis=1) |
np.argsort(a, axis=1) | tb.argsort(x, axis=1) | always stable
np.searchsorted([1.0, 3.0], [2.0, 3.0]) | tb.searchsorted(tb.asarray([1.0, 3.0]), tb.asarray([2.0, 3.0])) |
np.unique(i) | tb.unique_values(j) | also `unique_counts`, `unique_inverse`, `unique_all`
np.isin(i, [1]) | tb.isin(j, tb.asarray([1])) |
np.bincount(i[0]) | tb.bincount(j[0]) | `size=` fixes the length
np.histogram(a, bins=3)[0] | tb.histogram(x, bins=3)[0] |
np.add.at(a.copy(), 0, 1.0) | x[0] += 1.0 | for repeated indices `tb.indexed_add`
a @ b.T | x @ y.T |
np.dot(a, b.T) | tb.matmul(x, y.T) | `tb.dot(x, y, contract="name")` sums over an axis by name
np.inner(a[0], b[0]) | tb.vecdot(x[0], y[0]) |
np.outer(a[0], b[0]) | tb.outer(x[0], y[0]) |
np.tensordot(a, b, axes=([1], [1])) | tb.tensordot(x, y, axes=([1], [1])) |
np.einsum("ij,kj->ik", a, b) | tb.einsum("ij,kj->ik", x, y) | or with words: `"row time, column time -> row column"`
np.linalg.norm(a) | tb.linalg.norm(x) |
np.linalg.inv(s) | tb.linalg.inv(m) |
np.linalg.solve(s, [1.0, 2.0]) | tb.linalg.solve(m, tb.asarray([1.0, 2.0])) |
np.linalg.det(s) | tb.linalg.det(m) |
np.linalg.eigvalsh(s) | tb.linalg.eigvalsh(m) |
np.linalg.svd(a)[1] | tb.linalg.svd(x).S |
np.linalg.cholesky(s) | tb.linalg.cholesky(m) |
np.linalg.lstsq(s, [1.0, 2.0], rcond=None)[0] | tb.linalg.lstsq(m, tb.asarray([1.0, 2.0]))[0] |
np.fft.rfft(a) | tb.fft.rfft(x) |
np.exp(a) | tb.exp(x) | likewise `log`, `sqrt`, `sin`, `tanh`, ...
np.arctan2(a, b) | tb.atan2(x, y) | also `asin`, `acos`, `atan`, ... without the letters "rc"
np.abs(-a) | tb.abs(-x) |
np.power(a, 2) | tb.pow(x, 2) | or `x ** 2`
np.mod(a, 2) | tb.remainder(x, 2) | or `x % 2`
np.floor_divide(a, b) | tb.floor_divide(x, y) | or `x // y`
np.clip(a, 1, 2) | tb.clip(x, 1, 2) |
np.round(a) | tb.round(x) | `x.round(2)` rounds to two decimals
np.maximum(a, b) | tb.maximum(x, y) |
np.isnan(a) | tb.isnan(x) |
np.nan_to_num(a) | tb.where(tb.isnan(x), 0, x) |
np.nanmean([1.0, np.nan]) | tb.nanmean(tb.asarray([1.0, tb.nan])) | likewise `nansum`, `nanstd`, `nanmedian`, ...
np.interp([0.5, 1.5], [0.0, 1.0, 2.0], a[0]) | tb.interp(tb.asarray([0.5, 1.5]), tb.asarray([0.0, 1.0, 2.0]), x[0]) |
np.polyfit([0.0, 1.0, 2.0], a[0], 1) | tb.polyfit(tb.asarray([0.0, 1.0, 2.0]), x[0], 1) | `tb.polyval` evaluates it
np.trapezoid(a, dx=0.5, axis=1) | tb.trapezoid(x, dx=0.5, axis=1) |
np.convolve(a[0], b[0], mode="same") | tb.convolve(x[0], y[0], mode="same") | likewise `correlate`
np.kron(s, s) | tb.kron(m, m) | of sparse matrices: `tb.sparse.from_function`
np.digitize(a, [1.0, 3.0]) | tb.digitize(x, tb.asarray([1.0, 3.0])) |
np.allclose(a, a) | tb.all_close(x, x) |
np.logical_or(a > 1, b > 1) | tb.logical_or(x > 1, y > 1) |
np.cov(a, rowvar=False) | tb.covariance(x, correction=1) | each column is a variable; the result has no names
np.corrcoef(b, rowvar=False) | tb.correlation(y) | each column is a variable
np.vectorize(lambda v: v * 2 + 1)(a) | tb.vmap(lambda v: v * 2 + 1)(x) | one call on a whole axis, no Python loop
rng.normal(size=(2, 3)) | tb.random.normal(key, (2, 3)) |
rng.uniform(size=(2, 3)) | tb.random.uniform(key, (2, 3)) |
rng.integers(0, 10, size=3) | tb.random.randint(key, (3,), 0, 10) |
np.gradient(a, 0.5, axis=0) | tb.sample_gradient(x, dx=0.5, axis=0) | one axis; `tb.grad` differentiates functions
np.partition(a, 1, axis=0) | tb.partition(x, 1, axis=0) | likewise `argpartition`; both sort
np.lexsort | | `tb.lexsort([minor, major], axis="n")`
np.fft.fft2, ifft2 | | `tb.fft.fft2(x)`, `tb.fft.ifft2(x)`
scipy.fft.dct, idct | | `tb.fft.dct(x)`, `tb.fft.idct(x)`
scipy.linalg.sqrtm | | `tb.linalg.sqrtm(x)`
scipy.linalg.solve_triangular | | `tb.linalg.triangular_solve(a, b, lower=...)`, whose default is `lower=True`
scipy.linalg.cho_solve | |
scipy.sparse.diags | |
scipy.sparse.linalg.spsolve, cg | | `tb.solvers.solve(A, b, "direct").x`, `tb.solvers.solve(A, b, "cg", rtol=1e-8).x`
scipy.sparse.linalg.eigsh | | `tb.solvers.eigsh(A, k, which="smallest")`
scipy.integrate.solve_ivp | | `tb.solvers.solve_ivp(f, (t0, t1), y0, times=t)`, whose `y` begins with the times
scipy.optimize.minimize | | `tb.optimize.minimize(f, x0)`; `x`, `value` and `converged` are `x`, `fun` and `success`
np.hanning(8) | tb.nn.hann(8, periodic=False, dtype="f64") | likewise `hamming`, `blackman`, `kaiser`
rng.gamma(2.0, size=3) | tb.random.gamma(key, 2.0, (3,)) | no scale: multiply the sample by it
rng.poisson(3.0, size=3) | tb.random.poisson(key, 3.0, (3,)) | likewise `binomial`, `beta`, `dirichlet`, `laplace`
rng.standard_t(5.0, size=3) | tb.random.student_t(key, 5.0, (3,)) |
rng.permutation(5) | tb.random.permutation(key, 5) |
rng.choice(5, size=2, replace=False) | tb.random.choice(key, 5, (2,), replace=False) |
np.save("a.npy", a) | | `tb.save("a.npy", x)`; also `.npz` and `.safetensors`; `tb.load` reads them
np.memmap | | `tb.asarray` of one shares the mapped memory on NumPy; `tb.load` reads a file as a whole
np.ndarray.strides | | a tensor has no strides; those of `x.data`, the backend's array, are up to the backend
np.errstate(divide="ignore") | | not needed, as there are no warnings
"""
