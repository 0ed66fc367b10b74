"""Calls of each method and their expected values, by default those of PhiML's NumPy backend."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from phiml.backend._dtype import FLOAT32, FLOAT64, INT32, INT64

X = np.array([[0.5, -1.0, 2.0], [4.0, 0.25, -3.0]], np.float32)
Y = np.array([[2.0, 1.5, 0.5], [0.0, 3.0, -2.0]], np.float32)
I = np.array([[3, -4, 5], [0, 7, 2]], np.int32)  # noqa: E741 # integers
J = np.array([[2, 3, 4], [1, 5, 3]], np.int32)
P = np.abs(Y) + 0.5
U = np.array([[0.5, -0.25, 0.75]], np.float32)
B = np.array([[True, False, True], [False, False, True]])
G = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
M = np.array([[[4.0, 1.0], [1.0, 3.0]], [[2.0, 0.5], [0.5, 1.0]]], np.float32)
PLACES = np.array([[[0, 2], [1, 0], [1, 2]]])
VALUES = np.array([[[3.0], [4.0], [5.0]]], np.float32)
POINTERS = np.array([[0, 1, 3]])
DENSE = np.array([[[[1.0, 2.0]], [[3.0, 4.0]], [[5.0, 6.0]]]], np.float32)
SOLUTION = np.linalg.solve(M[0], M[1].T).T
SPARSE = np.array([[0.0, 0.0, 3.0], [4.0, 0.0, 5.0]])
SEVERAL = np.concatenate([VALUES, 2 * VALUES])
DENSE_SEVERAL = np.stack([SPARSE, 2 * SPARSE])[:, None]


class Case(NamedTuple):
    """A call with tensors of a backend; its expected value, by default that of PhiML's NumPy backend."""

    call: Callable[[Any], Any]
    expected: Any = None


def of(name: str, *operands: Any, **options: Any) -> Case:
    """A call of a method, with arrays converted to tensors."""

    def call(b: Any) -> Any:
        arguments = [b.as_tensor(x) if isinstance(x, np.ndarray) else x for x in operands]
        return getattr(b, name)(*arguments, **options)

    return Case(call)


def matrix(b: Any, layout: str) -> Any:
    """The sparse matrix of `VALUES` in a layout; its transpose in CSC layout."""
    values = b.as_tensor(VALUES[0, :, 0])
    places, pointers = b.as_tensor(PLACES[0]), b.as_tensor(POINTERS[0])
    if layout == "coo":
        return b.sparse_coo_tensor(places, values, (2, 3))
    if layout == "csr":
        return b.csr_matrix(places[:, 1], pointers, values, (2, 3))
    return b.csc_matrix(pointers, places[:, 1], values, (3, 2))


def again(b: Any, value: Any) -> Any:
    """Disassemble a value and rebuild it from its parts."""
    assemble, parts = b.disassemble(value)
    return assemble(b, *parts)


def system(b: Any, count: int = 2) -> tuple[Any, ...]:
    """The arguments that PhiML passes to a solver: a matrix, right-hand sides, first guesses, tolerances and limits."""
    y = b.as_tensor(M[1, :count])
    tolerance = b.as_tensor(np.full(count, 1e-6))
    return b.as_tensor(M[0]), y, b.zeros_like(y), tolerance, tolerance, np.full((1, count), 50), None, None


def solving(name: str, count: int, *first: Any, **options: Any) -> Case:
    """A call of a solver with `count` right-hand sides."""
    return Case(lambda b: getattr(b, name)(*first, *system(b, count), **options).x, SOLUTION[:count])


def minimizing(method: str) -> Case:
    """A call of `minimize` for the sum of squares of each of two examples."""

    def loss(b: Any) -> Callable[[Any], Any]:
        return lambda x: (b.sum((x - 1) ** 2), (b.sum((x - 1) ** 2, -1),))

    return Case(
        lambda b: b.minimize(method, loss(b), b.as_tensor(X), np.full(2, 1e-5), np.full(2, 200), False).x,
        np.ones_like(X),
    )


def raveling(mode: str | int, vectors: Any, expected: Any) -> Case:
    """A call of `ravel_multi_index` for the shape (2, 4), which is data of a trace."""
    return Case(
        lambda b: b.jit_compile(lambda shape: b.ravel_multi_index(b.as_tensor(vectors), shape, mode))(
            b.as_tensor([2, 4])
        ),
        expected,
    )


