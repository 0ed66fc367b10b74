"""The extension module: one binary for all versions of Python, but those without the global lock."""

from sysconfig import get_config_var

from setuptools import Extension, setup

ONE_FOR_ALL = not get_config_var("Py_GIL_DISABLED")  # builds without the global lock have no stable ABI before 3.15
OPTIMISED = [] if get_config_var("MSVC_VERSION") else ["-O3"]  # loops become vector instructions

setup(
    ext_modules=[
        Extension(
            "tensorbackend_native._native",
            ["tensorbackend_native/_native.c"],
            define_macros=[("Py_LIMITED_API", "0x030B0000")] if ONE_FOR_ALL else [],
            extra_compile_args=OPTIMISED,
            py_limited_api=ONE_FOR_ALL,
        )
    ],
    options={"bdist_wheel": {"py_limited_api": "cp311"}} if ONE_FOR_ALL else {},
)
