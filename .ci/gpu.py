"""Proves the backends of a GPU by one command, `make gpu`, and writes what it saw to gpu-report.md.

    python .ci/gpu.py [--cuda 12] [--full] [--installed]

What needs no GPU runs first: CuPy has each function that the code names, and what it makes of fused chains compiles.
Where no GPU is found, a line says so and the exit status is 1. Otherwise JAX and PyTorch for CUDA are installed, and
the tests, the kit, the property tests and the benchmarks run on all three. A backend that is not ready fails.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
REPORT = ROOT / "gpu-report.md"
KIT = "gpu-report-{}.json"
"""The report of the kit on a backend."""
PLUGIN = "plugins/tensorbackend-torch"
LINES = 80
"""How many of the last lines of a step the report holds."""
SECONDS = 600
"""The time of all steps on a GPU without `--full`; what is left of it limits each."""

PACKAGES = ("tensorbackend", "numpy", "cupy-cuda12x", "cupy-cuda13x", "jax", "jaxlib", "torch")

COUNT = "import cupy; print(cupy.cuda.runtime.getDeviceCount())"
READY = """
import sys
import tensorbackend as tb
name = sys.argv[1]
devices = tb.devices(name, kind="gpu")
assert devices, f"the backend {name} sees no GPU"
x = tb.ones((256, 256), backend=tb.get_backend(name, device=devices[0]))
assert float(tb.sum(x @ x)) == 256.0**3
print(*devices)
"""


class Step(NamedTuple):
    """One command of the proof."""

    title: str
    command: Sequence[str]
    environment: dict[str, str]


class Outcome(NamedTuple):
    """What became of a step."""

    title: str
    passed: bool
    seconds: float
    output: str


def python(*arguments: str) -> list[str]:
    """A command of the Python that runs this."""
    return [sys.executable, *arguments]


def pytest(*arguments: str) -> list[str]:
    """A command of pytest."""
    # pytest-benchmark, which an image may bring, warns of processes, and warnings are errors.
    return python("-m", "pytest", "-p", "no:cacheprovider", "-p", "no:benchmark", "-rs", *arguments)


def steps_without_gpu() -> list[Step]:
    """What can be proven on any machine."""
    tests = ("tests/backends/test_cupy_module_names.py", "tests/backends/test_cupy_backend_kernels.py")
    return [Step("CuPy's functions and the kernels of fused chains", pytest(*tests), {})]


def steps_on_gpu(full: bool) -> list[Step]:
    """What a machine with a GPU has to show."""
    examples = {"TENSORBACKEND_EXAMPLES": "200"} if full else {}
    quick = [] if full else ["--quick"]
    required = {"TENSORBACKEND_GPU": "required", "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
    processes = str(os.cpu_count() or 1)
    kit = ("-m", "tensorbackend", "check", "--jobs", processes)
    backends = ("cupy", "jax", "torch")
    return [
        *(Step(f"{name} is ready", python("-c", READY, name), required) for name in backends),
        Step(
            "tests that need a GPU", pytest("tests/project/test_gpu.py", "tests/testing/test_divergences.py"), required
        ),
        Step("calls next to CuPy's own", python("benchmarks/cupy_calls.py"), {"TENSORBACKEND_CHECK": "0"}),
        Step("predicted and measured memory", python("benchmarks/gpu.py"), required),
        *(
            Step(f"the kit on {name}", python(*kit, name, *device, *quick, "--report", KIT.format(name)), required)
            for name, device in (("cupy", ()), ("torch", ("--device", "cuda:0")), ("jax", ()))
        ),
        Step(
            "property tests on cupy",
            pytest("-n", processes, "property_tests/test_ops.py"),
            {**required, "TENSORBACKEND_BACKENDS": "cupy", **examples},
        ),
    ]


def run(step: Step, limit: float | None) -> Outcome:
    """Runs a step; one that takes longer than the limit has not passed."""
    print(f"{step.title} ...", flush=True)
    start = time.monotonic()
    try:
        done = subprocess.run(
            step.command,
            cwd=ROOT,
            env={**os.environ, **step.environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=limit,
            check=False,
        )
        passed, output = done.returncode == 0, done.stdout
    except subprocess.TimeoutExpired as stopped:
        passed = False
        output = f"{(stopped.stdout or b'').decode(errors='replace')}\nstopped after {limit:.0f} s"
    seconds = time.monotonic() - start
    print(f"    {'passed' if passed else 'FAILED'} in {seconds:.0f} s", flush=True)
    return Outcome(step.title, passed, seconds, output)


def gpus() -> int:
    """How many GPUs CuPy sees; 0 also without a driver."""
    found = subprocess.run(python("-c", COUNT), capture_output=True, text=True, check=False)
    return int(found.stdout) if found.returncode == 0 else 0


def install(cuda: str) -> None:
    """Installs what the steps on a GPU need."""
    command = python("-m", "pip", "install", "-q", "--disable-pip-version-check")
    extra = f"-e.[cuda{cuda},jax,cli,test]"
    subprocess.run([*command, extra, f"jax[cuda{cuda}]", "torch"], cwd=ROOT, check=True)
    subprocess.run([*command, "--no-deps", "-e", f"./{PLUGIN}"], cwd=ROOT, check=True)


def machine() -> str:
    """The GPUs and the driver as NVIDIA's tool names them, and the versions of the packages."""
    query = ["nvidia-smi", "--query-gpu=name,memory.total,driver_version", "--format=csv,noheader"]
    try:
        cards = subprocess.run(query, capture_output=True, text=True, check=False).stdout.strip()
    except FileNotFoundError:
        cards = ""
    versions = []
    for package in PACKAGES:
        try:
            versions.append(f"{package} {metadata.version(package)}")
        except metadata.PackageNotFoundError:
            continue
    return f"GPU: {cards or 'none'}\n\nPython {sys.version.split()[0]}, {', '.join(versions)}\n"


