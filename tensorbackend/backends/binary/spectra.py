"""Eigenvalues, eigenvectors and singular values of one matrix: a list of rows of Python numbers.

Vectors are unique up to a phase only: the largest component of each is made real and positive. GVL is Golub
and Van Loan, Matrix Computations, 4th edition.
"""

from __future__ import annotations

import math
from itertools import pairwise
from operator import mul
from typing import Any

from .complex_scalars import absolute as magnitude
from .matrices import Matrix, Vector, adjoint, conjugate, equilibrate, identity, length, phase, product, qr, transpose
from .scalars import times_power

EPSILON = 2.0**-52
_SWEEPS = 60
"""The limit of sweeps, and a tenth of the limit of iterations for an eigenvalue: far more than the methods take."""


def leading_phase(vector: Vector, tolerance: float) -> Any:
    """The phase of the first component whose magnitude is within a relative `tolerance` of the largest.

    [1, -1] / sqrt(2) has two such components; which one comes out larger by an ulp must not decide the sign.
    """
    sizes = [magnitude(component) for component in vector]
    least = max(sizes, default=0.0) * (1 - tolerance)
    return next((phase(component) for component, size in zip(vector, sizes, strict=True) if size >= least), 1.0)


def divide_by_phase(vector: Vector, turn: Any) -> Vector:
    """A vector divided by a phase; a component of that phase becomes exactly real."""
    if turn == 1:
        return vector
    back = turn.conjugate()
    return [back * component if phase(component) != turn else magnitude(component) for component in vector]


def _rotation(diagonal1: float, diagonal2: float, off: Any) -> tuple[float, float, Any, float]:
    """The rotation that makes [[diagonal1, off], [off*, diagonal2]] diagonal (GVL 8.5.2): c, s, the
    conjugated phase of `off`, and by how much the first entry falls."""
    size = magnitude(off)
    ratio = (diagonal2 - diagonal1) / (2 * size)
    tangent = math.copysign(1.0, ratio) / (abs(ratio) + math.hypot(1.0, ratio))
    cosine = 1 / math.hypot(1.0, tangent)
    return cosine, tangent * cosine, off.conjugate() / size, tangent * size


def _rotate(first: Vector, second: Vector, cosine: float, sine: float, turn: Any) -> tuple[Vector, Vector]:
    """Two vectors times the rotation: (c x - s turn y, s x + c turn y)."""
    a, b = sine * turn, cosine * turn
    return (
        [cosine * x - a * y for x, y in zip(first, second, strict=True)],
        [sine * x + b * y for x, y in zip(first, second, strict=True)],
    )


def eigh(matrix: Matrix, tolerance: float) -> tuple[list[float], Matrix]:
    """Ascending eigenvalues and eigenvectors of a Hermitian matrix; only its lower half is read.

    Jacobi's method by cyclic sweeps (GVL 8.5.3).
    """
    size = len(matrix)
    normalised, exponent = equilibrate(matrix)
    rows = [
        [
            normalised[i][j] if j < i else normalised[i][i].real if i == j else normalised[j][i].conjugate()
            for j in range(size)
        ]
        for i in range(size)
    ]
    vectors = identity(size)  # one in each row
    small = length(element for row in rows for element in row) * EPSILON / (2 * max(size, 1))
    for _ in range(_SWEEPS):
        done = True
        for p in range(size):
            for q in range(p + 1, size):
                off = rows[p][q]
                if magnitude(off) <= small:
                    continue
                done = False
                cosine, sine, turn, fall = _rotation(rows[p][p], rows[q][q], off)
                low, high = rows[p][p] - fall, rows[q][q] + fall
                # The rows of J.H A take the conjugate of the phase. A stays Hermitian, so its columns are known.
                rows[p], rows[q] = _rotate(rows[p], rows[q], cosine, sine, turn.conjugate())
                rows[p][p], rows[q][q], rows[p][q], rows[q][p] = low, high, 0.0, 0.0
                for other in range(size):
                    if other not in (p, q):
                        rows[other][p] = rows[p][other].conjugate()
                        rows[other][q] = rows[q][other].conjugate()
                vectors[p], vectors[q] = _rotate(vectors[p], vectors[q], cosine, sine, turn)
        if done:
            break
    order = sorted(range(size), key=lambda index: rows[index][index])
    values = [times_power(rows[index][index], exponent) for index in order]
    ordered = [divide_by_phase(vectors[index], leading_phase(vectors[index], tolerance)) for index in order]
    return values, transpose(ordered, size)


