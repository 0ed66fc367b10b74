"""Measures the time of each op, by backend and by the user's line, next to its theoretical cost.

`recorder` notes when kernels begin and end, `spans` nests these runs, `limits` measures what a machine can do,
`report` sums and prints, and `trace_events` writes files for viewers.
"""
