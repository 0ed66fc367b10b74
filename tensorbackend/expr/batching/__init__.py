"""Graphs of one example as graphs of a batch: what `vmap` is made of.

`engine` goes through a graph, `registry` keeps the rules of ops that need one of their own; the other modules are those
rules, by family of the protocol. All other ops follow from what they declare.
"""
