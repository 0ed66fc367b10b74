"""The costs of a graph on a mesh of devices, by a walk over the graph alone: no device and no array library is needed.

`factors` says which axes of a call go together, `walk` makes the program of one device with its collectives, `machines`
has what machines can do, `divided` is what a dry run reports of it, and `search` tries layouts.
"""
