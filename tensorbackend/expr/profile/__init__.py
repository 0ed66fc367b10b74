"""Measured time: of each op, by backend and by the user's line, beside its cost on paper.

`recorder` notes when kernels begin and end, `spans` puts one inside the other, `limits` knows what a machine can do,
`report` adds up and prints, `trace_events` writes files for viewers.
"""
