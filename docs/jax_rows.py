"""The counterparts of JAX's functions here: the rows of coming-from-jax.md, which `rows.py` makes."""

INTRODUCTION = """\
tensorbackend computes eagerly on JAX, NumPy, PyTorch and other backends. On the backend `"jax"` tensors are pytrees, so
`jax.jit`, `jax.grad` and `jax.vmap` take functions of them ([devices](devices.md#jax)). The transforms of `tb` have the
names of JAX's transforms and do the same on every backend. The differences are:

- Axes may have [names](named-axes.md), which `in_axes`, `axis` and every op take.
- Mistakes in shapes, dtypes and names raise errors before anything is compiled. The errors show your line and both
  operands.
- An index out of bounds is an error where data can be read; it is not clamped silently.
- `x[0] = 1` is allowed, in traced functions too. It changes the tensor `x`, but nothing that was made from `x` before.
- An argument that is not a tensor is static under `tb.jit`; you need not declare it in `static_argnums`.
- 64-bit dtypes are enabled; new floats are float32 unless you call `tb.set_precision(64)`.
- Keys and random numbers equal JAX's bit for bit (Threefry, partitionable). Only numbers from a normal distribution
  differ in the last digits, because our inverse error function differs from JAX's."""

NAMES = """\
import jax
import jax.numpy as jnp
import numpy as np

import tensorbackend as tb

a = jnp.asarray([[3.0, 1.0, 2.0], [0.5, 4.0, 0.25]])
b = jnp.asarray([[1.0, 2.0, 0.5], [2.0, 1.0, 4.0]])
x, y = tb.asarray(np.asarray(a)), tb.asarray(np.asarray(b))
where, at = jnp.asarray([1, 0]), tb.asarray([1, 0])
"""

COMPARED = "jax.jit(lambda: {})()"

