"""The counterparts of the functions of PhiML's backends: the rows of coming-from-phiml.md, which `rows.py` makes."""

INTRODUCTION = """\
With the package [tensorbackend-phiml](../plugins/tensorbackend-phiml/README.md), PhiML itself runs on tensorbackend.
This page is for code that calls PhiML's backends directly. The rows are first the functions of `phiml.backend.Backend`,
then those of `phiml.backend`."""

NAMES = """\
import numpy

import tensorbackend as tb

x = tb.asarray([[0.5, 0.25, 0.75], [0.1, 0.6, 0.2]])
y = tb.asarray([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
z = tb.complex(x, y)
i, j = tb.asarray([[5, 3, 1], [2, 0, 4]]), tb.asarray([[1, 2, 3], [3, 2, 1]])
c, d = x > 0.4, y > 2
v = tb.asarray([1.0, 2.0, 5.0])
m = tb.asarray([[[4.0, 1.0], [1.0, 3.0]], [[2.0, 0.5], [0.5, 1.0]]])
r = tb.asarray([[1.0, 2.0], [3.0, 4.0]])
key = tb.random.key(0)
places = tb.asarray([[0, 1], [1, 2]])
A = tb.sparse.from_dense(m[0])


def f(x):
    return tb.sum(x * x)
"""

