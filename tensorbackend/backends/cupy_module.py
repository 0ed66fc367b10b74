"""CuPy as the array module that the shared body is written for: NumPy's functions with NumPy's answers.

This module defines the functions that CuPy 14 lacks or answers differently; all others are CuPy's own. In CuPy, `where`
and some logical functions have no loop for some dtypes, an array that is filled with -0.0 holds 0.0, shifts by the
width return what the processor returns, float division rounds before it takes the floor, functions are wrong at the
ends of a dtype's range, and failures of linear algebra are only raised on request.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..dtypes import bfloat16
from ..interchange import numpy_dtype
from .array_module.complex_functions import log_of_magnitude, squared_modulus_minus_one
from .array_module.module import Array, ArrayModule


class CupyModule(ArrayModule):
    """The functions of CuPy, some of them made to answer as NumPy's do."""

    keeps_specials = frozenset({"arctan", "arctanh", "cos", "cosh", "exp", "sqrt"})
    multiplies_by_parts = True

    def __init__(self, cupy: Any, cupyx: Any) -> None:
        super().__init__(cupy)
        self._cupy = cupy
        self.linalg = CupyLinalg(cupy, cupyx)

    # Arrays of host numbers: CuPy fills memory with zeros for every number that equals zero, also for -0.0

    def asarray(self, value: Any, dtype: Any = None) -> Array:
        """An array with the elements of a number or an array; a host array is copied to the device."""
        cupy = self._cupy
        if isinstance(value, cupy.ndarray):
            return cupy.asarray(value, dtype)
        import numpy

        host = numpy.asarray(value, dtype)
        return cupy.asarray(numpy.atleast_1d(host)).reshape(host.shape)

    # Functions without a loop for bfloat16 or complex numbers

    def where(self, condition: Array, x: Any, y: Any) -> Array:
        """Elements of x where the condition is true, else of y; bfloat16 is treated as its bits."""
        narrow = numpy_dtype(bfloat16)
        if narrow not in (getattr(x, "dtype", None), getattr(y, "dtype", None)):
            return self._cupy.where(condition, x, y)
        return self._cupy.where(condition, x.view("uint16"), y.view("uint16")).view(narrow)

    def logical_and(self, x: Array, y: Array) -> Array:
        """Whether both elements are nonzero."""
        return (x != 0) & (y != 0)

    def logical_or(self, x: Array, y: Array) -> Array:
        """Whether at least one element is nonzero."""
        return (x != 0) | (y != 0)

    def logical_xor(self, x: Array, y: Array) -> Array:
        """Whether exactly one element is nonzero."""
        return (x != 0) ^ (y != 0)

    def logical_not(self, x: Array) -> Array:
        """Whether the element is zero."""
        return x == 0

    def logaddexp(self, x: Array, y: Array) -> Array:
        """log(exp(x) + exp(y)); bfloat16 is computed in float32."""
        return self._cupy.logaddexp(x, y).astype(x.dtype, copy=False)

    # Integers

    def left_shift(self, x: Array, y: Any, out: Array | None = None) -> Array:
        """Bits moved up; a shift by the width or more leaves none."""
        if not isinstance(y, self._cupy.ndarray):  # a Python number, which is below the width
            return self._cupy.left_shift(x, y, out)
        beyond = (y < 0) | (y >= 8 * x.dtype.itemsize)
        return self._cupy.where(beyond, 0, self._cupy.left_shift(x, self._cupy.where(beyond, 0, y)))

    def right_shift(self, x: Array, y: Array) -> Array:
        """Bits moved down; a shift by the width or more leaves only the sign."""
        width = 8 * x.dtype.itemsize
        beyond = (y < 0) | (y >= width)
        if x.dtype.kind == "i":
            return self._cupy.right_shift(x, self._cupy.where(beyond, width - 1, y))
        return self._cupy.where(beyond, 0, self._cupy.right_shift(x, self._cupy.where(beyond, 0, y)))

    # Division of floats by way of fmod, which is exact

    def remainder(self, x: Array, y: Array) -> Array:
        """The remainder of x / y, with the sign of y."""
        cupy = self._cupy
        if x.dtype.kind != "f":
            return cupy.remainder(x, y)
        rest = cupy.fmod(x, y)
        turned = cupy.where((rest != 0) & ((y < 0) != (rest < 0)), rest + y, rest)
        return cupy.where(rest == 0, cupy.copysign(rest, y), turned)

    def floor_divide(self, x: Array, y: Array) -> Array:
        """The largest whole number that is not above x / y."""
        cupy = self._cupy
        if x.dtype.kind != "f":
            return cupy.floor_divide(x, y)
        rest = cupy.fmod(x, y)
        quotient = (x - rest) / y  # a whole number, except for its rounding
        quotient = cupy.where((rest != 0) & ((y < 0) != (rest < 0)), quotient - 1.0, quotient)
        whole = cupy.floor(quotient)
        whole = cupy.where(quotient - whole > 0.5, whole + 1.0, whole)
        whole = cupy.where(quotient == 0, cupy.copysign(quotient, x / y), whole)
        return cupy.where(y == 0, x / y, whole)

    # The ends of the dtypes' ranges

    def nextafter(self, x: Array, y: Array) -> Array:
        """The next number after x towards y by the bits: CuPy compiles with -ftz=true, and steps from infinity to NaN.

        Bits without their sign count the numbers from zero on: 1.0 is the 1,065,353,216th of float32.
        """
        cupy = self._cupy
        if x.dtype.itemsize == 8:
            return cupy.nextafter(x, y)
        x, y = cupy.broadcast_arrays(x, y)
        integer, least = f"int{8 * x.dtype.itemsize}", -1 << (8 * x.dtype.itemsize - 1)
        bits, goal = (operand.view(integer).astype("int64") for operand in (x, y))
        at, towards = (cupy.where(pattern < 0, least - pattern, pattern) for pattern in (bits, goal))
        successor = at + cupy.sign(towards - at)
        # A step to zero keeps the sign of x; a step from zero has the sign of its direction.
        negative = (successor < 0) | ((successor == 0) & (bits < 0))
        turned = cupy.where(negative, least - successor, successor).astype(integer).view(x.dtype)
        return self.where(cupy.isnan(x) | cupy.isnan(y), x + y, turned)

    def hypot(self, x: Array, y: Array) -> Array:
        """The root of the sum of two squares; CUDA's, which may be 2 ulps off, overflows near the largest numbers."""
        cupy = self._cupy
        if x.dtype.char == "f":
            return cupy.hypot(x.astype("float64"), y.astype("float64")).astype("float32")
        root = cupy.hypot(x, y)
        if x.dtype.char != "d":  # computed in float32
            return root
        x, y = cupy.abs(x), cupy.abs(y)
        larger = cupy.maximum(x, y)
        ratio = cupy.minimum(x, y) / larger
        return cupy.where(cupy.isinf(root) & cupy.isfinite(larger), larger * cupy.sqrt(1.0 + ratio * ratio), root)

    def abs(self, x: Array) -> Array:
        """The absolute value; the distance of a complex number from zero."""
        return self._cupy.abs(x) if x.dtype.kind != "c" else self.hypot(x.real, x.imag)

    def if_any(self, where: Array, function: Callable[[], Array], otherwise: Array) -> Array:
        """Calls the function only if a flag is true: waiting for that takes less time than the kernels of a table."""
        return function() if bool(where.any()) else otherwise

    def of_complex(self, name: str, z: Array, *, odd: bool = False) -> Array:
        """Calls CuPy's function in complex128, whose subnormal numbers CuPy keeps.

        The logarithm is computed from real functions: CuPy's loses digits near the unit circle and overflows early.
        """
        if name != "log":
            return getattr(self._cupy, name)(z.astype("complex128")).astype(z.dtype)
        a, b = z.real.astype("float64"), z.imag.astype("float64")
        size = log_of_magnitude(self, a, b, squared_modulus_minus_one(self, a, b), self._cupy.log1p)
        return self.join(size, self._cupy.arctan2(b, a)).astype(z.dtype)

    # Positions: of several NaN CuPy returns any

    def argmax(self, x: Array, axis: int | None = None) -> Array:
        """The place of the first of the largest elements, or of the first NaN."""
        return self._first("argmax", x, axis)

    def argmin(self, x: Array, axis: int | None = None) -> Array:
        """The index of the first minimum, or of the first NaN."""
        return self._first("argmin", x, axis)

    def _first(self, name: str, x: Array, axis: int | None) -> Array:
        cupy = self._cupy
        positions = getattr(cupy, name)(x, axis=axis)
        if x.dtype.kind != "f":
            return positions
        missing = cupy.isnan(x)
        return cupy.where(missing.any(axis=axis), cupy.argmax(missing, axis=axis), positions)

    # Matrices: for empty ones of bfloat16 CuPy returns float32

    def tril(self, x: Array, k: int = 0) -> Array:
        """The matrix with zeros above a diagonal."""
        return self._cupy.tril(x, k).astype(x.dtype, copy=False)

    def triu(self, x: Array, k: int = 0) -> Array:
        """The matrix with zeros below a diagonal."""
        return self._cupy.triu(x, k).astype(x.dtype, copy=False)


