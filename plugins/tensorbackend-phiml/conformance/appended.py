"""A pytest plugin, `-p appended`, that runs PhiML's own tests with our backends.

`OURS=numpy,jax` appends the adapters over these backends to PhiML's backends before the tests are collected, so that a
test that loops over all backends includes ours. `DEFAULT=ours:jax`, or `jax` for PhiML's own, sets the default backend
of each test. A test that takes more than `LIMIT` seconds fails.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest
from phiml.backend import NUMPY, set_global_default_backend
from phiml.backend._backend import get_backend, init_installed_backends

import tensorbackend_phiml

init_installed_backends()  # PhiML's own come first, in their order

for _name in filter(None, os.environ.get("OURS", "").split(",")):
    tensorbackend_phiml.backend(_name)


def chosen(name: str) -> Any:
    """PhiML's backend of a name, or with the prefix "ours:" the adapter over our backend of that name."""
    kind, _, of_ours = name.partition(":")
    return tensorbackend_phiml.backend(of_ours) if of_ours else get_backend(kind)


LIMIT = 600


def _too_long(number: int, frame: object) -> None:
    raise TimeoutError(f"a test took more than {LIMIT} seconds")


_default = chosen(os.environ.get("DEFAULT") or "numpy")


@pytest.fixture(autouse=True)
def default_backend() -> Iterator[None]:
    """Set the default backend before each test, whatever the previous test left, and limit its time."""
    set_global_default_backend(_default)
    signal.signal(signal.SIGALRM, _too_long)
    signal.alarm(LIMIT)
    yield
    signal.alarm(0)
    set_global_default_backend(NUMPY)