def svd(matrix: Matrix, columns: int, tolerance: float, *, full: bool) -> tuple[Matrix, list[float], Matrix]:
    """U, descending singular values and Vh: Householder's QR, then Hestenes' one-sided Jacobi method (GVL 8.6.3)."""
    rows = len(matrix)
    if rows < columns:
        v, values, uh = _svd(adjoint(matrix, columns), rows, full=full)
        u, vh = adjoint(uh, rows), adjoint(v, columns if full else rows)
    else:
        u, values, vh = _svd(matrix, columns, full=full)
    across = transpose(u, rows if full else min(rows, columns))
    for k, vector in enumerate(across):
        turn = leading_phase(vector, tolerance)
        across[k] = divide_by_phase(vector, turn)
        if k < len(values) and turn != 1:
            vh[k] = [turn * component for component in vh[k]]
    return transpose(across, rows), values, vh


def _svd(matrix: Matrix, columns: int, *, full: bool) -> tuple[Matrix, list[float], Matrix]:
    """The factors of `svd`, up to their phases, for at least as many rows as columns."""
    normalised, exponent = equilibrate(matrix)
    rows = len(matrix)
    q, r = qr(normalised, columns, complete=full)
    left = transpose(r[:columns], columns)
    right = identity(columns)  # a list of columns, like `left`
    _orthogonalise(left, right)
    sizes = [length(column) for column in left]
    order = sorted(range(columns), key=lambda column: -sizes[column])
    negligible = _negligible(sizes)
    kept = [[component / sizes[k] for component in left[k]] for k in order if sizes[k] > negligible]
    if len(kept) < columns:  # any orthonormal vectors go with singular values of nearly 0
        rest, _ = qr(transpose(kept, columns), len(kept), complete=True)
        kept += transpose(rest, columns)[len(kept) :]
    inner = transpose(kept, columns)
    u = product([row[:columns] for row in q], inner, columns)
    if full:
        u = [new + old[columns:] for new, old in zip(u, q, strict=True)]
    values = [times_power(sizes[k], exponent) for k in order]
    return u if rows else [], values, [conjugate(right[k]) for k in order]


def _negligible(sizes: list[float]) -> float:
    return length(sizes) * EPSILON / 16


def _orthogonalise(left: Matrix, right: Matrix) -> None:
    """Rotates the columns of both until those of `left` are orthogonal; columns of nearly 0 are left alone."""
    count = len(left)
    negligible = _negligible([length(column) for column in left])
    squares = [sum(map(mul, map(magnitude, column), map(magnitude, column))) for column in left]
    for _ in range(_SWEEPS):
        done = True
        for p in range(count):
            for q in range(p + 1, count):
                if min(squares[p], squares[q]) <= negligible * negligible:
                    continue
                overlap = sum(map(mul, conjugate(left[p]), left[q]))
                if magnitude(overlap) <= EPSILON * math.sqrt(squares[p]) * math.sqrt(squares[q]) * 2:
                    continue
                done = False
                cosine, sine, turn, _ = _rotation(squares[p], squares[q], overlap)
                left[p], left[q] = _rotate(left[p], left[q], cosine, sine, turn)
                right[p], right[q] = _rotate(right[p], right[q], cosine, sine, turn)
                for k in (p, q):
                    squares[k] = sum(
                        component.real * component.real + component.imag * component.imag for component in left[k]
                    )
        if done:
            break


def eig(matrix: Matrix, tolerance: float) -> tuple[Vector, Matrix]:
    """Eigenvalues, ascending by real then imaginary part, and unit eigenvectors of any square matrix.

    Neighbouring real parts that differ by at most `tolerance` times the largest eigenvalue count as equal.

    The matrix is brought to Hessenberg form (GVL 7.4.2), then to Schur form by the shifted QR iteration; back
    the vectors come from substitution.
    """
    size = len(matrix)
    normalised, exponent = equilibrate(matrix)
    is_real = all(not isinstance(element, complex) for row in normalised for element in row)
    form, basis = _hessenberg(normalised)
    if is_real:
        _francis(form, basis)
        form, basis = _complex_schur(form, basis)
    else:
        _triangularise(form, basis)
    values = [form[k][k] for k in range(size)]
    order = _ascending_order(values, tolerance)
    vectors = []
    for k in order:
        coordinates = _back(form, k)
        vector = [sum(map(mul, row, coordinates)) for row in basis]
        vector = divide_by_phase(vector, leading_phase(vector, tolerance))
        if is_real and values[k].imag == 0:  # its real part, which is not zero now, is an eigenvector too
            vector = [component.real for component in vector]
        whole = length(vector)
        vectors.append([component / whole for component in vector])
    return [times_power(values[k], exponent) for k in order], transpose(vectors, size)


