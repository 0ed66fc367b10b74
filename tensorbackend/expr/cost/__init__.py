"""The cost of a graph, computed before it runs: operations, bytes moved, memory over time.

`flops` has a rule for each callback, `work` the costs of nodes, `memory` the lifetimes of values, `report` the table
and `chart` the chart; `dry_run` is the public function.
"""
