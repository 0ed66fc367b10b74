"""Meshes of devices, and layouts that place tensors on them by the names of their axes.

All of this is data; no array library is imported.
"""

from .layout import Layout as Layout
from .layout import Mesh as Mesh
from .layout import Sharding as Sharding
from .layout import spread as spread
