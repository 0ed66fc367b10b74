"""The extension modules, compiled for one version of Python each: `_calls.c` says why.

Builds without the global lock get the bits of random numbers alone.
"""

from sysconfig import get_config_var

from setuptools import Extension, setup

MODULES = ["_native"] if get_config_var("Py_GIL_DISABLED") else ["_native", "_calls"]
OPTIMISED = [] if get_config_var("MSVC_VERSION") else ["-O3"]  # loops become vector instructions

setup(
    ext_modules=[
        Extension(f"tensorbackend_native.{name}", [f"tensorbackend_native/{name}.c"], extra_compile_args=OPTIMISED)
        for name in MODULES
    ]
)
