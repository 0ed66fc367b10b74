"""The property tests as a product: what proves a backend right."""

from __future__ import annotations

from .compare import assert_equal as assert_equal
from .compare import distance as distance
from .compare import mismatch as mismatch
