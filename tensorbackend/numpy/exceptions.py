"""`numpy.exceptions`: the library's class for axes, which arrays raise, and NumPy's own classes of warnings.

Examples
--------
>>> import tensorbackend.numpy as np
>>> from tensorbackend.numpy.exceptions import AxisError
>>> try:
...     np.sum(np.ones(2), axis=1)
... except AxisError:
...     print("no such axis")
no such axis
"""

from numpy.exceptions import (
    ComplexWarning,
    DTypePromotionError,
    ModuleDeprecationWarning,
    RankWarning,
    TooHardError,
    VisibleDeprecationWarning,
)

from ..errors import AxisError

__all__ = [
    "AxisError", "ComplexWarning", "DTypePromotionError", "ModuleDeprecationWarning", "RankWarning", "TooHardError",
    "VisibleDeprecationWarning",
]  # fmt: skip
