"""Calls of NumPy's functions, each a text that is run with NumPy and with the namespace in its place.

The operands are drawn: `a`, `b` and `row` are float64 of shapes (n, m), (n, m) and (m,); `i`, `j` are int64 of that
shape and `k` a line of them; `p` holds positive floats; `m`, `w` are bools; `c`, `d` are complex; `v`, `u` are lines
of floats, `s` is one that is sorted; `h` has NaN among its elements; `f4` and `i4` are float32 and int32; `M`, `N`
are square matrices, `S` is positive definite; `t` has three axes.
"""

from __future__ import annotations

from typing import Final

from . import arrays, generated, methods, namespaces, numerics

CALLS: Final = [call for family in (generated, numerics, arrays, namespaces, methods) for call in family.CALLS]
