"""NumPy programs and calls, run with NumPy and with `tensorbackend.numpy` in its place."""
