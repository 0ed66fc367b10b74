"""Graphs: `ExprBackend` records a program as nodes, and transformations are functions of graphs.

`trace` returns a `Graph`; `evaluate` runs one on any backend; `simplify` rewrites one; `show` prints one.
"""
