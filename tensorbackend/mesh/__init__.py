"""Meshes of devices, and where tensors lie on them by the names of their axes.

All is data; no array library is imported.
"""

from __future__ import annotations

from .grid import Mesh as Mesh
from .layout import Layout as Layout
from .layout import Sharding as Sharding
from .layout import spread as spread