class CupyLinalg:
    """`cupy.linalg`, whose failures are raised as NumPy raises them, and which broadcasts as NumPy does."""

    def __init__(self, cupy: Any, cupyx: Any) -> None:
        self._cupy, self._cupyx = cupy, cupyx

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cupy.linalg, name)

    def cholesky(self, matrix: Array) -> Array:
        """The lower factor; `LinAlgError` where a matrix is not positive definite."""
        with self._cupyx.errstate(linalg="raise"):
            return self._cupy.linalg.cholesky(matrix)

    def solve(self, matrix: Array, right: Array) -> Array:
        """x with matrix @ x = right, stacks broadcast; `LinAlgError` where a matrix is singular."""
        cupy = self._cupy
        if right.ndim == 1:
            return self.solve(matrix, right[:, None])[..., 0]
        size, columns = right.shape[-2:]
        stack = cupy.broadcast_shapes(matrix.shape[:-2], right.shape[:-2])
        shape = (*stack, size, columns)
        if not matrix.size or not columns:
            if matrix.size:  # the matrix may be singular even without right-hand sides
                self.solve(matrix, cupy.zeros((size, 1), matrix.dtype))
            return cupy.zeros(shape, matrix.dtype)
        matrix = cupy.broadcast_to(matrix, (*stack, size, size))
        if 0 in stack:
            return cupy.zeros(shape, matrix.dtype)
        with self._cupyx.errstate(linalg="raise"):
            return cupy.linalg.solve(matrix, cupy.broadcast_to(right, shape))

    def eig(self, matrix: Array) -> tuple[Array, Array]:
        """Eigenvalues and eigenvectors, computed on the host where the GPU's libraries lack LAPACK's `geev`."""
        cupy = self._cupy
        try:
            values, vectors = cupy.linalg.eig(matrix)
        except RuntimeError as error:  # CUDA's errors are RuntimeErrors too, and CuPy has no public test for geev
            if "geev" not in str(error):
                raise
            import numpy

            values, vectors = map(cupy.asarray, numpy.linalg.eig(cupy.asnumpy(matrix)))
        return values, vectors
