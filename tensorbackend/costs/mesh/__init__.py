"""The costs of a graph on a mesh of devices, computed from the graph alone: no device and no array library is needed.

`factors` says which axes of a call correspond, `walk` makes the program of one device with its collectives, `machines`
has the limits of machines, `divided` the report of a dry run, and `search` tries layouts.
"""
