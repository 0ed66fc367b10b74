"""Whether an assignment is lost, as in `x[0][1] = 5`: `x[0]` is a new tensor, and nothing refers to it afterwards.

CPython counts references. While `t[key] = value` runs, the stack of the interpreter refers to `t`, and so does whatever
else holds it. Up to 3.13 a variable counts in addition to the stack; from 3.14 on the stack borrows a variable's
reference, so that a variable and a new tensor look the same.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from types import FrameType
from typing import Final

from ...tensor import Tensor

_TELLING: Final = (
    sys.implementation.name == "cpython" and sys.version_info < (3, 14) and "free-threading" not in sys.version
)

references: Final[Callable[[object], int]] = sys.getrefcount if _TELLING else id
"""The number of references to a tensor; where it does not tell, a number that is never small, at no more cost.

In the function that assigns it is 3 if nothing but the assignment's own code refers to the tensor: the stack of the
caller, the function's argument, and the argument of `references`.
"""


def is_lost(x: Tensor, caller: FrameType) -> bool:
    """Whether nothing will refer to a tensor with few references after the statement that assigns to it.

    A call of a function moves its arguments from the stack, so that `x.__setitem__(key, value)` counts a variable as an
    assignment counts nothing. So the caller must be at an assignment, and no container may hold the tensor, such as the
    object of a library in C that assigns on behalf of the caller.

    Parameters
    ----------
    x : Tensor
        The tensor that is assigned to, to which there are at most three `references`.
    caller : FrameType
        The frame that calls the function that assigns.

    Returns
    -------
    bool
        Whether the assignment is lost.
    """
    from opcode import opname

    operation = opname[caller.f_code.co_code[caller.f_lasti]]
    if operation not in ("STORE_SUBSCR", "STORE_SLICE"):
        return False
    return all(isinstance(holder, FrameType) for holder in gc.get_referrers(x))