ROWS = """
jnp.cumsum(a, axis=1) | tb.cumulative_sum(x, axis=1) |
    for other functions of `jnp` see [coming from NumPy](coming-from-numpy.md)
jax.grad(lambda a: jnp.sum(a**2))(a) | tb.grad(lambda x: tb.sum(x**2))(x) |
jax.value_and_grad(lambda a: jnp.sum(a**2))(a) | tb.value_and_grad(lambda x: tb.sum(x**2))(x) |
jax.jit(lambda a: a * 2)(a) | tb.jit(lambda x: x * 2)(x) |
jax.vmap(lambda r: jnp.sum(r))(a) | tb.vmap(lambda r: tb.sum(r))(x) | `in_axes="batch"` takes an axis by name
jax.vmap(jnp.dot, in_axes=(0, None))(a, b[0]) | tb.vmap(tb.vecdot, in_axes=(0, None))(x, y[0]) |
jax.jvp(jnp.sin, (a,), (b,)) | tb.jvp(tb.sin, (x,), (y,)) |
jax.vjp(jnp.sin, a)[1](b)[0] | tb.vjp(tb.sin, x)[1](y)[0] |
jax.linearize(jnp.sin, a)[1](b) | tb.linearize(tb.sin, x)[1](y) |
jax.jacobian(jnp.sin)(a[0]) | tb.jacobian(tb.sin)(x[0]) | also for `jax.jacrev`; `jax.jacfwd` is `tb.jacfwd`
jax.hessian(lambda a: jnp.sum(a**3))(a[0]) | tb.hessian(lambda x: tb.sum(x**3))(x[0]) |
jax.checkpoint(jnp.sin)(a) | tb.checkpoint(tb.sin)(x) |
jax.lax.stop_gradient(a) | tb.stop_gradient(x) |
jax.custom_vjp | | `tb.custom_gradient`: your function returns its result and a function of the cotangent
jax.custom_jvp | | `tb.custom_jvp`, with `defjvp`
jax.make_jaxpr | | `tb.trace(f)("f32[batch=2]")` returns a graph that you can print, run and draw
jax.eval_shape | | `f(tb.template(shape, dtype))`: every function runs on templates; `tb.dry_run` predicts the cost
jax.lax.cond(a[0, 0] > 1, jnp.sin, jnp.cos, a) | tb.cond(x[0, 0] > 1, tb.sin, tb.cos, x) |
jax.lax.switch(1, [jnp.sin, jnp.cos], a) | tb.switch(1, [tb.sin, tb.cos], x) |
jax.lax.while_loop(lambda c: c < 100, lambda c: c * 2, 3) | tb.while_loop(lambda c: c < 100, lambda c: c * 2, 3) |
    `tb.jvp` works; with `limit=` `tb.grad` does too
jax.lax.fori_loop(0, 3, lambda i, c: c + i, 0) | tb.fori_loop(0, 3, lambda i, c: c + i, 0) |
jax.lax.scan(lambda c, r: (c + r, c), a[0], a) | tb.scan(lambda c, r: (c + r, c), x[0], x) | `axis="time"` by name
jax.lax.associative_scan(jnp.add, a) | tb.associative_scan(tb.add, x) |
jax.lax.map(jnp.sum, a) | tb.map_along_axis(tb.sum, x, axis=0) |
jax.tree.map(lambda p: p * 2, {"w": a})["w"] | tb.tree_map(lambda p: p * 2, {"w": x})["w"] |
jax.tree.leaves | | `tb.tree_leaves(parameters)`
jax.tree.flatten, jax.tree.unflatten | | `tb.tree_flatten(parameters)`, `tb.tree_unflatten(tree, leaves)`
jax.tree.map_with_path | | `tb.tree_map_with_path(f, parameters)`, whose paths are tuples of plain keys
jax.tree_util.register_pytree_node | | `tb.register_tree_node`, which registers with JAX too; not needed for dataclasses
jax.debug.print | | `tb.debug_print`, also in loops and gradients
jax.pure_callback | |
jax.device_put | | `x.to_device("cpu:1")` within a backend, `x.backend_transfer("jax")` to another backend
jax.devices | | `tb.devices("jax")`
jax.Array.block_until_ready | |
jax.numpy.asarray | | `tb.asarray(array)`, which shares a JAX array; `x.data` is the JAX array of a tensor
a.at[0, 1].set(5.0) | tb.put_slice(x, tb.full((1, 1), 5.0), starts=(0, 1)) | or `x[0, 1] = 5.0`
a.at[where].add(b) | tb.indexed_add(x, at[:, None], y) |
a.astype(jnp.bfloat16).astype(jnp.float32) | x.astype("bf16").astype("f32") |
jnp.einsum("ij,kj->ik", a, b) | tb.einsum("ij,kj->ik", x, y) |
jax.lax.top_k(a, 2) | tb.top_k(x, 2) |
jax.lax.dynamic_slice(a, (0, 1), (2, 2)) | tb.slice_(x, starts=(0, 1), lengths=(2, 2), strides=(1, 1)) | a computed
    start: `tb.slice_along_axis(x, start, 2, axis=0)`
jax.ops.segment_sum(a, where, 3) | tb.segment_sum(x, at, size=3) |
jax.nn.softmax(a, axis=-1) | tb.nn.softmax(x, axis=-1) |
jax.nn.relu(a) | tb.nn.relu(x) |
jax.nn.gelu(a, approximate=False) | tb.nn.gelu(x) | exact unless `approximate=True`
jax.nn.one_hot(where, 3) | tb.nn.one_hot(at, 3) |
jax.nn.logsumexp(a, axis=1) | tb.logsumexp(x, axis=1) |
jax.scipy.special.gammaln(a) | tb.lgamma(x) |
jax.scipy.special.i0e(a) | tb.i0e(x) | likewise `i0`, `i1`, `i1e`, `ndtri`, `polygamma`, `zeta`; also `j0` and `j1`
jax.scipy.special.betainc | | `tb.betainc(a, b, x)`, which has gradients by a and b too
jax.random.uniform(jax.random.key(0), (3,), "float32") | tb.random.uniform(tb.random.key(0), (3,)) | the same bits
jax.random.normal(jax.random.key(0), (3,), "float32") | tb.random.normal(tb.random.key(0), (3,)) | within rounding
jax.random.bits(jax.random.split(jax.random.key(0))[1], (2,), "uint32") |
    tb.random.bits(tb.random.split(tb.random.key(0))[1], (2,)) |
jax.random.gamma(jax.random.key(0), 2.0, (3,), "float32") |
    tb.random.gamma(tb.random.key(0), 2.0, (3,)) | likewise `beta`, `dirichlet`, `laplace`
jax.random.poisson, binomial | | `tb.random.poisson(key, 3.0)`, `tb.random.binomial(key, 10, 0.5)`
jax.random.t | | `tb.random.student_t(key, 5.0)`
jax.random.fold_in | | `tb.random.fold_in(key, 7)`
jax.random.permutation | | `tb.random.permutation(key, 5)`
optax.adam | | `tb.optimize.adam(1e-3)`; optax itself takes trees of tensors
optax.lion, rmsprop, adafactor | | `tb.optimize.lion(1e-4)`, `rmsprop(1e-3)`, `adafactor()`
optax.MultiSteps, ema | | `tb.optimize.accumulate(transformation, 4)`, `tb.optimize.moving_average(0.999)`
optax.huber_loss | |
optax.sigmoid_binary_cross_entropy | | `tb.nn.binary_cross_entropy(logits, targets)`
jax.experimental.ode.odeint | | `tb.solvers.solve_ivp(function, span, y0, times=...)`, whose function takes (t, y)
jax.profiler.trace | | `with tb.profile() as p:`, which measures the time of each op and line
jax.sharding | | `tb.Mesh` and rules for named axes: [from one device to many](mesh.md)
jax.shard_map | | `tb.shard_map`, with collectives such as `tb.psum`
"""