def _ascending_order(values: Vector, tolerance: float) -> list[int]:
    """The order of eigenvalues: which of two equal real parts comes out larger by an ulp does not decide it."""
    order = sorted(range(len(values)), key=lambda index: values[index].real)
    apart = max(map(magnitude, values), default=0.0) * tolerance
    group, groups = 0, dict.fromkeys(order[:1], 0)
    for before, after in pairwise(order):
        group += values[after].real - values[before].real > apart
        groups[after] = group
    return sorted(order, key=lambda index: (groups[index], values[index].imag))


def _hessenberg(matrix: Matrix) -> tuple[Matrix, Matrix]:
    """h and z with matrix = z h z.H, h zero below its first subdiagonal."""
    h, size = [row[:] for row in matrix], len(matrix)
    z = identity(size)
    for k in range(size - 2):
        vector = [h[row][k] for row in range(k + 1, size)]
        whole = length(vector)
        if length(vector[1:]) == 0:
            continue
        first = vector[0]
        vector[0] = first + phase(first) * whole
        _reflect_both(h, z, k + 1, vector, 1 / (whole * (whole + magnitude(first))))
        for row in range(k + 2, size):
            h[row][k] = 0.0
    return h, z


def _reflect_both(h: Matrix, z: Matrix, at: int, vector: Vector, scale: float) -> None:
    """h becomes P h P and z becomes z P, for P = I - scale v v.H on the rows and columns from `at` on."""
    end = at + len(vector)
    mirrored = conjugate(vector)
    block = h[at:end]
    weights = [scale * sum(map(mul, mirrored, column)) for column in zip(*block, strict=True)]
    for row, component in zip(range(at, end), vector, strict=True):
        h[row] = [a - component * weight for a, weight in zip(h[row], weights, strict=True)]
    for row_of in (*h, *z):
        weight = scale * sum(map(mul, row_of[at:end], vector))
        row_of[at:end] = [a - weight * b for a, b in zip(row_of[at:end], mirrored, strict=True)]


def _start(h: Matrix, high: int, whole: float) -> int:
    """The first row of the unreduced block that ends with row `high`; sets the negligible entry next to it to 0."""
    for low in range(high, 0, -1):
        neighbours = magnitude(h[low][low]) + magnitude(h[low - 1][low - 1])
        if magnitude(h[low][low - 1]) <= EPSILON / 2 * (neighbours or whole):
            h[low][low - 1] = 0.0
            return low
    return 0


def _francis(h: Matrix, z: Matrix) -> None:
    """Makes a real Hessenberg matrix quasi-triangular: blocks of order 1 and 2 (GVL 7.5.1 and 7.5.2)."""
    high, tries = len(h) - 1, 0
    whole = length(element for row in h for element in row)
    while high > 0:
        low = _start(h, high, whole)
        if low >= high - 1:
            high, tries = low - 1, 0
            continue
        tries += 1
        if tries > _SWEEPS * 10:
            break
        last, other = h[high], h[high - 1]
        total = last[high] + other[high - 1]
        both = last[high] * other[high - 1] - last[high - 1] * other[high]
        if tries % 10 == 0:  # Wilkinson's exceptional shift breaks a cycle
            size = abs(last[high - 1]) + abs(other[high - 2])
            total, both = 1.5 * size, size * size
        top, below = h[low], h[low + 1]
        x = top[low] * top[low] + top[low + 1] * below[low] - total * top[low] + both
        y = below[low] * (top[low] + below[low + 1] - total)
        w = below[low] * h[low + 2][low + 1]
        for k in range(low, high):
            vector = [x, y, w][: high - k + 1]
            size = length(vector)
            if size:
                first = vector[0]
                vector[0] = first + math.copysign(size, first)
                _reflect_both(h, z, k, vector, 1 / (size * (size + abs(first))))
            if k > low:
                for row in range(k + 1, min(k + 3, high + 1)):
                    h[row][k - 1] = 0.0
            if k < high - 1:
                x, y = h[k + 1][k], h[k + 2][k]
                w = h[k + 3][k] if k < high - 2 else 0.0