ROWS = """
abs | tb.abs(x) |
add | tb.add(x, y) | the result has the wider float; `tb.precision(64, cast=True)` casts to the precision, as PhiML does
all | tb.all(c, axis=0, keepdims=True) |
allocate_on_device | x.to_device("cpu") |
and_ | c & d |
any | tb.any(c, axis=0) |
arccos | tb.acos(x) |
arccosh | tb.acosh(y) |
arcsin | tb.asin(x) |
arcsinh | tb.asinh(x) |
arctan | tb.atan(x) |
arctan2 | tb.atan2(x, y) |
arctanh | tb.atanh(x) |
argmax | tb.argmax(x, axis=0, keepdims=True) |
argmin | tb.argmin(x, axis=0) |
argsort | tb.argsort(x, axis=0) |
as_registered | | finds the registered object of a pickled copy; here each backend has one object for each device
as_tensor | tb.asarray([1.0, 2.0]) |
    an array keeps its dtype (in PhiML it gets that of the precision); a JAX array moves to the other tensors' backend
auto_cast | tb.result_type(x, i) | every op promotes; under `cast=True` to the precision
auto_cast1 | tb.astype(i, tb.default_dtype("float")) |
batch_gather | x[[1]] |
batched_bincount | tb.vmap(lambda i: tb.bincount(i, size=6))(i) |
batched_gather_1d | tb.take_along_axis(x, j - 1, axis=1) |
batched_gather_nd | tb.vmap(tb.gather)(m, tb.asarray([[[0]], [[1]]])) |
bi_conjugate_gradient | tb.solvers.solve(A, r[0], "bicgstab(2)") |
bincount | tb.bincount(i[0], weights=v, size=6) |
block_until_ready | x.block_until_ready() |
boolean_mask | tb.compress([True, False, True], x, axis=1, size=4, fill_value=0) |
    without `size` the mask decides the size
call | f(x) | `with tb.profile() as p, p.span("name"):` adds it to a profile
cast | tb.astype(x, "float64") |
ceil | tb.ceil(x) |
clip | tb.clip(x, 0.2, 0.5) |
combine_types | tb.result_type("float32", "int64") | the widest float; in PhiML the float of the precision
complex_type | tb.default_dtype("complex") |
concat | tb.concat([x, y], axis=0) |
conj | tb.conj(z) |
conjugate_gradient | tb.solvers.solve(A, r[0], "cg", rtol=1e-6) |
    with iterations and flags for each example, null spaces and preconditioners
conjugate_gradient_adaptive | tb.solvers.solve(A, r[0], "cg-adaptive") |
conv | tb.conv(m[None], tb.ones((1, 2, 2, 2)), padding="same") |
    `feature_groups` uses a separate kernel for each example, `input_dilation` a transposed convolution
coo_to_dense | tb.sparse.coo([1.0, 2.0], [0, 1], [1, 0], shape=(2, 2)).to_dense() |
copy | tb.asarray(x, copy=True) | seldom needed: assigning to one tensor never changes another
copy_leaves | tb.tree_map(lambda x: tb.asarray(x, copy=True), {"a": x}) |
cos | tb.cos(x) |
cosh | tb.cosh(x) |
csc_matrix | tb.sparse.csc([1.0, 2.0], [1, 0], [0, 1, 2], shape=(2, 2)) |
csc_matrix_batched | tb.sparse.csc(r, [1, 0], [0, 1, 2], shape=(2, 2)) | leading axes of the values are a batch
csr_matrix | tb.sparse.csr([1.0, 2.0], [1, 0], [0, 1, 2], shape=(2, 2)) |
csr_matrix_batched | tb.sparse.csr(r, [1, 0], [0, 1, 2], shape=(2, 2)) |
csr_to_coo | A.to_coo() |
csr_to_dense | A.to_dense() |
cumsum | tb.cumulative_sum(x, axis=0) |
custom_gradient | tb.custom_gradient(lambda x: (x, lambda cotangent: 2 * cotangent))(x) |
determine_size | tb.broadcast_shapes((1, 3), (2, 3)) |
disassemble | A.values, A.indices, A.pointers | a matrix is a container of these tensors
div | tb.divide(x, y) |
divide_no_nan | tb.divide_no_nan(x, y) |
dtype | x.dtype |
einsum | tb.einsum("ab,cb->ac", x, y) |
eig | tb.linalg.eig(m) | in a fixed order and phase
eigvals | tb.linalg.eigvals(m) |
equal | tb.equal(x, y) |
erf | tb.erf(x) |
exp | tb.exp(x) |
expand_dims | tb.expand_dims(x, (1, 2)) |
factorial | tb.factorial(i) | wraps beyond 20!, where PhiML has a table up to 12 or 19
fft | tb.fft.fftn(x, axes=(0, 1)) |
flatten | tb.reshape(x, -1) |
flip | tb.flip(x, axis=1) |
float_type | tb.default_dtype("float") |
floor | tb.floor(x) |
floordiv | tb.floor_divide(x, y) |
from_dlpack | tb.from_dlpack(numpy.ones(3)) |
from_external_array_dlpack | tb.asarray(numpy.ones(3)) |
gamma_inc_l | tb.gamma_inc_l(x, y) |
gamma_inc_u | tb.gamma_inc_u(x, y) |
gather | tb.take(x, tb.asarray([2, 0]), axis=1) | `mode="clip"` takes the nearest entry inside
gather_1d | tb.take(x, tb.asarray([1]), axis=0) |
gather_by_component_indices | x[places[:, 0], places[:, 1]] |
gather_nd | tb.gather(x, places) |
get_default_device | tb.get_backend().device |
get_device | x.device |
get_device_by_ref | tb.devices()[0] | a device is a name
get_peak_memory | | not measured; `tb.dry_run(f, x).peak` predicts it
get_diagonal | tb.linalg.diagonal(m, offset=1) | of matrices along the last two axes
get_sparse_format | A.format |
greater_or_equal | tb.greater_equal(x, y) |
greater_than | tb.greater(x, y) |
grid_sample | tb.grid_sample(x, tb.asarray([[0.5, 1.5]]), boundary="periodic") | each side may have its own boundary
hessian | tb.vmap(tb.hessian(f))(x) | compute the result and the gradient by separate calls
histogram1d | tb.histogram(x[0], bins=v, weights=x[0]) | batches by `tb.vmap`
ifft | tb.fft.ifftn(z, axes=(0, 1)) |
imag | tb.imag(z) |
indexed_segment_sum | tb.segment_sum(x, tb.asarray([0, 0, 1]), size=2, axis=1) |
    takes segment numbers: `tb.searchsorted(starts, places, side="right") - 1`
invert | ~c |
is_available | tb.is_concrete(x) |
is_module | | recognises networks of TensorFlow or PyTorch, which do not exist here
is_sparse | isinstance(A, tb.sparse.SparseMatrix) |
is_tensor | isinstance(x, tb.Tensor) |
isfinite | tb.isfinite(x) |
isinf | tb.isinf(x) |
isnan | tb.isnan(x) |
jacobian | tb.value_and_grad(f)(x), tb.jacobian(tb.sin)(v) | `has_aux=True` for further results
jit_compile | tb.jit(f)(x) |
jit_compile_grad | tb.jit(tb.value_and_grad(f))(x) |
jit_compile_hessian | tb.jit(tb.vmap(tb.hessian(f)))(x) |
linear | A @ r[0] | call a function yourself; a batch of matrices is one matrix with leading axes
linear_solve | tb.solvers.solve(A, r[0], "direct") |
linspace | tb.linspace(0, 1, 5) |
linspace_without_last | tb.linspace(0, 1, 5, endpoint=False) |
list_devices | tb.devices("numpy") |
log | tb.log(x) |
log10 | tb.log10(x) |
log2 | tb.log2(x) |
log_gamma | tb.lgamma(x) |
matrix_solve_least_squares | tb.linalg.lstsq(m, r[..., None]) |
matrix_rank_dense | tb.linalg.matrix_rank(m) |
max | tb.max(x, axis=0, keepdims=True) |
maximum | tb.maximum(x, y) |
mean | tb.mean(x, axis=0) |
meshgrid | tb.meshgrid(v, v, indexing="ij") |
min | tb.min(x, axis=0) |
minimize | tb.optimize.minimize(f, x) |
    if f returns one number for each example, each example has its own minimum
minimum | tb.minimum(x, y) |
mod | tb.remainder(x, y) |
module | | not needed: parameters are tensors
mul | tb.multiply(x, y) |
mul_coo_dense | A.to_coo() @ r |
mul_csr_dense | A @ r |
mul_matrix_batched_vector | tb.sparse.matvec(A, r) | `r @ m[0].T` for a dense matrix
multi_slice | x[0, ::2] |
name | x.backend.name |
ndims | x.ndim |
nn_library | | networks are functions of containers of tensors here: examples/transformer.py;
    `phiml.nn` itself works with tensorbackend-phiml
nonzero | tb.argwhere(c, size=5, fill_value=-1) |
not_equal | tb.not_equal(x, y) |
numpy | numpy.asarray(x) | a read-only view
numpy_call | tb.host_call(numpy.cumsum, "f32[6]", x) |
ones | tb.ones((2, 3), dtype="float64") |
ones_like | tb.ones_like(x) |
or_ | c | d |
pad | tb.pad(x, [(1, 0), (0, 2)], mode="edge") | PhiML's "boundary" is "edge", its "periodic" is "wrap"
pad_stack | tb.stack([tb.pad(v, [(0, 1)]), tb.pad(v[:2], [(0, 2)])]) |
pad_to | tb.pad(x, [(0, 0), (0, 2)], value=1.0) |
pow | tb.pow(x, y) |
precision | tb.get_precision() |
prefers_channels_last | | not needed: a hint on memory layout, while axes have names here
prod | tb.prod(x, axis=0) |
quantile | tb.quantile(x, [0.25, 0.5], axis=-1) |
random_normal | tb.random.normal(key, (2, 3), "float64") | each draw takes a key
random_permutations | tb.random.permutation(key, tb.arange(5)) |
random_subsets | tb.random.choice(key, tb.arange(5), (2,), replace=False) |
random_uniform | tb.random.uniform(key, (2, 3), "float32", 0.0, 2.0), tb.random.randint(key, (3,), 0, 5) |
range | tb.arange(0, 6, 2, dtype="int32") | int64 by default
ravel_multi_index | tb.ravel_multi_index(tb.unstack(places, axis=1), (2, 3), mode="wrap") |
    PhiML's "periodic" is "wrap", its "clamp" is "clip", an int is `mode="fill", fill_value=`
real | tb.real(z) |
repeat | tb.repeat(v, tb.asarray([2, 0, 1]), axis=0, size=4) |
requires_fixed_shapes_when_tracing | | every trace has fixed shapes; pass those that depend on data as `size=`
reset_peak_memory | | see `get_peak_memory`
reshape | tb.reshape(x, (3, 2)) |
round | tb.round(x) |
scatter | tb.vmap(tb.indexed_add)(m, places[:, None, :1] * 0, m[:, :1]), tb.indexed_max(x, places, v[:2]) |
    PhiML's "update" is `tb.indexed_put`
scatter_1d_scalar | tb.indexed_add(v, tb.asarray([[0], [2]]), tb.asarray([1.0, 2.0])) |
scatter_nd | tb.indexed_add(m, places[:, :1], m) |
scatter_nd_scalar | tb.indexed_put(x, places, tb.asarray([1.0, 2.0])) |
searchsorted | tb.searchsorted(v, x[0], side="right") | int64; batches by `tb.vmap`
seed | tb.random.key(3) | each draw takes a key; there is no global state
set_default_device | tb.get_backend("numpy", device="cpu") | pass this to `tb.set_default_backend`
shape | x.shape |
shift_bits_left | tb.bitwise_left_shift(i, j) |
shift_bits_right | tb.bitwise_right_shift(i, j) |
sigmoid | tb.sigmoid(x) |
sign | tb.sign(x) |
sin | tb.sin(x) |
sinh | tb.sinh(x) |
size | x.size |
sizeof | x.nbytes |
softplus | tb.nn.softplus(x) |
solve_triangular | tb.sparse.triangular_solve(A, r[0]), tb.linalg.triangular_solve(m[0], r) |
solve_triangular_dense | tb.linalg.triangular_solve(m, r[..., None], unit_diagonal=True) |
solve_triangular_sparse | tb.sparse.triangular_solve(A, r[0], lower=False) |
sort | tb.sort(x, axis=0) |
sparse_coo_tensor | tb.sparse.coo([1.0, 2.0], [0, 1], [1, 0], shape=(2, 2)) |
sparse_coo_tensor_batched | tb.sparse.coo(r, [0, 1], [1, 0], shape=(2, 2)) |
sqrt | tb.sqrt(x) |
stack | tb.stack([x, y], axis=1) |
stack_leaves | tb.tree_map(lambda *leaves: tb.stack(leaves), {"a": x}, {"a": y}) |
staticshape | x.shape | shapes are always known
std | tb.std(x, axis=0) |
stop_gradient | tb.stop_gradient(x) |
stop_gradient_tree | tb.tree_map(tb.stop_gradient, {"a": x}) |
sub | tb.subtract(x, y) |
sum | tb.sum(x, axis=0, keepdims=True) |
supports | tb.get_backend().supports("sort", "float32") | the table is in [support](support.md)
svd | tb.linalg.svd(m, full_matrices=False) |
tan | tb.tan(x) |
tanh | tb.tanh(x) |
tensordot | tb.tensordot(x, y, axes=((1,), (1,))) |
tile | tb.tile(x, (2, 1)) |
tile_to | tb.tile(x, (1, 2)) |
to_complex | tb.astype(x, tb.default_dtype("complex")) |
to_dlpack | x.__dlpack__() |
to_float | tb.astype(i, tb.default_dtype("float")) |
to_int32 | tb.astype(x, "int32") |
to_int64 | tb.astype(x, "int64") |
transpose | tb.permute_dims(x, (1, 0)) |
unique | tb.unique_all(i) | of all elements; for slices sort and compare them, as tensorbackend-phiml does
unravel_index | tb.unravel_index(tb.asarray([0, 5]), (2, 3)) |
unstack | tb.unstack(x, axis=1), tb.split(x, 3, axis=1) |
variable | tb.grad(f)(x) | an argument of `tb.grad`, or `tape.watch(x)`
vectorized_call | tb.vmap(f)(x) | the function is traced
where | tb.where(c, x, y), tb.nonzero(c) |
while_loop | tb.while_loop(lambda n: n < 100, lambda n: n * 3, tb.asarray(1), trajectory=(0, 2, 9)) |
    `axis=` lets each example stop
xor | c ^ d |
zeros | tb.zeros((2, 3), dtype="int32") |
zeros_like | tb.zeros_like(x) |
ComputeDevice | tb.devices("numpy")[0] | a name, with the device's kind, memory and processors
NoBackendFound | tb.backend_of(x, numpy.ones(3)) | raises `BackendError` for values of several backends
Profile.add_external_message | with tb.profile() as profile: profile.add("a message") |
Profile.duration | tb.profile_function(f, x).duration |
Profile.print | str(tb.profile_function(f, x)) |
Profile.retime | tb.profile_function(f, x, warmup=2, repeat=3) |
    not needed: recording spans is cheap, so there is no second run without them
Profile.save | tb.profile_function(f, x).save |
choose_backend | tb.backend_of(x, 1.0) |
context_backend | tb.scoped_backend() |
convert | x.backend_copy("binary") | `backend_transfer` deallocates the source
default_backend | tb.get_backend() |
get_current_profile | tb.current_profile() |
get_precision | tb.get_precision() |
precision (block) | with tb.precision(64, cast=True): tb.sin(x) |
profile | with tb.profile() as profile: tb.sin(x) |
profile_function | tb.profile_function(f, x, warmup=2) |
set_global_default_backend | tb.set_default_backend("numpy") |
set_global_precision | tb.set_precision(32) | `cast=True` casts operands as PhiML does
"""
