"""Mixed precision: products in a narrow dtype, sums in float32."""

from __future__ import annotations

from ..errors import ArgumentError, expected
from ..errors.tracebacks import name_in_errors
from ..scopes import Block
from .defaults import cast_products
from .precisions import PRODUCT_DTYPES
from .promotion import as_dtype
from .types import DTypeLike, bfloat16


@name_in_errors
def autocast(dtype: DTypeLike = bfloat16) -> Block[None]:
    """Compute products in a narrow dtype and sums in float32, for a `with` block, in this thread or task only.

    Ops that multiply matrices and convolutions cast operands of float32 and narrower to `dtype`. Reductions, cumulative
    and linear algebra ops, Fourier transforms, special functions, and functions whose results grow quickly, such as
    `exp`, cast float16 and bfloat16 to float32. All other ops take their operands as they are. float64, complex numbers
    and integers are never cast.

    Parameters
    ----------
    dtype : {bfloat16, float16}, default bfloat16
        The dtype of products.

    Returns
    -------
    Block
        The block. Blocks of `precision` inside it end the casts.

    Raises
    ------
    ArgumentError
        For another dtype.

    See Also
    --------
    optimize.scale_loss : For gradients that are too small for float16.

    Notes
    -----
    Gradients have the dtypes of the arguments, so parameters in float32 get gradients and steps in float32. Under
    `tb.jit`, write the block inside the function: a block around the calls is entered at each of them.

    References
    ----------
    Micikevicius et al., "Mixed Precision Training", ICLR 2018.

    Examples
    --------
    >>> import tensorbackend as tb
    >>> x = tb.ones((2, 2))
    >>> with tb.autocast("bfloat16"):
    ...     y = x @ x
    ...     y.dtype, (y + x).dtype, tb.sum(y).dtype
    (bfloat16, float32, float32)
    """
    narrow = as_dtype(dtype)
    if narrow in PRODUCT_DTYPES:
        return cast_products(narrow)
    raise ArgumentError(expected("a dtype of bfloat16 or float16", dtype=narrow))
