"""Notebooks with settings of their own, and what differs from PhiML's results, with reasons."""

from __future__ import annotations

STEPS: dict[str, str] = {
    "grids/Taylor_Green": "all",  # later cells compare all steps with the exact solution
}
"""The steps of a notebook that is not cut like the others."""

BITS: dict[str, str] = {
    "optim/Learn_Potential": "32",  # PhiML's networks on JAX have no parameters at 64 bits
    "optim/Learn_Throw": "32",  # likewise
}
"""The precision of a notebook that is not computed in 64 bits."""

REFERENCES: dict[str, str] = {
    "optim/Learn_Potential": "torch",  # PhiML's NumPy has no networks, and its Adam on JAX does not count its steps
    "optim/Learn_Throw": "torch",  # likewise
}
"""PhiML's backend with which ours are compared, where it is neither NumPy nor, if NumPy fails, JAX."""

UNDETERMINED: dict[tuple[str, str], str] = {
    ("grids/Batched_Smoke", "p_trj:3"): (
        "each of its three pressures is determined up to a constant, of which PhiML's solve fixes one for all three; "
        "rounding chooses the others"
    ),
}
"""The reason for each array of a notebook that is not compared."""

ON_GRID_LINES = (
    "edges of obstacles and points of its advection lie on grid lines, where rounding chooses the cell; one of 20,000 "
    "points gets another where JAX compiles; uncompiled, PhiML's JAX agrees. If a velocity changes by 1e-15 of itself, "
    "PhiML's NumPy changes by 1.8 of the largest number"
)
UNCOUNTED = "its Adam does not count its steps"

EXCEPTIONS: dict[tuple[str, str], str] = {
    ("grids/Moving_Obstacles", "jax"): ON_GRID_LINES,
    ("optim/Learn_Potential", "jax"): UNCOUNTED,
}
"""The reason for each notebook and backend of ours where a notebook that PhiML runs fails or has other results.

Those of PhiML's that have other results than the reference can be listed too.
"""
