"""The precision as one value: its fields, its text, and that equal ones are one object."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import product

import pytest

import tensorbackend as tb
from tensorbackend.dtypes import defaults
from tensorbackend.dtypes.defaults import FLOATING, PRODUCT_DTYPES, PRODUCT_PRECISIONS, Precision, precision_of


def test_a_block_sets_its_field_and_keeps_the_others() -> None:
    assert defaults.current_precision() is precision_of(32)
    with tb.precision("high"), tb.autocast("float16"):
        assert defaults.current_precision() is precision_of(32, product_dtype=tb.float16, products="high")
        with tb.precision("default"):
            assert defaults.current_precision() is precision_of(32, product_dtype=tb.float16, products="default")
        with tb.precision(64, cast=True):
            assert defaults.current_precision() is precision_of(64, cast=True, products="high")
            with tb.precision("highest"):
                assert defaults.current_precision() is precision_of(64, cast=True)
            with defaults.uncast():
                assert defaults.current_precision() is precision_of(64, products="high")
    assert defaults.current_precision() is precision_of(32)


def test_threads_get_one_object() -> None:
    fields = [*product(FLOATING, (False, True), (None, *PRODUCT_DTYPES), PRODUCT_PRECISIONS)]

    def made(_: int) -> list[Precision]:
        return [precision_of(bits, cast=cast, product_dtype=dtype, products=by) for bits, cast, dtype, by in fields]

    with ThreadPoolExecutor(4) as pool:
        first, *others = pool.map(made, range(16))
    assert len({*first}) == len(fields)
    assert all(each is one for other in others for each, one in zip(other, first, strict=True))


@pytest.mark.parametrize(
    ("precision", "text"),
    [
        (precision_of(32), "32"),
        (precision_of(64, cast=True), "64, operands cast"),
        (precision_of(32, product_dtype=tb.bfloat16, products="high"), "32, products in bfloat16, products 'high'"),
    ],
)
def test_its_text_names_what_is_not_as_at_first(precision: Precision, text: str) -> None:
    assert repr(precision) == text


@pytest.mark.parametrize(
    ("precision", "targets"),
    [
        (precision_of(64), "float16 float32 complex64 int64"),
        (precision_of(16, cast=True), "float16 float16 complex64 int64"),
        (precision_of(64, cast=True), "float64 float64 complex128 int64"),
    ],
)
def test_a_cast_is_to_the_width(precision: Precision, targets: str) -> None:
    dtypes = tb.float16, tb.float32, tb.complex64, tb.int64
    for cast_class in ("product", "sum", "other"):
        assert " ".join(str(precision.target(dtype, cast_class)) for dtype in dtypes) == targets


def test_autocast_narrows_products_and_widens_sums() -> None:
    precision = precision_of(32, product_dtype=tb.bfloat16)
    assert precision.casts
    dtypes = tb.float16, tb.float32, tb.float64, tb.complex64
    assert [precision.target(dtype, "product") for dtype in dtypes] == [tb.bfloat16] * 2 + [tb.float64, tb.complex64]
    assert [precision.target(dtype, "sum") for dtype in dtypes] == [tb.float32] * 2 + [tb.float64, tb.complex64]
    assert [precision.target(dtype, "other") for dtype in dtypes] == [*dtypes]
