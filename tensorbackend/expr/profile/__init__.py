"""Measures the time of each op, by backend and by the user's line, beside its cost on paper.

`recorder` notes when kernels begin and end, `spans` nests these runs, `limits` measures what a machine can do, `report`
adds up and prints, and `trace_events` writes files for viewers.
"""
