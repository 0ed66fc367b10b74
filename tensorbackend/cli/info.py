"""Shows the backends, built in and from plugins: whether each is ready, or what is missing or can be installed.

The exit status is 0, but 1 if a backend that was requested by name is not ready.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from typing import NamedTuple

from .. import fft, linalg, random  # noqa: F401 # their ops are declared too
from ..declarations.op_specs import CALLBACKS, list_implementations, overridable, unreached
from ..dispatch.native_calls import NATIVE, Call
from ..errors import BackendError
from ..protocol.owners import reuses_operands
from ..select import DISTRIBUTIONS, backend_class, backends, get_backend, origin
from ._common import print_table

COLUMNS = ("backend", "from", "versions", "devices", "state", "callbacks", "composites")


class Report(NamedTuple):
    """One backend as found on this machine."""

    name: str
    origin: str | None
    """"built in", "registered", or the distribution whose plugin it is; `None` for a name that nothing declares."""
    ready: bool
    error: str | None
    """Why it is not ready, with the remedy."""
    versions: Mapping[str, str]
    devices: tuple[str, ...]
    callbacks: int | None
    """The number of primitives that its class defines; `None` where the class cannot be imported."""
    composites: int | None
    """The number of composites that its class overrides; the others run by their defaults in other ops."""
    unreached: tuple[str, ...] = ()
    """What is wrong with its methods that nothing calls."""


def report(name: str) -> Report:
    """A report on the backend of a name; an exception of its module becomes part of the report."""
    versions: Mapping[str, str] = {}
    devices: tuple[str, ...] = ()
    callbacks = composites = error = None
    wrong: list[str] = []
    try:
        callbacks, composites = map(len, list_implementations(backend_class(name)))
        wrong = unreached(backend_class(name))
        backend = get_backend(name)
        versions, devices = dict(backend.versions()), tuple(backend.devices())
    except BackendError as failure:
        error = str(failure)
    except Exception as failure:  # raised by a stranger's backend
        error = f"{type(failure).__name__}: {failure}"
    return Report(name, origin(name), error is None, error, versions, devices, callbacks, composites, tuple(wrong))


def arguments(parser: ArgumentParser) -> None:
    """Declares the command's arguments."""
    parser.add_argument("names", nargs="*", metavar="NAME", help="a backend; all of them by default")
    parser.add_argument("--json", action="store_true", help="for programs: one JSON object on standard output")


def run(options: Namespace) -> int:
    """Prints a row for each backend, and below the table why any of them is not ready."""
    reports = [report(name) for name in options.names or backends()]
    callbacks = sum(not callback.optional for callback in CALLBACKS.values())
    composites = len(overridable())
    others = {name: distribution for name, distribution in DISTRIBUTIONS.items() if name not in backends()}
    if options.json:
        records = [backend_report._asdict() for backend_report in reports]
        facts = {
            "callbacks": callbacks,
            "composites": composites,
            "reuses_operands": reuses_operands(),
            "native_calls": Call is not None,
        }
        more = [{"name": name, "distribution": distribution} for name, distribution in others.items()]
        print(json.dumps({**facts, "backends": records, "not_installed": more}, indent=2))
    else:
        print_table(COLUMNS, [_row(backend_report, callbacks, composites) for backend_report in reports])
        for backend_report in reports:
            for line in filter(None, (backend_report.error, *backend_report.unreached)):
                print(f"{backend_report.name}: {line}")
        if others and not options.names:
            print(f"not installed: {', '.join(f'{name} ({other})' for name, other in others.items())}")
        if NATIVE is not None and Call is not None:
            print(f"tensorbackend-native {NATIVE.__version__}: warm calls run in C")
        if not reuses_operands():
            print(f"python {sys.version.split()[0]}: compiled programs on NumPy write no result over an operand")
    return 1 if options.names and not all(backend_report.ready for backend_report in reports) else 0


def _row(backend_report: Report, callbacks: int, composites: int) -> tuple[str, ...]:
    return (
        backend_report.name,
        backend_report.origin or "",
        ", ".join(f"{library} {version}" for library, version in backend_report.versions.items()),
        ", ".join(backend_report.devices),
        "ready" if backend_report.ready else "not ready",
        "" if backend_report.callbacks is None else f"{backend_report.callbacks}/{callbacks}",
        "" if backend_report.composites is None else f"{backend_report.composites}/{composites}",
    )
