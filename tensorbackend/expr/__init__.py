"""Graphs: `ExprBackend` records a program as nodes, and what graphs are for is a function of graphs.

`trace` gives a `Graph`; `evaluate` runs one on any backend; `simplify` rewrites one; `show` prints one.
"""
