"""Forked children: none waits for a lock that a thread of its parent held."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="systems that fork")

HELD = """
import os, signal, threading, tensorbackend as tb
from tensorbackend.select import default, registry, transfer
from tensorbackend.template import _intern_lock
from tensorbackend.backends.binary import BinaryBackend
from tensorbackend.protocol.core import Core

locks = [_intern_lock, default._lock, registry._lock, transfer._lock, Core._instances_lock]
held, done = threading.Event(), threading.Event()

def hold():
    for lock in locks:
        lock.acquire()
    held.set()
    done.wait()

thread = threading.Thread(target=hold)
thread.start()
held.wait()
child = os.fork()
if not child:
    signal.alarm(30)

    class Other(BinaryBackend):
        name = "other"
    tb.register_backend(Other)
    tb.zeros(1)  # looks for the default backend
    x = tb.zeros((3, 1009), names=("a", "b"), backend="other")
    x.backend_deallocate()
    os._exit(7 if x.deallocated else 1)
status = os.waitpid(child, 0)[1]
done.set()
thread.join()
print(os.waitstatus_to_exitcode(status))
"""

RACING = """
import itertools, os, signal, threading, tensorbackend as tb
numbers, stop = itertools.count(), threading.Event()
tb.zeros(2, backend="binary") + 1  # so that no child has to import anything

def intern():
    while not stop.is_set():
        tb.Template((2, next(numbers)), "f32", ("a", "b"))

threads = [threading.Thread(target=intern) for _ in range(3)]
for thread in threads:
    thread.start()
codes = set()
for _ in range(60):
    child = os.fork()
    if not child:
        signal.alarm(30)
        tb.zeros((2, next(numbers)), names=("b", "a"), backend="binary") + 1
        os._exit(7)
    codes.add(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    if codes != {7}:
        break
stop.set()
print(*codes)
"""


@pytest.mark.parametrize("program", [HELD, RACING], ids=["locks are held", "threads intern templates"])
def test_a_child_of_a_process_with_threads(program: str) -> None:
    # A child that hangs is ended by its alarm, and its parent then prints another number.
    command = [sys.executable, "-W", "ignore", "-c", program]
    found = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (found.stdout, found.stderr) == ("7\n", "")
