"""Verify payloads against their templates in every test."""

import os

os.environ.setdefault("TENSORBACKEND_CHECK", "1")