def drawn(b: Any) -> Any:
    """The first numbers that a seed gives."""
    b.seed(3)
    return b.random_normal((2,), None)


def square_sum(b: Any) -> Callable[[Any], Any]:
    return lambda x: (b.sum(x * x), (b.sum(x),))


CASES: dict[str, list[Case]] = {
    name: [of(name, x) for x in values]
    for names, values in (
        ("exp erf sin cos tan arctan sinh arcsinh cosh tanh sign ceil floor abs round softplus isfinite isnan isinf "
         "real conj imag sigmoid stop_gradient to_float to_int32 to_int64 to_complex auto_cast1 as_tensor copy numpy "
         "shape staticshape ndims size sizeof zeros_like ones_like flatten", (X, I)),
        ("sqrt log log2 log10 log_gamma", (P,)),
        ("arcsin arccos arctanh", (U,)),
        ("arccosh", (P + 1,)),
        ("factorial", (np.array([0, 1, 5], np.int32), np.array([0.5, 3.0], np.float32))),
        ("invert", (B, I)),
    )
    for name in names.split()
}  # fmt: skip
CASES |= {
    name: [of(name, x, y) for x, y in pairs]
    for names, pairs in (
        (
            "add sub mul equal not_equal greater_than greater_or_equal maximum minimum",
            ((X, Y), (I, J), (X, 2), (1.5, I)),
        ),
        ("and_ or_ xor", ((I, J), (B, B[::-1]))),
        ("mod floordiv", ((X, P), (I, J))),
        ("shift_bits_left shift_bits_right", ((I, J),)),
        ("div arctan2", ((X, P), (P, 2.0))),
        ("pow", ((P, X), (X, 2), (J, 2))),
        ("divide_no_nan", ((X, Y),)),
        ("gamma_inc_l gamma_inc_u", ((P, P + 1),)),
    )
    for name in names.split()
}
CASES |= {
    name: [of(name, x), of(name, x, axis=1), of(name, x, axis=(0, 1), keepdims=True)]
    for name, x in (("sum", X), ("mean", X), ("std", X), ("max", X), ("min", I), ("any", B), ("all", B))
}
CASES |= {
    "argmax": [of("argmax", X, 1), of("argmax", X, 0, keepdims=True)],
    "argmin": [of("argmin", X, 1)],
    "prod": [of("prod", X), of("prod", B, axis=0)],
    "cumsum": [of("cumsum", X, 1)],
    "clip": [of("clip", X, -0.5, 1.5), of("clip", I, 0, J)],
    "where": [of("where", B, X, Y), of("where", B, 1.0, I), of("where", B)],
    "nonzero": [of("nonzero", I), of("nonzero", I, length=7), of("nonzero", I, length=2)],
    "quantile": [of("quantile", X, [0.25, 0.5]), of("quantile", X, np.array([0.9], np.float32))],
    "sort": [of("sort", X), of("sort", X, axis=0)],
    "argsort": [of("argsort", X, axis=1)],
    "searchsorted": [
        of("searchsorted", np.array([1, 2, 2, 5]), np.array([0, 2, 6]), side="left", dtype=INT32),
        of("searchsorted", np.sort(X), X, side="right", dtype=INT64),
    ],
    "histogram1d": [of("histogram1d", X, P, np.array([[-2.0, 0.0, 1.0, 2.0], [-3.0, -1.0, 1.0, 4.0]], np.float32))],
    "bincount": [
        of("bincount", np.array([0, 2, 2, 1]), None, 4),
        of("bincount", np.array([0, 1, 1, 2]), np.array([0.5, 1.0, 2.0, 4.0]), 3, x_sorted=True),
    ],
    "batched_bincount": [
        of("batched_bincount", np.array([[0, 2, 2], [1, 1, 0]]), X, 3),
        Case(lambda b: b.batched_bincount(b.as_tensor([[0, 2, 2]]), None, 3), [[1, 0, 2]]),
    ],
    "unique": [
        of("unique", np.array([3, 1, 3, 2]), return_inverse=True, return_counts=True, axis=0),
        of("unique", np.array([[1, 2, 1], [0, 5, 0]]), return_inverse=True, return_counts=True, axis=1),
    ],
    # Creation
    "zeros": [of("zeros", (2, 3)), of("zeros", [2], INT32)],
    "ones": [of("ones", (2, 3)), of("ones", (), FLOAT64)],
    "range": [of("range", 4), of("range", 1, 7, 2, INT64)],
    "linspace": [of("linspace", -1, 1, 5)],
    "linspace_without_last": [of("linspace_without_last", -1, 1, 4)],
    "meshgrid": [of("meshgrid", np.array([1, 2]), np.array([3, 4, 5]))],
    # Shape
    "reshape": [of("reshape", G, (4, -1)), of("reshape", G, np.array([6, 4]))],
    "transpose": [of("transpose", G, (2, 0, 1)), of("transpose", X, None)],
    "expand_dims": [of("expand_dims", X, 1, 2), of("expand_dims", X, -1)],
    "tile": [of("tile", X, (2, 1)), of("tile", X, (2, 1, 3))],
    "tile_to": [of("tile_to", X, 0, 4)],
    "determine_size": [of("determine_size", [X, X[:1]], 0)],
    "repeat": [
        of("repeat", X, np.array([2, 0, 1]), 1),
        Case(lambda b: b.repeat(b.as_tensor([1, 2]), b.as_tensor([2, 1]), 0, new_length=4), [1, 1, 2, 2]),
    ],
    "flip": [of("flip", X, (0, 1)), of("flip", G, [2])],
    "stack": [of("stack", [X, Y], 1)],
    "concat": [of("concat", [X, Y], 1), of("concat", [X, I], 0)],
    "stack_leaves": [Case(lambda b: b.stack_leaves([{"a": (X, 1)}, {"a": (Y, 2)}])["a"], (np.stack([X, Y]), [1, 2]))],
    "copy_leaves": [of("copy_leaves", [X, (Y,)])],
    "stop_gradient_tree": [of("stop_gradient_tree", [X, (Y,)])],
    "pad": [
        of("pad", X, [(1, 0), (0, 2)], constant_values=3.0),
        *(of("pad", X, [(1, 0), (2, 1)], mode) for mode in ("boundary", "periodic", "symmetric")),
        of("pad", G, [(0, 0), (2, 0), (0, 3)], "reflect"),
    ],
    "pad_to": [of("pad_to", X, 1, 5, 7.0), of("pad_to", X, 1, 2, 7.0), of("pad_to", X, 1, 3, 7.0)],
    "pad_stack": [of("pad_stack", [X, X[:, :2]], (2, 4), pad_value=1)],
    "unstack": [of("unstack", G, -1), of("unstack", X, 0, keepdims=True)],
    # Indexing
    "gather": [of("gather", G, [2, 0], 1), of("gather", X, np.array([-1]), axis=1)],
    "gather_1d": [of("gather_1d", X, np.array([1, 0, 1]))],
    "gather_by_component_indices": [of("gather_by_component_indices", X, np.array([0, 1]), np.array([2, 0]))],
    "gather_nd": [of("gather_nd", G, np.array([[1, 2], [0, 0]]))],
    "batched_gather_nd": [
        of("batched_gather_nd", G, np.array([[[1], [0]], [[2], [2]]])),
        of("batched_gather_nd", G, np.array([[[1], [0]]])),
        Case(lambda b: b.batched_gather_nd(b.as_tensor(G[:1]), b.as_tensor([[[1]], [[2]]])), G[0, [[1], [2]]]),
    ],
    "batched_gather_1d": [
        of("batched_gather_1d", X, np.array([[1, 0], [2, 2]])),
        Case(lambda b: b.batched_gather_1d(b.as_tensor(X[:1]), b.as_tensor([[1], [2]])), X[0, [[1], [2]]]),
    ],
    "batch_gather": [of("batch_gather", X, 1), of("batch_gather", X, [1, 0])],
    "multi_slice": [of("multi_slice", G, (slice(None), 1, slice(None, None, -2)))],
    "boolean_mask": [
        of("boolean_mask", X, np.array([True, False, True]), axis=1),
        of("boolean_mask", X, np.array([True, False, True]), axis=1, new_length=4, fill_value=9.0),
    ],
    "unravel_index": [of("unravel_index", np.array([0, 5, 7]), (2, 4))],
    "ravel_multi_index": [
        of("ravel_multi_index", np.array([[1, 2], [0, 3]]), (2, 4)),
        *(of("ravel_multi_index", np.array([[1, -2], [5, 3]]), (2, 4), mode) for mode in ("periodic", "clamp", -1)),
        raveling("undefined", [[1, 2]], [6]),
        raveling("periodic", [[1, -2], [5, 3]], [6, 7]),
        raveling("clamp", [[1, -2], [5, 3]], [4, 7]),
        raveling(-1, [[1, -2], [1, 3]], [-1, 7]),
    ],
    "scatter": [
        of("scatter", G, np.array([[[1], [1]], [[0], [2]]]), G[:, :2], mode=mode)
        for mode in ("add", "update", "max", "min")
    ] + [of("scatter", G[:1], np.array([[[1], [-1]]]), G[:, :2], mode="add")],
    "scatter_nd": [of("scatter_nd", G, np.array([[1, 2], [0, 0]]), G[0, :1], "add")],
    "scatter_1d_scalar": [of("scatter_1d_scalar", X[0], np.array([2, 0, 2]), np.array([1.0], np.float32), "add")],
    "scatter_nd_scalar": [of("scatter_nd_scalar", X, np.array([[1, 2], [0, 0]]), X[0, :2], "update")],
    "indexed_segment_sum": [of("indexed_segment_sum", G, np.array([[0, 2], [0, 1]]), 1)],
    # Linear algebra
    "tensordot": [of("tensordot", G, (2, 1), np.swapaxes(G, 1, 2), (1, 2))],
    "einsum": [of("einsum", "bij,bkj->bik", G, G)],
    "mul_matrix_batched_vector": [
        Case(lambda b: b.mul_matrix_batched_vector(matrix(b, "coo"), b.as_tensor(X)), X @ SPARSE.T),
        Case(lambda b: b.mul_matrix_batched_vector(matrix(b, "csr"), b.as_tensor(X)), X @ SPARSE.T),
        of("mul_matrix_batched_vector", M[0], M[1])],
    "linear": [
        of("linear", M[0], M[1]),
        of("linear", lambda x: x + x, M[1]),
        Case(lambda b: b.linear([b.as_tensor(m) for m in M], b.as_tensor(M[:, 0])),
             np.einsum("bij,bj->bi", M, M[:, 0])),
    ],
    "get_diagonal": [of("get_diagonal", G[:, :, :3, None], offset=offset) for offset in (0, 1, -1)],
    "conv": [
        of("conv", G[:, None], np.array([[[[[1.0, 2.0, 0.0], [0.0, -1.0, 3.0], [1.0, 0.0, 0.0]]]]], np.float32),
           [1, 1], [3, 4], False),
        Case(lambda b: b.conv(b.as_tensor(X[:, None]), b.as_tensor(np.ones((2, 1, 1, 2)) * [[[[1]]], [[[2]]]]),
                              [1], [2], False), [[[-0.5, 1.0]], [[8.5, -5.5]]]),
        Case(lambda b: b.conv(b.as_tensor(X[:1, None]), b.as_tensor([[[[1.0, 2.0]]]]), [2], [6], True),
             [[[0.5, 1.0, -1.0, -2.0, 2.0, 4.0]]]),
    ],
    "fft": [of("fft", G, [1]), of("fft", G, [0, 1]), of("fft", G, [0, 1, 2]), of("fft", G, [])],
    "ifft": [Case(lambda b: b.ifft(b.fft(b.as_tensor(G), [1, 2]), [1, 2]), G + 0j), of("ifft", G, [])],
    "matrix_solve_least_squares": [Case(
        lambda b: b.matrix_solve_least_squares(b.as_tensor(M), b.as_tensor(M[..., :1]))[0], [[[1], [0]], [[1], [0]]])],
    "solve_triangular": [of("solve_triangular", M[0], M[0, 0], lower=True, unit_diagonal=False)],
    "solve_triangular_dense": [
        of("solve_triangular_dense", M[0], M[0, 1], lower=False, unit_diagonal=True),
        Case(lambda b: b.solve_triangular_dense(b.as_tensor(M), b.as_tensor(M[:, 0]), True, False),
             [[1, 0], [1, 0]]),
    ],
    "matrix_rank_dense": [of("matrix_rank_dense", M)],
    "eigvals": [Case(lambda b: b.sort(b.real(b.eigvals(b.as_tensor(M[0]))), 0), np.linalg.eigvalsh(M[0]))],
    "eig": [Case(lambda b: b.real(b.einsum("ij,j->ij", *b.eig(b.as_tensor(M[0]))[::-1])
                                  - b.as_tensor(M[0]) @ b.eig(b.as_tensor(M[0]))[1]), np.zeros((2, 2)))],
    "svd": [Case(lambda b: b.svd(b.as_tensor(X), False)[1], np.linalg.svd(X)[1])],
    # Functions of functions
    "jit_compile": [Case(lambda b: b.jit_compile(lambda x, y: (b.sin(x) + y,))(b.as_tensor(X), b.as_tensor(Y)),
                         (np.sin(X) + Y,))],
    "jacobian": [
        Case(lambda b: b.jacobian(square_sum(b), [0], True, True)(b.as_tensor(X)), (X.sum(), 2 * X)),
        Case(lambda b: b.jacobian(lambda x: (b.sum(x * x, 1), ()), [0], False, False)(b.as_tensor(X)),
             (np.eye(2)[:, :, None] * 2 * X,)),
        Case(lambda b: b.jacobian(lambda x, y: (b.as_tensor(1.0), ()), [1], False, True)(
            b.as_tensor(X), b.as_tensor(M)), (np.zeros_like(M),)),
    ],
    "jit_compile_grad": [
        Case(lambda b: b.jit_compile_grad(square_sum(b), [0], True, True)(b.as_tensor(X)), (X.sum(), 2 * X))],
    "hessian": [Case(
        lambda b: b.hessian(lambda x: (b.sum(x**3, -1),), [0], True, True)(b.as_tensor(X))[1:],
        ((3 * X**2,), [[6 * X[:, :, None] * np.eye(3)]]))],
    "jit_compile_hessian": [Case(
        lambda b: b.jit_compile_hessian(lambda x: (b.sum(x**3, -1),), [0], False, False)(b.as_tensor(X)),
        ([[6 * X[:, :, None] * np.eye(3)]],))],
    "custom_gradient": [Case(
        lambda b: b.jacobian(
            lambda x: (b.sum(b.custom_gradient(lambda x: (x * 2,), lambda x, y, dy: (dy[0] * 7,))(x)[0]), ()),
            [0], False, True)(b.as_tensor(X)), (np.full_like(X, 7),))],
    "vectorized_call": [
        Case(lambda b: b.vectorized_call(b.add, b.as_tensor(X), b.as_tensor(Y[:1])), X + Y[:1]),
        Case(lambda b: b.jit_compile(lambda x: b.vectorized_call(b.add, x, b.as_tensor(Y[:1])))(b.as_tensor(X)),
             X + Y[:1]),
    ],
    "numpy_call": [Case(lambda b: b.numpy_call(np.cumsum, (6,), FLOAT32, b.as_tensor(X)), np.cumsum(X))],
    "while_loop": [
        Case(lambda b: b.while_loop(lambda i: (i - 1,), (b.as_tensor(5),), 3), (2,)),
        Case(lambda b: b.while_loop(lambda i: (i - 1,), (b.as_tensor(2),), [0, 1, 5]), ([2, 1, 1],)),
        Case(lambda b: b.jit_compile(lambda i: b.while_loop(lambda i: (i - 1,), (i,), [0, 3]))(b.as_tensor(5)),
             ([5, 2],)),
        Case(lambda b: b.jit_compile(lambda i: b.while_loop(lambda i: (i - 1,), (i,), None))(b.as_tensor(5)), (0,)),
    ],
    "call": [Case(lambda b: b.call(lambda x: x + 1, b.as_tensor(1), name="more"), 2)],
    "block_until_ready": [Case(lambda b: b.block_until_ready([b.as_tensor(1), (2,)]) or 0, 0)],
    # Sparse matrices: the entries 3 at (0, 2), 4 at (1, 0) and 5 at (1, 2)
    "mul_coo_dense": [of("mul_coo_dense", PLACES, VALUES, (2, 3), DENSE)],
    "mul_csr_dense": [of("mul_csr_dense", PLACES[..., 1], POINTERS, VALUES, (2, 3), DENSE)],
    "coo_to_dense": [of("coo_to_dense", PLACES, VALUES, (2, 3), contains_duplicates=True)],
    "csr_to_coo": [of("csr_to_coo", PLACES[..., 1], POINTERS)],
    "csr_to_dense": [of("csr_to_dense", PLACES[..., 1], POINTERS, VALUES, (2, 3))],
    "sparse_coo_tensor": [Case(lambda b: matrix(b, "coo").to_dense(), SPARSE)],
    "csr_matrix": [Case(lambda b: matrix(b, "csr").to_dense(), SPARSE)],
    "csc_matrix": [Case(lambda b: matrix(b, "csc").to_dense(), SPARSE.T)],
    "sparse_coo_tensor_batched": [
        Case(lambda b: b.sparse_coo_tensor_batched(b.as_tensor(PLACES), b.as_tensor(SEVERAL), (2, 3)).to_dense(),
             DENSE_SEVERAL)],
    "csr_matrix_batched": [
        Case(lambda b: b.csr_matrix_batched(b.as_tensor(PLACES[..., 1]), b.as_tensor(POINTERS), b.as_tensor(SEVERAL),
                                            (2, 3)).to_dense(), DENSE_SEVERAL)],
    "csc_matrix_batched": [
        Case(lambda b: b.csc_matrix_batched(b.as_tensor(POINTERS), b.as_tensor(PLACES[..., 1]), b.as_tensor(SEVERAL),
                                            (3, 2)).to_dense(), np.swapaxes(DENSE_SEVERAL, -1, -2))],
    "solve_triangular_sparse": [Case(
        lambda b: b.solve_triangular_sparse(
            b.sparse_coo_tensor(b.as_tensor([[0, 0], [1, 0], [1, 1]]), b.as_tensor([2.0, 1.0, 4.0]), (2, 2)),
            b.as_tensor([[2.0, 9.0], [4.0, 10.0]]), lower=True, unit_diagonal=False), [[1, 2], [2, 2]])],
    # Solvers
    "conjugate_gradient": [solving("conjugate_gradient", 2)],
    "conjugate_gradient_adaptive": [solving("conjugate_gradient_adaptive", 2)],
    "bi_conjugate_gradient": [solving("bi_conjugate_gradient", 2, poly_order=order) for order in (1, 2)],
    "linear_solve": [
        solving("linear_solve", 2, method)
        for method in ("auto", "CG", "CG-adaptive", "biCG-stab", "biCG-stab(2)", "direct", "GMres", "scipy-direct")
    ],
    "grid_sample": [
        Case(lambda b: b.grid_sample(b.as_tensor(X[..., None]), b.as_tensor([[[0.5], [2.5]]]), "zeros"),
             [[[-0.25], [1.0]], [[2.125], [-1.5]]]),
        Case(lambda b: b.grid_sample(b.as_tensor(X[..., None]), b.as_tensor([[[-2.0], [0.0]]]), "periodic"),
             [[[-1.0], [0.5]], [[0.25], [4.0]]]),
        Case(lambda b: b.grid_sample(b.as_tensor(X[..., None]), b.as_tensor([[[0.0]]]), "other") is NotImplemented,
             True),
    ],
    "minimize": [minimizing(method) for method in ("auto", "GD")],
    # Random numbers: only shapes and bounds are tested
    "seed": [Case(lambda b: drawn(b) - drawn(b), [0, 0])],
    "random_uniform": [
        Case(lambda b: b.shape(b.random_uniform((2, 3), 0, 1, None)), (2, 3)),
        Case(lambda b: b.all(b.random_uniform((50,), 2, 4, INT32) >= 2), True),
        Case(lambda b: b.all(b.imag(b.random_uniform((50,), 1 + 2j, 2 + 3j, b.complex_type)) >= 2), True),
    ],
    "random_normal": [Case(lambda b: abs(b.mean(b.random_normal((200,), FLOAT64))) < 0.3, True)],
    "random_permutations": [Case(lambda b: b.sort(b.random_permutations(3, 4)), [[0, 1, 2, 3]] * 3)],
    "random_subsets": [
        Case(lambda b: b.sort(b.random_subsets(3, 3, 2, False)), [[0, 1, 2]] * 2),
        Case(lambda b: b.random_subsets(3, 2, 1, True, b.as_tensor([0.0, 1.0, 0.0])), [[1, 1]]),
    ],
    # Values and dtypes
    "dtype": [Case(lambda b: [b.dtype(b.as_tensor(X)) == FLOAT32, b.dtype(1) == INT32, b.dtype(1.0) == FLOAT64],
                   [True] * 3)],
    "cast": [of("cast", X, INT32), of("cast", I, FLOAT64), Case(lambda b: b.cast(b.to_complex(X), FLOAT32), X)],
    "variable": [Case(lambda b: b.variable(X), X)],
    "combine_types": [Case(lambda b: b.combine_types(INT64, FLOAT64) == FLOAT32, True)],
    "auto_cast": [of("auto_cast", X, I, 2), of("auto_cast", B, bool_to_int=True),
                  of("auto_cast", I, int_to_float=True)],
    "is_tensor": [Case(lambda b: [b.is_tensor(x) for x in (b.as_tensor(X), X, 1, [1, X], "text", None)],
                       [True, True, True, True, False, False]),
                  Case(lambda b: [b.is_tensor(x, only_native=True) for x in (b.as_tensor(X), X, 1)],
                       [True, False, False])],
    "is_available": [Case(lambda b: [b.is_available(b.as_tensor(X)), b.is_available(1)], [True, True])],
    "is_module": [Case(lambda b: b.is_module(X), False),
                  Case(lambda b: b.is_module(b.nn_library().mlp(1, 1, [])), True)],
    "nn_library": [Case(lambda b: b.nn_library().conv_net(1, 1, [2])(np.zeros((2, 3, 3, 1))), np.zeros((2, 3, 3, 1)))],
    "is_sparse": [Case(lambda b: [b.is_sparse(matrix(b, "csr")), b.is_sparse(b.as_tensor(X))], [True, False])],
    "get_sparse_format": [
        Case(lambda b: [b.get_sparse_format(matrix(b, "csc")) == "csc", b.get_sparse_format(b.as_tensor(X)) == "dense"],
             [True, True])],
    "disassemble": [
        Case(lambda b: again(b, matrix(b, "coo")).to_dense(), SPARSE),
        Case(lambda b: again(b, matrix(b, "csr")).to_dense(), SPARSE),
        Case(lambda b: again(b, matrix(b, "csc")).to_dense(), SPARSE.T),
        Case(lambda b: b.disassemble(b.as_tensor(X))[0](b, *b.disassemble(b.as_tensor(X))[1]), X)],
    "to_dlpack": [Case(lambda b: type(b.to_dlpack(b.as_tensor(X))).__name__ == "PyCapsule", True)],
    "from_dlpack": [Case(lambda b: b.from_dlpack(X.copy()), X),
                    Case(lambda b: b.from_dlpack(b.to_dlpack(b.as_tensor(X))), X)],
    "from_external_array_dlpack": [Case(lambda b: b.from_external_array_dlpack(X), X)],
    # Devices
    "list_devices": [Case(lambda b: len(b.list_devices("CPU")) > 0, True)],
    "get_default_device": [Case(lambda b: b.get_default_device() in b.list_devices(), True)],
    "set_default_device": [Case(lambda b: b.set_default_device("CPU"), True)],
    "get_device": [Case(lambda b: b.get_device(b.as_tensor(X)) == b.get_default_device(), True)],
    "get_device_by_ref": [Case(lambda b: b.get_device_by_ref(b.get_default_device().ref).device_type == "CPU", True)],
    "allocate_on_device": [Case(
        lambda b: b.allocate_on_device(b.as_tensor(X), b.get_default_device()), X)],
    # Properties of the backend
    "supports": [Case(lambda b: [b.supports(name) for name in ("jacobian", "jit_compile", "module")],
                      [True, True, False])],
    "prefers_channels_last": [Case(lambda b: b.prefers_channels_last(), True)],
    "requires_fixed_shapes_when_tracing": [Case(lambda b: b.requires_fixed_shapes_when_tracing(), True)],
    "traced": [Case(lambda b: b.jit_compile(lambda x: b.numpy(b.as_tensor([1, 2]) * 2) + x)(b.as_tensor(1)), [3, 5])],
}  # fmt: skip
