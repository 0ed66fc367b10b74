"""No thread waits for good for a lock that an interrupted thread, or one of the parent process, held."""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import tensorbackend
from tensorbackend.caching import Lock

forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="systems that fork")


def test_an_interrupt_leaves_no_lock_held(
    repeat_until_interrupted: Callable[[Callable[[], object], float], None],
) -> None:
    """Half of such interrupts leave a lock of `threading` held on Python 3.14."""
    lock, rng = Lock(), random.Random(0)

    def hold() -> None:
        for _ in range(100):
            with lock:
                pass

    for _ in range(int(os.environ.get("TENSORBACKEND_INTERRUPTS", "200"))):
        repeat_until_interrupted(hold, rng.uniform(5e-5, 3e-4))
        assert taken_elsewhere(lock)


def test_an_interrupted_wait_leaves_the_lock_to_its_owner(
    repeat_until_interrupted: Callable[[Callable[[], object], float], None],
) -> None:
    lock, end = Lock(), threading.Event()
    held = threading.Event()

    def hold() -> None:
        with lock:
            held.set()
            end.wait()

    owner = threading.Thread(target=hold)
    owner.start()
    held.wait()
    repeat_until_interrupted(lock.__enter__, 0.01)
    assert not taken_elsewhere(lock)
    end.set()
    owner.join()
    assert taken_elsewhere(lock)


def taken_elsewhere(lock: Lock) -> bool:
    """Whether another thread can take the lock."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(take, lock).result()


def take(lock: Lock) -> bool:
    """Whether the lock could be taken; it is free again."""
    taken = lock.acquire(timeout=0.05)
    if taken:
        lock.release()
    return taken


HELD = """
import importlib, os, pkgutil, signal, sys, threading, tensorbackend as tb
from tensorbackend.backends.binary import BinaryBackend

for module in pkgutil.walk_packages(tb.__path__, "tensorbackend."):
    if not module.name.endswith(("__main__", ".xarray")) and "cupy" not in module.name:
        importlib.import_module(module.name)

kinds = type(threading.RLock()), type(threading.Lock())  # a `Lock` of ours is an RLock
owners = [module for name, module in list(sys.modules.items()) if name.partition(".")[0] == "tensorbackend"]
owners += [member for owner in owners for member in vars(owner).values() if isinstance(member, type)]
locks = {id(member): member for owner in owners for member in vars(owner).values() if isinstance(member, kinds)}
assert len(locks) > 8, locks
compiled = tb.jit(lambda x: x + 1, cache_size=1)
held, done = threading.Event(), threading.Event()

def hold():
    for lock in locks.values():
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
    compiled(tb.zeros(2)), compiled(tb.zeros(3))
    matrix = tb.sparse.eye(3)
    tb.solvers.solve(matrix, tb.ones(3), method="direct")
    with tb.profile() as profile:
        tb.zeros(3) + 1
    os._exit(7 if x.deallocated and profile.rows() and compiled.cache_info().misses == 2 else 1)
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
for _ in range(20):
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


@forks
@pytest.mark.parametrize("program", [HELD, RACING], ids=["locks are held", "threads intern templates"])
def test_a_child_of_a_process_with_threads(program: str) -> None:
    # An alarm ends a child that hangs, and its parent then prints another number.
    command = [sys.executable, "-W", "ignore", "-c", program]
    completed = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (completed.stdout, completed.stderr) == ("7\n", "")


def test_every_lock_is_an_attribute_that_a_child_exchanges() -> None:
    # A child cannot replace locks inside objects, nor the lock of `cached_property`, which exists until Python 3.11.
    package = Path(tensorbackend.__file__).parent
    for path in sorted(set(package.rglob("*.py")) - {package / "caching" / "__init__.py"}):
        text = path.read_text(encoding="utf-8")
        created = re.findall(r"\b(?:R?Lock|Condition|Semaphore|Barrier)\(\)", text)
        owned = re.findall(r"^(?:    )?\w+(?:: .+)? = (?:threading\.)?RLock\(\)$", text, re.MULTILINE)
        exchanged = re.findall(r"^free_in_child\(", text, re.MULTILINE)
        assert len(created) == len(owned) == len(exchanged), path
        assert not re.search(r"^[^#\n]*\bcached_property\b", text, re.MULTILINE), path
