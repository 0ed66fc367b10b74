"""When what comes again is made quicker: the numbers that decide it."""

from __future__ import annotations

from typing import Final, NamedTuple


class Policy(NamedTuple):
    """How many calls, shapes or plans it takes; a name says what is counted."""

    shapes_before_symbolic: int = 2
    """So many shapes of a kind are planned exactly before it is planned on symbolic sizes; of `jit`, too."""
    calls_before_exact: int = 4
    """A shape that a plan by kind served so often becomes a call that is ready. In a network a new shape occurs in
    several layers."""
    calls_before_exact_program: int = 8
    """A shape that a program of `jit` for many sizes served so often is compiled exactly."""
    plans_of_a_kind: int = 8
    """The most plans or programs of one kind. They differ in the answers to guards, such as whether a size is 1."""
    shapes_counted: int = 4096
    """The most shapes of a plan whose calls are counted."""
    calls_before_body: int = 6
    """A function of the NumPy namespace runs op by op so often before it becomes a program."""
    calls_before_compiling: int = 16
    """The call at which the program of a gradient is compiled, which takes some milliseconds."""
    compilations_before_warning: int = 16
    """So many compilations that differ in one option or in sizes alone lead to a warning."""


POLICY: Final = Policy()