def write_report(outcomes: Sequence[Outcome]) -> None:
    """Writes the outcomes, with the output of measurements and of what failed."""
    lines = ["# The backends on this machine's GPU", "", machine(), "| step | outcome | seconds |", "|---|---|---|"]
    lines += [f"| {each.title} | {'passed' if each.passed else 'FAILED'} | {each.seconds:.0f} |" for each in outcomes]
    for each in outcomes:
        lines += ["", f"## {each.title}", "", "```", *each.output.rstrip().splitlines()[-LINES:], "```"]
    REPORT.write_text("\n".join(lines) + "\n")


def main() -> int:
    """Runs all steps; returns 1 if one failed or no GPU was found."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--cuda", choices=("12", "13"), default="12", help="the version of CUDA (default: 12)")
    parser.add_argument("--full", action="store_true", help="more examples, and no limit of time")
    parser.add_argument("--installed", action="store_true", help="installs nothing: JAX and PyTorch for CUDA are here")
    options = parser.parse_args()
    outcomes: list[Outcome] = []

    def take(step: Step, limit: float | None = None) -> None:
        outcomes.append(run(step, limit))
        write_report(outcomes)  # after each step: what was seen is kept if the next one is interrupted

    for step in steps_without_gpu():
        take(step)
    found = gpus()
    if found:
        if not options.installed:
            install(options.cuda)
        end = time.monotonic() + SECONDS
        for step in steps_on_gpu(options.full):
            take(step, None if options.full else max(1.0, end - time.monotonic()))
    for each in outcomes:
        if not each.passed:
            print(f"{each.title}: failed\n{each.output[-4000:]}")
    print(f"the report is in {REPORT.name}")
    if not found:
        print("gpu: expected an NVIDIA GPU with its driver, got none; nothing was proven but what needs none")
    return int(not found or not all(each.passed for each in outcomes))


if __name__ == "__main__":
    sys.exit(main())
