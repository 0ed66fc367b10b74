"""The environment of the measurements: package versions, Python, the machine, and one thread for every library."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version

PACKAGES = (
    "tensorbackend", "tensorbackend-torch", "numpy", "torch", "jax", "jaxlib", "array-api-compat", "array-api-strict",
    "xarray", "autoray", "keras", "phiml",
)  # fmt: skip

ONE_THREAD = {
    **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "TENSORBACKEND_THREADS"), "1"),
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
    "JAX_CPU_ENABLE_ASYNC_DISPATCH": "false",
    "JAX_PLATFORMS": "cpu",
}
"""Environment variables that libraries read when they are imported."""


def versions() -> dict[str, str]:
    """Return the versions of all packages.

    Raises
    ------
    ModuleNotFoundError
        If a package is not installed, so that no peer is left out silently.
    """
    installed, lacking = {}, []
    for package in PACKAGES:
        try:
            installed[package] = version(package)
        except PackageNotFoundError:
            lacking.append(package)
    if lacking:
        raise ModuleNotFoundError(
            f"peers: expected all packages, lacking {', '.join(lacking)}; make peers installs them"
        )
    return installed


def described() -> dict[str, object]:
    """Return versions, and a description of the machine without its name."""
    return {
        "packages": versions(),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "system": platform.system(),
        "processor": platform.machine(),
        "cores": os.cpu_count(),
    }


def variables(keras: str) -> dict[str, str]:
    """Return the environment variables of a measuring process, with the backend of Keras."""
    return {**os.environ, **ONE_THREAD, "KERAS_BACKEND": keras, "TENSORBACKEND_CHECK": "0"}


def settle() -> None:
    """Keeps this process on one core if the system allows, as some libraries start a thread for each core."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
