"""Wrong guesses of keywords and of arguments by position, by people who come from NumPy, PyTorch and JAX."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from inspect import signature
from typing import Any

import pytest

import tensorbackend as tb
from tensorbackend.declarations.signature_errors import adapt
from tensorbackend.errors import SignatureError, TensorBackendError
from tensorbackend.errors.tracebacks import visible

GUESSES = [
    ("tb.sum(x, dim=0)", "sum: expected keywords among axis, dtype, keepdims, got dim=0; write axis="),
    ("tb.sum(x, axis=0, keepdim=True)", "write keepdims="),
    ("tb.mean(x, axis=0, keep_dims=True)", "write keepdims="),
    ("tb.std(x, ddof=1)", "write correction="),
    ("tb.var(x, unbiased=True)", "write correction="),
    ("tb.template('f32[a=3]')", "write tb.template((3, 4), 'f32', ('a', 'b')) for f32[a: 3][b: 4]"),
    ("x.sum(dim=0)", "sum: expected keywords among axis, dtype, keepdims, got dim=0; write axis="),
    ("x.std(ddof=1)", "write correction="),
    ("x.mean(keepdim=True)", "write keepdims="),
    ("tb.softmax(x, dim=-1)", "write axis="),
    ("tb.concatenate([x, x], dim=0)", "write axis="),
    ("tb.permute_dims(x, dims=(1, 0))", "write axes="),
    ("tb.sort(x, ascending=False)", "write descending="),
    ("tb.ones((2,), name='batch')", "write names="),
    ("tb.ones((2,), requires_grad=True)", "tb.grad(function)"),
    ("tb.exp(x, out=x)", "x[...] ="),
    ("tb.add(x, x, where=x > 0)", "tb.where(mask, x, value)"),
    ("tb.optimize.adam(learning_rate=0.1)", "adam: expected keywords among rate"),
    ("tb.optimize.adam(lr=0.1)", "write rate="),
    ("tb.optimize.adam(0.1, eps=1e-6)", "write epsilon="),
    ("tb.optimize.adamw(0.1, weight_decay=0.1)", "write decay="),
    ("tb.nn.layer_norm(x, eps=1e-6)", "write epsilon="),
    ("tb.nn.one_hot(tb.asarray([1]), num_classes=3)", "write size by position"),
    ("tb.nn.leaky_relu(x, negative_slope=0.1)", "write slope="),
    ("tb.nn.max_pool(x, 2, stride=2)", "write strides="),
    ("tb.random.normal(key, size=(2,))", "write shape="),
    ("tb.random.uniform(key, (2,), low=0.0)", "write minval="),
    ("tb.random.normal(key, (2,), std=2.0)", "write deviation="),
    ("tb.vmap(abs, in_dims=0)", "write in_axes="),
    ("tb.grad(abs, wrt=0)", "argnums=0 for the first one"),
    ("tb.jit(abs, static_argnum=0)", "write static_argnums="),
    ("tb.segment_sum(x, i, num_segments=2)", "write size="),
    ("tb.sum(x, 'batch')", "sum: expected at most 1 argument by position, got 2; write axis='batch'"),
    ("tb.sum(x, 0)", "write axis=0"),
    ("tb.concatenate([x, x], 0)", "write axis=0"),
    ("tb.stack([x, x], 0)", "write axis=0"),
    ("tb.softmax(x, -1)", "write axis=-1"),
    ("tb.reshape(x, 4, 1)", "reshape: expected at most 2 arguments by position, got 3; write shape=(4, 1), one tuple"),
    ("tb.permute_dims(x, 1, 0)", "write axes=(1, 0), one tuple"),
    ("tb.exp(x, x)", "exp: expected at most 1 argument by position, got 2"),
    ("tb.ones(2, 3)", "ones: expected a dtype, got dtype=3; write sizes as one tuple, as in (2, 3)"),
    ("tb.zeros(2, 3)", "write sizes as one tuple"),
    ("tb.random.normal(key, 2, 3)", "sizes are one tuple, as in (2, 3)"),
    ("tb.dot(v, v)", "dot: expected contract=, which is missing; x @ y is the product of vectors"),
    ("tb.add(x)", "add: expected the argument x2, which is missing"),
    ("tb.zeros()", "zeros: expected the argument shape, which is missing"),
    ("tb.segment_sum(x, i)", "size= is the number of segments"),
    ("tb.sum(x=x)", "sum: expected x by position, got x=f32[batch: 2][feature: 2]; write it without x="),
    ("tb.trace(x)", "tb.linalg.trace(x) is the sum of the diagonal"),
    ("tb.grad(x)", "write tb.grad(function)(x)"),
    ("tb.gradient(v, 0.5)", "the derivative of samples is tb.sample_gradient(y, dx=spacing)"),
    ("tb.sum(x, axs=0)", "write axis="),
    ("tb.linspace(0, 1, steps=5)", "write num="),
    ("tb.full((2,), fill=1.0)", "write fill_value="),
    ("tb.dot(x, x, dims='feature')", "write contract="),
    ("tb.dot(x, x, axis='feature')", "write contract="),
    ("tb.random.uniform(key, (2,), min=0)", "write minval="),
    ("tb.scan(lambda c, y: (c, y), init=0.0, xs=v)", "write initial="),
    ("tb.solvers.solve_ivp(lambda t, y: -y, (0, 1), v, t_eval=v)", "write times="),
    ("tb.where(x > 2)", "tb.nonzero(condition) returns the positions"),
    ("tb.where(x > 2, x, other=0)", "write x2 by position"),
    ("tb.window_mean(v, window_size=2)", "write window="),
    ("tb.random.normal(shape=(3,))", "write tb.random.normal(tb.random.key(seed), shape)"),
    ("tb.sparse.csr(x)", "tb.sparse.from_dense(x)"),
    ("tb.linalg.cholesky(x, lower=True)", "the lower triangle is the default"),
    ("tb.stack([v, v], axis='new')", "write name= for the name of the new axis"),
    ("tb.expand_dims(v, 'new')", "write name= for the name of the new axis"),
    ("tb.concatenate([x, x], axis='new')", "stack(..., name='new') makes an axis"),
    ("tb.concatenate(x, x)", "write one list of the 2 tensors"),
    ("tb.stack(v, v)", "write one list of the 2 tensors"),
    ("tb.max(x, x)", "write tb.maximum(x, y) for the larger of two"),
    ("tb.max(x, 0)", "write axis=0"),
    ("tb.maximum(x, axis=0)", "tb.max(x, axis=...)"),
    ("tb.round(x, 2)", "write x.round(2)"),
    ("tb.round(x, decimals=2)", "x.round(2)"),
    ("tb.grad(abs, argnames='x')", "write the positions of the arguments, as in argnums=0 for the first one"),
    ("tb.jacobian(abs, argnums='x')", "write the positions of the arguments, as in argnums=0 for the first one"),
    ("tb.mean(x, axis=0, weights=v)", "write tb.weighted_mean(x, weights, axis=...)"),
    ("x.std(axis=0, weights=v)", "write tb.sqrt(tb.weighted_mean(tb.square(x - tb.weighted_mean("),
    ("tb.sum(x, axis=0, weights=v)", "write tb.dot(x, weights, contract=...)"),
    ("tb.convolve(x, v, axis='batch')", "write tb.unfold(x, {'time': y.size}) @ tb.flip(y), which is mode='valid'"),
    ("tb.optimize.minimize(lambda t: tb.sum(t * t), v, gtol=1e-6)", "write tolerance="),
    ("tb.optimize.root(lambda t: t - 1, v, xtol=1e-6)", "write tolerance="),
    ("tb.random.exponential(key, (3,), rate=2.0)", "divide the result by it"),
    ("tb.tile(x, 2, 1)", "write repetitions=(2, 1), one tuple"),
    ("tb.linalg.norm(v, 2)", "write ord=2"),
    ("tb.linalg.pinv(x, rcond=1e-3)", "write rtol="),
    ("tb.linalg.eigh(x, UPLO='L')", "only the lower triangle is read"),
    ("tb.linalg.svd(x, compute_uv=False)", "tb.linalg.svdvals(x)"),
    ("tb.matmul(x, x, transpose_b=True)", "write y.mT"),
    ("tb.mean(x, skipna=True)", "tb.nanmean(x)"),
    ("x.mean(skipna=True)", "tb.nanmean(x)"),
    ("tb.polyfit(v, v, deg=1)", "write degree by position"),
    ("tb.sort(x, reverse=True)", "write descending="),
    ("tb.percentile(v, 50, interpolation='linear')", "write method="),
    ("tb.asarray([1.0], axes=('t',))", "write names="),
    ("tb.asarray([1.0], axis_names=('t',))", "write names="),
    ("tb.meshgrid(v, v, names=('a', 'b'))", "rename()"),
    ("tb.ones({'t': 2})", "write (2,), and names=('t',)"),
    ("tb.ones((2, 't'))", "names of axes are names=('time', 'place')"),
    ("tb.ones(3.0)", "expected a shape of integers, got shape=3.0; write 3"),
    ("tb.ones(a=2, b=3)", "write shape=(2, 3), names=('a', 'b')"),
    ("tb.random.normal(key, a=2, b=3)", "write shape=(2, 3), names=('a', 'b')"),
    ("x.reshape(pixel=4)", "write shape=(4,), names=('pixel',)"),
    ("x.reshape({'pixel': -1})", "write (-1,), and names=('pixel',)"),
    ("tb.eye(2, names='point')", "write ('point', 'point2')"),
    ("tb.eye(2, names=('point',))", "write ('point', 'point2'), or ('point', None)"),
    ("tb.eye(2, names=('point', 'point'))", "write ('point', 'point2')"),
    ("tb.ones((2, 3, 4), names='time')", "as in ('time', None, None)"),
    ("x + x.T", "right.rename('batch', 'feature') pairs the axes by position, right.align_as(left) by name"),
    ("tb.maximum(x, x.T)", "right.rename('batch', 'feature')"),
    ("tb.ones((2, 3), names=('a', 'b')) @ tb.ones(2, names=('a',))", "tb.dot(x, y, contract='a') sums over the axis"),
    ("tb.ones((2, 2), names=('a', 'b')) @ tb.ones(2, names=('a',))", "tb.dot(x, y, contract='a') sums over the axis"),
    ("tb.ones((2, 3)) @ tb.ones(2)", "tb.dot(x, y, contract=((0,), (0,))) sums over the axis of that size"),
    ("tb.ones(3) @ tb.ones((2, 3))", "tb.dot(x, y, contract=((0,), (1,))) sums over the axis of that size"),
    ("tb.ones((2, 3)) @ tb.ones(4)", "got left=f32[2][3], right=f32[4], axes=((1,), (0,))"),
    ("tb.vecdot(x, x, axis=('batch', 'feature'))", "merge_axes(x, ('batch', 'feature'), name=...) makes one axis"),
    ("tb.argmax(x, axis=(0, 1))", "merge_axes(x, (0, 1), name=...) makes one axis of them"),
    ("x.flatten('batch', 'feature')", "tb.merge_axes(x, axes, name=...) makes one axis of some"),
    ("x.flatten('C')", "tensors have no memory order"),
    ("x.rename('row', axis='batch')", "write rename(batch='row')"),
    ("x.rename(dim='batch', name='row')", "write rename(batch='row')"),
    ("v.rename('time').rename('time', 'row')", "write rename(time='row')"),
    ("tb.einsum('p f, p f -> p p', v[:, None], v[:, None])", "or rename() the axis of one operand"),
    ("tb.random.dirichlet(key, (3,), v)", "write tb.random.dirichlet(key, tb.asarray(alpha), shape)"),
    ("tb.tile(x, {'batch': 2})", "write (2, 1)"),
    ("tb.repeat(x, {'batch': 2})", "write 2, axis='batch'"),
    ("tb.asarray([1.0, None])", "write float('nan') for a number that is missing"),
    ("tb.random.permutation(5)", "the first argument is a key"),
    ("tb.random.shuffle(v)", "the first argument is a key"),
    ("tb.random.randint(0, 10, (3,))", "the first argument is a key"),
    ("tb.random.randint(key, 0, 10, (3,))", "the order is key, shape, minval, maxval"),
    ("tb.random.normal(0, 1, (2,))", "write mean=... and deviation=..."),
    ("tb.random.exponential(key, scale=2.0)", "multiply the result by it"),
    ("tb.random.gamma(key, shape=(3,))", "a is the shape parameter"),
    ("tb.nn.dropout(x, 0.5)", "the first argument is a key"),
    ("tb.nn.dropout(key, x, 0.5, training=False)", "call it in training only"),
    ("tb.nn.one_hot(i)", "size is the number of classes"),
    ("tb.nn.cross_entropy(tb.ones((2, 3)), i)", "sparse_cross_entropy() takes the class"),
    ("tb.nn.layer_norm(x, normalized_shape=(2,))", "the axis to normalise is axis="),
    ("tb.optimize.adam()", "rate is the learning rate"),
    ("tb.optimize.adam(0.1, betas=(0.9, 0.99))", "write b1= and b2="),
    ("tb.optimize.minimize(lambda t: tb.sum(t * t), v, jac=True)", "the derivatives are found by tb.grad"),
    ("tb.optimize.minimize(lambda t: tb.sum(t * t), v, args=(1,))", "write lambda x: function(x, a)"),
    ("tb.optimize.root(lambda t: t - 1, v, method='hybr')", "there is one method"),
    ("tb.solvers.solve(x, v, M=x)", "write preconditioner="),
    ("tb.solvers.eigsh(x, 1, sigma=0)", "the eigenvalues of the inverse"),
    ("tb.jacobian(lambda t: t, v)", "write tb.jacobian(function)(x)"),
    ("tb.cond(True, 1.0, 2.0)", "tb.where(condition, x1, x2) chooses between values"),
    ("tb.gradient(v)", "tb.sample_gradient(y, dx=spacing)"),
    ("tb.where(x > 2, x)", "value where it is true, value elsewhere"),
    ("tb.save(x, 'a.npy')", "the path comes first"),
    ("tb.pad(x, [1, 1, 1])", "a padding for each axis"),
    ("tb.ragged.with_lengths(x, [1, 2])", "time=lengths, by the name of the axis"),
    ("x['batch']", "write x.isel(time=0) for an axis by its name"),
    ("x[{'batch': 0}]", "write x.isel(time=0) for an axis by its name"),
    ("x.rename({'batch': 'row'})", "write batch='row'"),
    ("tb.roll(x, {'batch': 1})", "write the shift by position, and axis='time'"),
    ("x.isel(0)", "write the axes by their names, as in x.isel(time=0)"),
    ("x.rename(['row', 'column'])", "write 'row', 'column', one by one"),
    ("x.transpose('feature', ...)", "moveaxis(x, source, destination)"),
    ("x.align_to('feature', ...)", "write all names, one by one, as in 'batch', 'feature'"),
    ("v.rename('time').align_as(x)", "aligned(x, y, outer=True)"),
    ("x * tb.ones(3, names=('time',))", "aligned(x, y, outer=True) pairs their axes by name"),
    ("tb.weighted_mean(v, x)", "broadcast_to() x first"),
    ("tb.polyfit(v, x[..., None], 1)", "merge_axes() the others, or vmap() over one"),
    ("tb.diff(x, axis=('batch',))", "write 'batch'"),
    ("tb.concatenate([v[0], v])", "stack() joins numbers along a new axis"),
    ("tb.concatenate([v, 1.0])", "give each the same number of axes"),
    ("tb.random.normal((3,), key=key)", "write it in place of (3,)"),
    ("tb.optimize.minimize(lambda t: tb.sum(t * t), v, bounds=[(0, 1)] * 3)", "write (lower, upper)"),
    ("tb.jit(abs, donate_argnums=0)", "write donate= with the names of the parameters"),
    ("tb.jit(abs, donate=(0,))", "write the names of the parameters, as in donate=('state',)"),
    ("tb.gather(x, 1, i)", "tb.take_along_axis(x, indices, axis=...)"),
    ("tb.eye(n=3)", "write n_rows by position"),
    ("tb.eye(N=3)", "write n_rows by position"),
    ("tb.sparse.coo(x)", "tb.sparse.from_dense(x)"),
    ("tb.gradient(v, axis=0)", "tb.sample_gradient(y, dx=spacing)"),
    ("tb.gradient(v, v[1] - v[0])", "tb.sample_gradient(y, dx=spacing)"),
    ("tb.gradient(v, v)", "tb.sample_gradient(y, places); for derivatives watch the arguments"),
    ("tb.gradient(v, dx=0.5)", "tb.sample_gradient(y, dx=spacing)"),
    ("tb.gradient(v, edge_order=2)", "tb.sample_gradient(y, dx=spacing)"),
    ("tb.gradient(v, spacing=2)", "tb.sample_gradient(y, dx=spacing)"),
    ("tb.gradient(x, 0.5, 0.5)", "write tb.sample_gradient(y, dx=spacing) for samples, once for each axis"),
    ("tb.put_at(v, i, 1, mode='add')", "tb.indexed_add(x, indices[:, None], updates) adds"),
    ("tb.put_at(v, i, 1, accumulate=True)", "tb.indexed_add(x, indices[:, None], updates) adds"),
    ("tb.indexed_put(v, i, v, accumulate=True)", "tb.indexed_add(x, indices[:, None], updates) adds"),
    ("tb.indexed_add(x, (i, i), v)", "write tb.stack(indices, axis=-1), as the last axis of the indices runs"),
    ("tb.gather(x, (i, 0))", "write tb.stack(tb.broadcast_arrays(*map(tb.asarray, indices)), axis=-1)"),
    ("tb.indexed_add(v, i, v)", "write indices[..., None] for indices along the first"),
    ("tb.abs(tb.numpy.asarray([[1.0], [2.0]]))", "got x=f64[2][1]; write x.tensor"),
    ("tb.mean(x, where=x > 1)", "write tb.nanmean(tb.where(mask, x, tb.nan))"),
    ("x.std(where=x > 1)", "write tb.nanstd(tb.where(mask, x, tb.nan))"),
    ("x.clip(lower=0)", "write min="),
    ("x.clip(upper=0)", "write max="),
    ("tb.grad(fun=abs)", "write function="),
    ("tb.scan(f=abs, init=0.0)", "write function="),
    ("tb.while_loop(cond_fun=abs, body_fun=abs, init_val=0)", "write condition="),
    ("tb.fori_loop(0, 1, body_fun=abs, init_val=0)", "write body="),
    ("tb.cond(pred=True, true_fun=abs, false_fun=abs)", "write predicate="),
    ("tb.switch(0, branches=[abs])", "write functions="),
    ("tb.random.key(0, impl='threefry2x32')", "there is one generator"),
    ("tb.linalg.svd(x, some=True)", "full_matrices=False"),
    ("tb.nn.one_hot(i, classes=3)", "write size by position"),
    ("tb.window_sum(v, 2, center=True)", "padding='same'"),
    ("tb.arange(3, dims='time')", "write name="),
    ("tb.linspace(0, 1, 3, dims='time')", "write name="),
    ("tb.stack([v, v], axis=1, names=('time', 'pair'))", "one name, got names=('time', 'pair'); write name="),
    ("tb.arange(3, names=('a', 'b'))", "one name, got names=('a', 'b'); write name="),
    ("tb.mean(x, 0, 1)", "write axis=(0, 1)"),
    ("x.argmax(0, 1)", "argmax: expected at most 1 argument by position, got 2"),
    ("tb.covariance(v, v)", "tb.covariance(tb.stack([x, y], axis=1))"),
    ("tb.correlation(v, v)", "tb.correlation(tb.stack([x, y], axis=1))"),
    ("tb.polyfit(v, v, 1, w=v)", "write weights="),
    ("tb.polyfit(v, v, 1, full=True)", "tb.linalg.lstsq(a, b)"),
    ("tb.exp(x, dtype='f64')", "cast with astype()"),
    ("tb.gather(x, i, axis=0)", "tb.take(x, indices, axis=...)"),
    ("tb.interp(v, x, x)", "vmap() over the others"),
    ("x.astype('double')", "write 'float64'; the dtypes are"),
    ("x.astype('i4')", "write 'int32'; the dtypes are"),
    ("tb.random.uniform(key, (2,), -1, 1)", "write minval=... and maxval=..., as in"),
    ("tb.trapezoid(v, x=v)", "write it without x="),
    ("tb.while_loop(abs, abs, 0, max_steps=3)", "write limit="),
    ("tb.map(abs, v)", "write tb.map(x, function=...)"),
    ("tb.vmap(abs, axis_size=3)", "the arguments have the axis"),
    ("tb.vmap(abs, randomness='different')", "map over keys"),
    ("tb.scan(abs, 0.0, v, unroll=2)", "leave it out"),
    ("tb.cond(True, abs, abs, operand=v)", "write the operands by position"),
    ("tb.linalg.eigh(x, k=1)", "tb.solvers.eigsh(matrix, k)"),
    ("tb.solvers.eigsh(x, 1, v0=v)", "write x0="),
    ("tb.grad(abs, argnums='x')", "argnums=0 for the first one or argnums=(0, 1)"),
    ("tb.sparse.diagonals(v)", "tb.sparse.diagonals([x, y], [0, 1], (n, n))"),
    ("not x", "bool: expected a tensor of one element as a condition, got shape=(2, 2); use any() or all()"),
    (
        "x.mean('batch', 'feature')",
        "mean: expected at most 1 argument by position, got 2; write axis=('batch', 'feature')",
    ),
    ("tb.polyfit(x, x, 1, axis='batch')", "write tb.moveaxis(y, axis, 0), and merge_axes() of the others"),
    ("tb.histogram(x, axis=0)", "tb.vmap(lambda line: tb.histogram(line, bins=n, range=(low, high)).counts"),
    ("tb.interp(x, x, x, axis=0)", "write tb.vmap(lambda line: tb.interp(x, xp, line), in_axes=1, out_axes=1)(fp)"),
    (
        "tb.random.uniform(tb.random.key(0), (3,), 0, 2)",
        "maxval=2.0); sizes are one tuple, as in (2, 3)",
    ),
    ("tb.kron(x, x.rename('a', 'b'))", "write x1.rename(None, None), as each axis of the product is one of both"),
    ("tb.mean(x, 0, 1)", "mean: expected at most 1 argument by position, got 3; write axis=(0, 1)"),
    ("x.std(0, 1)", "write axis=(0, 1)"),
    (
        "x.sum('batch', 'feature')",
        "sum: expected at most 1 argument by position, got 2; write axis=('batch', 'feature')",
    ),
    ("x.sum(0, 1)", "write axis=(0, 1)"),
    ("x.sum(0, True)", "sum: expected at most 1 argument by position, got 2; write keepdims=True"),
    ("x.prod(0, True)", "write keepdims=True"),
    ("x.max(0, True)", "write keepdims=True"),
    ("x.argmax(0, True)", "write keepdims=True"),
    ("x.squeeze(0, 1)", "squeeze: expected at most 2 arguments by position, got 3; write axis=(0, 1), one tuple"),
    ("x.flatten(1)", "tb.merge_axes(x, axes, name=...) makes one axis of some"),
    ("x.flatten(start_dim=1)", "tb.merge_axes(x, axes, name=...) makes one axis of some"),
    ("x.flatten('C')", "tensors have no memory order"),
    ("x.ravel(order='F')", "tensors have no memory order"),
    ("x.item(0, 1)", "item: expected no arguments, got index=(0, 1); index it first, as in x[0, 1].item()"),
    ("x.isel({'batch': 0})", "isel: expected at most 1 argument by position, got 2; write batch=0"),
    ("x.isel('batch', 0)", "write batch=0"),
    ("x.align_to(['feature', 'batch'])", "write all names, one by one, as in align_to('feature', 'batch')"),
    ("x.align_to('batch')", "list every name"),
    ("tb.while_loop(cond_fun=abs, body_fun=abs, init_val=0.0)", "write condition="),
    ("tb.while_loop(condition=abs, body_fun=abs, initial=0.0)", "write body="),
    ("tb.while_loop(lambda s: s < 3, lambda s: s + 1, 0.0, max_steps=5)", "write limit="),
    ("tb.while_loop(lambda s: s < 3, lambda s: s + 1, 0.0, maxiter=5)", "write limit="),
    ("tb.scan(f=abs, initial=0.0, xs=v)", "write function="),
    ("tb.associative_scan(fn=tb.add, xs=v)", "write function="),
    ("tb.cond(pred=True, true_fun=abs, false_fun=abs)", "write predicate="),
    ("tb.cond(True, abs, abs, operand=v)", "write the operands by position, after the functions"),
    ("tb.optimize.minimize(fun=abs, x0=v)", "write function by position"),
    ("tb.optimize.minimize(abs, v, options={})", "write max_iterations= and tolerance="),
    ("tb.solvers.solve_ivp(abs, (0, 1), v, args=(1,))", "write lambda t, y: function(t, y, a)"),
    ("tb.solvers.solve_ivp(abs, (0, 1), v, max_step=0.1)", "the steps follow from rtol= and atol="),
    ("tb.solvers.solve_ivp(abs, (0, 1), v, events=abs)", "tb.while_loop(condition, body, initial) stops at an event"),
    ("tb.mean(x, where=x > 1)", "write tb.nanmean(tb.where(mask, x, tb.nan))"),
    ("x.std(where=x > 1)", "write tb.nanstd(tb.where(mask, x, tb.nan))"),
    ("tb.max(x, where=x > 1)", "write tb.nanmax(tb.where(mask, x, tb.nan))"),
    ("tb.sum(x, where=x > 1)", "write tb.where(mask, x, 0) as the operand"),
    ("tb.prod(x, where=x > 1)", "write tb.where(mask, x, 1) as the operand"),
    ("tb.all(x > 2, where=x > 1)", "write x | ~mask as the operand"),
    ("tb.save('a.npz', left=x, right=v)", "write {'left': left, 'right': right} by position"),
    ("tb.split_axis(x, 'feature', y=1, x=2)", "write {'y': 1, 'x': 2} by position"),
    ("tb.sparse.coo((v, (i, i)), shape=(2, 2))", "write tb.sparse.coo(values, rows, columns, shape=...)"),
    ("tb.sparse.csr((v, i, i), shape=(2, 2))", "write tb.sparse.csr(values, indices, pointers, shape=...)"),
    ("tb.sparse.csc(x)", "tb.sparse.from_dense(x)"),
    ("tb.linalg.cholesky_solve(v, x)", "the matrix comes first, then the right-hand side"),
    ("tb.linalg.triangular_solve(v[:, None], x)", "the matrix comes first, then the right-hand side"),
    ("tb.linalg.solve(v, x)", "the matrix comes first, then the right-hand side"),
    ("x.rename({None: 'row'})", "write all names by position"),
    ("tb.vmap(lambda row: x)(x)", "vmap: expected a result without an axis 'batch', the name of the batch"),
    ("tb.jit(lambda y: y > 0 and y < 2)(v[0])", "(a) & (b) for `a and b`"),
    ("tb.solvers.solve(tb.eye(4), x)", "flatten() the grid, or give a function"),
    ("tb.solvers.solve(tb.eye(4), x, vector_axes=2)", "flatten() the grid, or give a function"),
    ("tb.random.multivariate_normal(key, tb.zeros(2), tb.ones((2, 2)))", "add a small multiple of eye()"),
    ("tb.expand_dims(x, 0, 'new')", "write name='new'"),
    ("tb.expand_dims(x, 0, 1)", "write axis=(0, 1), one tuple"),
    ("tb.linalg.norm(x, 'batch')", "write axis='batch'"),
    ("tb.linalg.norm(x, 'fro')", "write ord='fro'"),
    ("tb.covariance(x, rowvar=False)", "a variable is a column"),
    ("tb.covariance(x, axis='batch')", "observations are the rows of x"),
    ("tb.meshgrid(v, v, sparse=True)", "x[:, None] and y broadcast like the grids"),
    ("tb.solvers.solve(x, v, solver='cg')", "write method="),
    ("tb.sparse.from_function(abs, (3, 3))", "write 'f32[3, 3]'"),
    ("tb.vmap(lambda row: row, out_axes='draw')(v)", "give the axis its name in the argument, by rename()"),
    ("tb.vmap(abs, axis='batch')", "write in_axes="),
    ("tb.vmap(lambda row: row, out_axes='batch')(x)", "the axis keeps its name at any position"),
    ("tb.optimize.minimize(lambda t: tb.sum(t * t), v, bounds=[(0, 1), (0, 1)])", "write (lower, upper)"),
    ("tb.optimize.adam(0.1, weight_decay=0.1)", "tb.optimize.adamw(rate, decay=...)"),
    ("tb.optimize.adam(step_size=0.1)", "write rate="),
    ("tb.grad(lambda t: float(tb.sum(t)))(v)", "use ops in place of float() and math"),
    ("tb.linalg.triangular_solve(x, v, upper=True)", "write lower=False for an upper triangle"),
    ("tb.linalg.triangular_solve(x, v, trans=1)", "write transform='transpose'"),
    ("tb.zeros((2, 3), ('a', 'b'))", "write names=('a', 'b')"),
    ("tb.tensor([1, 2], ['a'])", "write names=('a',)"),
    ("tb.eye(3, 'f64')", "a dtype is dtype='f64'"),
    ("tb.ones((2,), dtype='f8')", "write 'float8_e5m2', or 'float64' for NumPy's 'f8'"),
    ("v.astype('f4')", "write 'float4_e2m1fn', or 'float32' for NumPy's 'f4'"),
    ("tb.fori_loop(3, lambda i, s: s, 0.0)", "the arguments are lower, upper, body, initial"),
    ("tb.while_loop(abs, abs)", "the arguments are condition, body, initial"),
    ("tb.random.randint(key, (3,), 5)", "the arguments are key, shape, minval, maxval"),
    ("tb.linalg.eigh(x, subset_by_index=[0, 1])", "tb.solvers.eigsh(x, k)"),
    ("tb.linalg.eigh(x, eigvals_only=True)", "tb.linalg.eigvalsh(x)"),
    ("tb.sum(x.rename('batch', None), axis='feature')", "rename('batch', 'feature') names the axis without a name"),
    ("tb.sum(tb.ones((2, 3)), axis='lat')", "name its axes with rename(), or write a position"),
    ("tb.dot(tb.ones(2), tb.ones(3), contract=())", "write set() to sum over no axis"),
    ("tb.dot(tb.ones(2), tb.ones(2), contract=0)", "write contract=([0], [0]) for positions in both operands"),
    ("tb.convolve(tb.ones((2, 3)), tb.ones((2, 2)))", "write tb.conv(x[None, None], y[None, None])[0, 0] for grids"),
    ("tb.ravel_pytree", "tb.concatenate([tb.reshape(x, -1) for x in tb.tree_leaves(tree)])"),
    ("tb.fftconvolve", "tb.fft.irfftn(tb.fft.rfftn(x, s=sizes, axes=axes)"),
    ("tb.convolve2d", "tb.conv(x[None, None], tb.flip(y)[None, None], padding='same')[0, 0]"),
    ("tb.nn.one_hot(tb.asarray([0]), 2, axis_name='class')", "write name="),
    ("tb.segment_mean(tb.ones(2), tb.asarray([0, 1]))", "size= is the number of segments"),
    ("tb.template(tb.ones(2))", "or x.template"),
    ("tb.ones(2, names=('time',)).isel({'time': 0})", "write time=0, or ** before the dictionary"),
]


def names() -> dict[str, Any]:
    x = tb.asarray([[1.0, 2.0], [3.0, 4.0]], names=("batch", "feature"))
    return {"tb": tb, "x": x, "v": tb.asarray([1.0, 2.0]), "i": tb.asarray([0, 1]), "key": tb.random.key(0)}


@pytest.mark.parametrize(("guess", "answer"), GUESSES)
def test_a_wrong_guess_is_answered_by_an_error_of_this_package(guess: str, answer: str) -> None:
    with pytest.raises(TensorBackendError, match=re.escape(answer)) as caught:
        eval(guess, names())
    trace = visible(caught.value)
    assert trace is not None
    while trace.tb_next is not None:
        trace = trace.tb_next
    assert trace.tb_frame.f_code.co_filename == "<string>"  # it ends at the user's line


@pytest.mark.parametrize(
    ("guess", "remedy"),
    [
        ("tb.merge_axes(x, both=('a', 'b'))", "write ('a', 'b') by position and name='both'"),
        ("tb.sum(x, a=0)", "write axis='a'"),
        ("tb.roll(x, a=1)", "write axis='a'"),
        ("tb.split_axis(x, a=(1, 2))", "write 'a', (1, 2) by position"),
        ("tb.split_axis(x, a={'d': 2, 'c': 1})", "write 'a', {'d': 2, 'c': 1} by position"),
        ("tb.split_axis(x, 'a', d=2, c=1)", "write {'d': 2, 'c': 1} by position"),
        ("tb.window_mean(x, a=2)", "write window={'a': 2}"),
        ("tb.window_mean(x, 2, axis='a')", "write window={'a': 2}"),
        ("tb.nn.max_pool(x, 2, axis='a')", "write {'a': 2} by position"),
        ("tb.roll(x.rename(a='x'), x=1)", "write axis='x'"),
        ("tb.mean(x.rename(a='x'), x=1)", "write axis='x'"),
        ("tb.pad(x.rename(a='x'), x=(1, 1))", "write {'x': (1, 1)} by position"),
        ("tb.pad(x, a=(1, 1))", "write {'a': (1, 1)} by position"),
    ],
)
def test_a_keyword_that_is_the_name_of_an_axis(guess: str, remedy: str) -> None:
    with pytest.raises(SignatureError, match=re.escape(f"; {remedy}") + "$"):
        eval(guess, {"tb": tb, "x": tb.ones((2, 3), names=("a", "b"))})


def test_a_guess_is_answered_again_where_the_right_call_is_ready() -> None:
    x = names()["x"]
    for _ in range(4):
        tb.sum(x, axis=0)
        tb.exp(x)
        with pytest.raises(SignatureError):
            tb.sum(x, dim=0)  # type: ignore[call-arg]
        with pytest.raises(SignatureError):
            tb.exp(x, 1)  # type: ignore[call-arg]
        with pytest.raises(SignatureError):
            tb.sum()  # type: ignore[call-arg]


def test_a_method_takes_the_keywords_of_its_op() -> None:
    x = names()["x"]
    assert x.reshape(shape=(4, 1)).shape == (4, 1)
    assert x.transpose(axes=(1, 0)).names == ("feature", "batch")
    assert x.sum(0, "float64").dtype == tb.float64


x1 = tb.asarray([1.0, 2.0])
SAME: list[tuple[Callable[..., tb.Tensor], tuple[Any, ...], dict[str, Any]]] = [
    (tb.stack, ([x1, x1],), {}),
    (tb.expand_dims, (x1, 0), {}),
    (tb.arange, (3,), {}),
    (tb.linspace, (0.0, 1.0, 3), {}),
    (tb.logspace, (0.0, 1.0, 3), {}),
    (tb.geomspace, (1.0, 2.0, 3), {}),
    (tb.merge_axes, (tb.ones((2, 3), names=("a", "b")), ("a", "b")), {}),
    (tb.nn.one_hot, (tb.asarray([1]), 3), {}),
]


@pytest.mark.parametrize(("function", "arguments", "options"), SAME)
def test_names_works_where_name_does(
    function: Callable[..., tb.Tensor], arguments: tuple[Any, ...], options: dict[str, Any]
) -> None:
    wanted = function(*arguments, name="new", **options)
    for given in ("new", ("new",), ["new"]):
        result = function(*arguments, names=given, **options)
        assert result.template is wanted.template
        assert result.tolist() == wanted.tolist()
    with pytest.raises(TensorBackendError):
        function(*arguments, names="new", name="new", **options)


def test_a_call_that_the_signature_takes_is_left_alone() -> None:
    assert adapt(tb.sum, (x1,), {"axis": 0}) is None


def test_an_error_within_a_function_of_the_user_is_its_own() -> None:
    def one(x: tb.Tensor) -> tb.Tensor:
        return x

    with pytest.raises(TypeError, match="positional") as caught:
        tb.vmap(lambda x: one(x, x))(x1)  # type: ignore[call-arg]
    assert not isinstance(caught.value, TensorBackendError)


PYTHONS_OWN = {
    "settings": "autocast backends caches clear_caches current_tape default_backend default_dtype finfo get_backend "
    "get_precision iinfo precision scoped_backend set_precision",
    "methods without options": "Tensor.backend_copy Tensor.backend_deallocate Tensor.backend_transfer "
    "Tensor.block_until_ready Tensor.conj Tensor.detach Tensor.item Tensor.to_binary "
    "Tensor.tolist",
    "operators": "getitem setitem",
    "decorators": "composite primitive",
}
"""What leaves a wrong keyword to Python: settings, of layers below the declarations and called by ops themselves; what
would become slower; and what a decorator is never given."""


def public_callables() -> dict[str, Any]:
    """The public functions and the methods of a tensor, by name; not classes."""
    found = {}
    for space in ("", "linalg", "fft", "nn", "random", "sparse", "ragged", "solvers", "optimize", "checkpoints"):
        module = import_module(f"tensorbackend.{space}".rstrip("."))
        for name in dir(module):
            value = getattr(module, name)
            ours = str(getattr(value, "__module__", "")).startswith("tensorbackend")
            if callable(value) and not isinstance(value, type | tb.DType) and name[0] != "_" and ours:
                found[f"{space}.{name}".lstrip(".")] = value
    x = tb.ones((2, 2))
    methods = [name for name in dir(x) if name[0] != "_" and callable(getattr(x, name))]
    return found | {f"Tensor.{name}": getattr(x, name) for name in methods}


def test_every_public_function_refuses_an_unknown_keyword_in_words_of_our_own() -> None:
    left = []
    for name, function in public_callables().items():
        parameters = [] if name in ("composite", "primitive") else signature(function).parameters.values()
        required = [
            1 for p in parameters if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        ]
        try:
            function(*required, no_such_keyword=1)
        except TensorBackendError:
            continue
        except TypeError:
            left.append(name)
    known = {name for names in PYTHONS_OWN.values() for name in names.split()}
    assert sorted({*left} - known) == [], "decorate it with check_arguments"
    assert sorted(known - {*left}) == [], "take out what needs to be listed no longer"


def test_functions_that_nothing_wraps_say_what_they_take() -> None:
    x = tb.ones((2, 3))
    cases: list[tuple[Callable[..., Any], Any, Any, str]] = [
        (tb.asarray, ([1.0],), {"requires_grad": True}, "asarray: expected keywords among dtype"),
        (tb.logical_and, (x, x), {"where": x}, "logical_and: expected no keywords"),
        (tb.take, (x, [0]), {"dim": 0}, "take: expected keywords among axis, mode, batch, got dim=0; write axis="),
        (tb.take, (x,), {}, "take: expected the argument indices, which is missing"),
        (tb.clip, (x,), {"a_min": 0}, "clip: expected keywords among min, max"),
        (tb.bincount, (x, x, 3), {}, "bincount: expected at most 1 argument by position, got 3"),
        (x.astype, ("f64",), {"device": None, "casting": 1}, "astype: expected keywords among"),
        (x.reshape, (3, 2), {"order": "F"}, "reshape: expected keywords among shape, copy, names, got order='F'"),
    ]
    for function, arguments, keywords, text in cases:
        with pytest.raises(SignatureError, match=re.escape(text)):
            function(*arguments, **keywords)