def _complex_schur(form: Matrix, basis: Matrix) -> tuple[Matrix, Matrix]:
    """Makes a quasi-triangular matrix triangular: each block of order 2 by a rotation onto an eigenvector."""
    size = len(form)
    for k in range(size - 1):
        below = form[k + 1][k]
        if below == 0:
            continue
        upper, right, lower = form[k][k], form[k][k + 1], form[k + 1][k + 1]
        half = (upper - lower) / 2
        inside = half * half + right * below
        value1: Any
        value2: Any
        if inside >= 0:
            root = half + math.copysign(math.sqrt(inside), half)
            value1 = lower + root
            value2 = lower - right * below / root if root else value1
        else:
            value1 = complex(lower + half, math.sqrt(-inside))
            value2 = value1.conjugate()
        vector = [value1 - lower, below]
        whole = length(vector)
        _turn(form, basis, k, vector[0] / whole, vector[1] / whole)
        form[k][k], form[k + 1][k + 1], form[k + 1][k] = value1, value2, 0.0
    return form, basis


def _turn(h: Matrix, z: Matrix, k: int, cosine: Any, sine: Any) -> None:
    """h becomes G.H h G and z becomes z G, for G's columns (c, s) and (-s*, c*) in rows k and k + 1."""
    c, s = cosine.conjugate(), sine.conjugate()
    first, second = h[k], h[k + 1]
    h[k] = [c * a + s * b for a, b in zip(first, second, strict=True)]
    h[k + 1] = [cosine * b - sine * a for a, b in zip(first, second, strict=True)]
    for row in (*h, *z):
        a, b = row[k], row[k + 1]
        row[k], row[k + 1] = cosine * a + sine * b, c * b - s * a


def _triangularise(h: Matrix, z: Matrix) -> None:
    """Makes a complex Hessenberg matrix triangular by QR steps with Wilkinson's shift (GVL 7.3 and 7.5)."""
    high, tries = len(h) - 1, 0
    whole = length(element for row in h for element in row)
    while high > 0:
        low = _start(h, high, whole)
        if low == high:
            high, tries = high - 1, 0
            continue
        tries += 1
        if tries > _SWEEPS * 10:
            break
        shift = _wilkinson(h, high) if tries % 10 else h[high][high] + magnitude(h[high][high - 1])
        # The implicit QR step: the first rotation is that of h - shift, the others chase the bulge that it leaves.
        x, y = h[low][low] - shift, h[low + 1][low]
        for k in range(low, high):
            size = length((x, y))
            if size:
                _turn(h, z, k, x / size, y / size)
            if k > low:
                h[k + 1][k - 1] = 0.0
            if k < high - 1:
                x, y = h[k + 1][k], h[k + 2][k]


def _wilkinson(h: Matrix, high: int) -> Any:
    """The eigenvalue of the last block of order 2 that is nearer to its last element."""
    a, b, c, d = h[high - 1][high - 1], h[high - 1][high], h[high][high - 1], h[high][high]
    half = (a - d) / 2
    root = (half * half + b * c + 0j) ** 0.5
    if (half.conjugate() * root).real < 0:
        root = -root
    return d - b * c / (half + root) if half + root else d


def _back(form: Matrix, k: int) -> Vector:
    """The eigenvector of a triangular matrix for its k-th diagonal element (GVL 7.6.4)."""
    value = form[k][k]
    least = EPSILON * (length(element for row in form for element in row) or 1.0)
    components: Vector = [1.0]
    for i in range(k - 1, -1, -1):
        apart = form[i][i] - value
        if magnitude(apart) < least:  # a repeated eigenvalue: a nearby matrix has the vector
            apart = least
        next_component = -sum(map(mul, form[i][i + 1 : k + 1], components)) / apart
        if magnitude(next_component) > 1e100:
            components = [component * 1e-100 for component in components]
            next_component = next_component * 1e-100
        components.insert(0, next_component)
    return components + [0.0] * (len(form) - k - 1)
