"""Properties of devices."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import NamedTuple


class DeviceFacts(NamedTuple):
    """The properties of a backend's device; `None` for those that are not known."""

    kind: str
    """"cpu", "gpu", "tpu" or another word for the kind of device."""
    memory: int | None = None
    """The total memory in bytes."""
    processors: int | None = None
    """The number of processors: logical ones of a host, multiprocessors of a GPU."""
    description: str = ""
    """The manufacturer's name of the device."""


@cache
def host_facts() -> DeviceFacts:
    """The properties of the machine that runs the program.

    Returns
    -------
    DeviceFacts
        The facts.

    Examples
    --------
    >>> host_facts().kind
    'cpu'
    """
    try:
        memory: int | None = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not every system tells
        memory = None
    return DeviceFacts("cpu", memory, os.cpu_count(), _processor())


def _processor() -> str:
    """The name of the processor, if the system reports it."""
    import platform  # slow to import

    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.processor() or platform.machine())


def kind_of_device(device: str) -> str:
    """The kind of a device with a name such as `"cuda:1"`.

    >>> kind_of_device("cuda:1"), kind_of_device("cpu"), kind_of_device("tpu:0")
    ('gpu', 'cpu', 'tpu')
    """
    word = device.partition(":")[0]
    return "gpu" if word in ("cuda", "rocm", "metal", "mps", "xpu") else word
