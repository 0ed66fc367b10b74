"""Versions of jaxlib that compute wrong results on a CPU."""

from __future__ import annotations

import os
import warnings
from typing import Final

from ...errors import FaultyVersionWarning
from ...expr.node import frames_to_user

FLAG: Final = "--xla_cpu_experimental_ynn_fusion_type"

# Compiled sums of products may be wrong, for example of `x @ full((512, 1000), 0.02)` over its first axis, and those of
# arrays of seven axes may end the process: https://github.com/jax-ml/jax/issues/39103 and /39257.
FIRST: Final = (0, 10, 2)
"""The first version that has these faults."""
LAST: Final = (0, 12, 0, 1)
"""The newest version that was seen to have them."""


def is_faulty(version: str) -> bool:
    """Whether a version of jaxlib is one of those that compute wrong sums, such as "0.11.0"."""
    parts = tuple(int(part) for part in version.split(".") if part.isdecimal())
    return FIRST <= parts <= LAST


def warn_of_faulty_version(version: str, platform: str) -> None:
    """Warn where this version of jaxlib computes wrong sums, unless XLA was told to leave out what is wrong there."""
    if is_faulty(version) and platform == "cpu" and FLAG not in os.environ.get("XLA_FLAGS", ""):
        text = (
            f"jaxlib {version} computes wrong sums of products in compiled functions on a CPU; install an older one "
            f"with pip install 'jax<0.10.2', or set XLA_FLAGS={FLAG}=-reduce before JAX is imported"
        )
        warnings.warn(text, FaultyVersionWarning, stacklevel=frames_to_user())
