"""Every test verifies payloads against templates; XLA compiles quickly, as results are compared with a tolerance."""

import os

os.environ.setdefault("TENSORBACKEND_CHECK", "1")
os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0")
