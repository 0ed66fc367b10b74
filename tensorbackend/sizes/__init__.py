"""Symbolic sizes: the sizes of axes as expressions, so that what is decided for one shape can be reused for others.

A rule, a planner or a user's function runs once on an example whose sizes are `Size`s. Arithmetic on them makes
expressions. A comparison is answered by the example and noted as a *guard*. The decisions then hold for every shape
with the same answers:

    f32[5][3] + f32[3]     the rule compares 5 == 3 and 3 == 3 of the sizes a0_0, a0_1 and a1_0
    guards                 a0_0 != a1_0, a0_1 == a1_0
    result                 (a0_0, a0_1)

`SizeTrace.function` is that knowledge as a compiled function of shapes. A use that needs the number itself, such as
`range(size)`, raises `NeedsSizes`: the decisions then depend on more than comparisons.

A `Size` is not an `int`: code in C would read the number of an int without a trace.
"""

from .size import NeedsSizes as NeedsSizes
from .size import Size as Size
from .size import apply as apply
from .size import index as index
from .size import is_size as is_size
from .size import is_symbolic as is_symbolic
from .size import maximum as maximum
from .size import source_of as source_of
from .trace import Shape as Shape
from .trace import ShapeFunction as ShapeFunction
from .trace import SizeTrace as SizeTrace
