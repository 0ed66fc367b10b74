"""Special functions that are written in other ops: factorials, Bessel and zeta functions, quantiles."""
