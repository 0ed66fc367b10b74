"""Measures the time of each op, by backend and by the user's line, next to its theoretical cost.

`spans` notes when kernels begin and end, and nests these runs, `limits` measures what a machine can do, and `report`
sums, prints and writes files for viewers.
"""
