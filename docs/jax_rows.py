"""What JAX's functions are called here: the rows of coming-from-jax.md, which `rows.py` makes."""

INTRODUCTION = """\
tensorbackend computes eagerly on JAX, NumPy, PyTorch and others; with the backend `"jax"` tensors are pytrees, so
`jax.jit`, `jax.grad` and `jax.vmap` take functions of them ([devices](devices.md#jax)). The transforms of `tb` are
JAX's by name and do the same on every backend. What differs:

- Axes may have [names](named-axes.md), which `in_axes`, `axis` and every op take.
- Errors of shapes, dtypes and names are raised before anything is compiled, with your line and both operands.
- An index out of bounds is an error where data can be looked at, not clamped in silence.
- `x[0] = 1` is allowed, in traced functions too: it gives the variable a new value.
- An option of `tb.jit` that is no tensor is static without being said to be.
- 64-bit dtypes are on; new floats are float32 unless `tb.set_precision(64)` says otherwise.
- Keys and the numbers drawn from them are JAX's bit for bit (Threefry, partitionable), but for normal numbers, whose
  inverse error function is our own."""

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
jnp.cumsum(a, axis=1) | tb.cumulative_sum(x, axis=1) | names of `jnp` as in [coming from NumPy](coming-from-numpy.md)
jax.grad(lambda a: jnp.sum(a**2))(a) | tb.grad(lambda x: tb.sum(x**2))(x) |
jax.value_and_grad(lambda a: jnp.sum(a**2))(a) | tb.value_and_grad(lambda x: tb.sum(x**2))(x) |
jax.jit(lambda a: a * 2)(a) | tb.jit(lambda x: x * 2)(x) |
jax.vmap(lambda r: jnp.sum(r))(a) | tb.vmap(lambda r: tb.sum(r))(x) | `in_axes="batch"` takes an axis by name
jax.vmap(jnp.dot, in_axes=(0, None))(a, b[0]) | tb.vmap(tb.vecdot, in_axes=(0, None))(x, y[0]) |
jax.jvp(jnp.sin, (a,), (b,)) | tb.jvp(tb.sin, (x,), (y,)) |
jax.vjp(jnp.sin, a)[1](b)[0] | tb.vjp(tb.sin, x)[1](y)[0] |
jax.linearize(jnp.sin, a)[1](b) | tb.linearize(tb.sin, x)[1](y) |
jax.jacobian(jnp.sin)(a[0]) | tb.jacobian(tb.sin)(x[0]) | likewise `jacfwd`; `jacrev` is `jacobian`
jax.hessian(lambda a: jnp.sum(a**3))(a[0]) | tb.hessian(lambda x: tb.sum(x**3))(x[0]) |
jax.checkpoint(jnp.sin)(a) | tb.checkpoint(tb.sin)(x) |
jax.lax.stop_gradient(a) | tb.stop_gradient(x) |
jax.custom_vjp | | `tb.custom_gradient`: the function returns (result, function of the cotangent)
jax.custom_jvp | | `tb.custom_jvp`, with `defjvp`
jax.make_jaxpr | | `tb.trace(f)("f32[batch=2]")`, a graph that prints, runs and draws itself
jax.eval_shape | | `f(tb.template(shape, dtype))`: each function runs on templates; `tb.dry_run` says what it costs
jax.lax.cond(a[0, 0] > 1, jnp.sin, jnp.cos, a) | tb.cond(x[0, 0] > 1, tb.sin, tb.cos, x) |
jax.lax.switch(1, [jnp.sin, jnp.cos], a) | tb.switch(1, [tb.sin, tb.cos], x) |
jax.lax.while_loop(lambda c: c < 100, lambda c: c * 2, 3) | tb.while_loop(lambda c: c < 100, lambda c: c * 2, 3) |
    `limit=` gives it a gradient
jax.lax.fori_loop(0, 3, lambda i, c: c + i, 0) | tb.fori_loop(0, 3, lambda i, c: c + i, 0) |
jax.lax.scan(lambda c, r: (c + r, c), a[0], a) | tb.scan(lambda c, r: (c + r, c), x[0], x) | `axis="time"` by name
jax.lax.associative_scan(jnp.add, a) | tb.associative_scan(tb.add, x) |
jax.lax.map(jnp.sum, a) | tb.map_along_axis(tb.sum, x, axis=0) |
jax.tree.map(lambda p: p * 2, {"w": a})["w"] | tb.tree_map(lambda p: p * 2, {"w": x})["w"] |
jax.tree_util.register_pytree_node | | `tb.register_tree_node`, which JAX learns too; dataclasses need none
jax.debug.print | | `tb.debug_print`, also in loops and gradients
jax.pure_callback | | `tb.host_call`
jax.device_put | | `x.to_device("cpu:1")` within a backend, `x.backend_transfer("jax")` to another
jax.devices | | `tb.devices("jax")`
jax.Array.block_until_ready | | `x.block_until_ready()`
jax.numpy.asarray | | `tb.asarray(array)`, which shares a JAX array; `x.data` is the array below
a.at[0, 1].set(5.0) | tb.put_slice(x, tb.full((1, 1), 5.0), starts=(0, 1)) | or `x[0, 1] = 5.0`
a.at[where].add(b) | tb.indexed_add(x, at[:, None], y) |
a.astype(jnp.bfloat16).astype(jnp.float32) | x.astype("bf16").astype("f32") |
jnp.einsum("ij,kj->ik", a, b) | tb.einsum("ij,kj->ik", x, y) |
jax.lax.top_k(a, 2) | tb.top_k(x, 2) |
jax.lax.dynamic_slice(a, (0, 1), (2, 2)) | tb.slice_(x, starts=(0, 1), lengths=(2, 2), strides=(1, 1)) |
jax.ops.segment_sum(a, where, 3) | tb.segment_sum(x, at, size=3) |
jax.nn.softmax(a, axis=-1) | tb.nn.softmax(x, axis=-1) |
jax.nn.relu(a) | tb.nn.relu(x) |
jax.nn.gelu(a, approximate=False) | tb.nn.gelu(x) | exact unless `approximate=True`
jax.nn.one_hot(where, 3) | tb.nn.one_hot(at, 3) |
jax.nn.logsumexp(a, axis=1) | tb.logsumexp(x, axis=1) |
jax.scipy.special.gammaln(a) | tb.lgamma(x) |
jax.random.uniform(jax.random.key(0), (3,), "float32") | tb.random.uniform(tb.random.key(0), (3,)) | the same bits
jax.random.normal(jax.random.key(0), (3,), "float32") | tb.random.normal(tb.random.key(0), (3,)) | within rounding
jax.random.bits(jax.random.split(jax.random.key(0))[1], (2,), "uint32") |
    tb.random.bits(tb.random.split(tb.random.key(0))[1], (2,)) |
jax.random.fold_in | | `tb.random.fold_in(key, 7)`
jax.random.permutation | | `tb.random.permutation(key, 5)`
optax.adam | | `tb.optimize.adam(1e-3)`; optax itself takes trees of tensors
jax.profiler.trace | | `with tb.profile() as p:`, with the time of each op and line
jax.sharding | | not there yet
"""
