"""The table of foreign functions without one of ours; `tests/tensor/test_missing_names.py` has the errors."""

from __future__ import annotations

import tensorbackend as tb
from tensorbackend.errors.foreign_functions import ADVICE
from tensorbackend.errors.foreign_names import SYNONYMS, advice


def test_no_name_that_exists_is_answered() -> None:
    assert [name for name in ADVICE if hasattr(tb, name)] == []
    assert not {*ADVICE} & {*SYNONYMS}


def test_a_namespace_answers_what_the_package_does() -> None:
    assert advice("einops") == advice("einops", "linalg") == ADVICE["einops"]
