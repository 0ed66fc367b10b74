"""Calls in several threads at once."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TypeVar

A = TypeVar("A")
R = TypeVar("R")


def call_in_threads(function: Callable[[A], R], *arguments: A) -> list[R]:
    """Call a function once with each argument, each in a thread of its own; the calls begin together."""
    begin = Barrier(len(arguments))

    def call(argument: A) -> R:
        begin.wait(60)
        return function(argument)

    with ThreadPoolExecutor(len(arguments)) as pool:
        return list(pool.map(call, arguments))
