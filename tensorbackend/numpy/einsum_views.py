"""What `einsum` shows of one operand without adding anything up: a view."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_letters

from .arrays import ndarray, step_view
from .orders import permute_by
from .shapes import diagonal_of_last
from .stepping import chain


def view_of_letters(x: ndarray, text: str) -> ndarray | None:
    """What `einsum` shows of one operand if it adds up nothing: axes in another order and diagonals; otherwise None."""
    term, arrow, target = text.partition("->")
    count = x.ndim - len(term.replace("...", ""))
    if count < 0 or (count and "..." not in term):
        return None
    more = "".join(map(chr, range(0x100, 0x100 + count)))  # letters for what the ellipsis stands for
    letters = [*term.replace("...", more)]
    if arrow:
        result_letters = target.replace("...", more)
    else:
        once = [each for each in letters if letters.count(each) == 1 and each not in more]
        result_letters = more + "".join(sorted(once))
    if {*letters} != {*result_letters} or len({*result_letters}) != len(result_letters):
        return None
    sizes = {each: {size for letter, size in zip(letters, x.shape, strict=True) if letter == each} for each in letters}
    if any(len(found) > 1 for found in sizes.values()):
        return None
    steps = []
    for letter in dict.fromkeys(letters):
        while letters.count(letter) > 1:
            first = letters.index(letter)
            second = letters.index(letter, first + 1)
            others = [place for place in range(len(letters)) if place not in (first, second)]
            steps += [permute_by([*others, first, second]), diagonal_of_last()]
            letters = [*[letters[place] for place in others], letter]
    return step_view(x, chain(*steps, permute_by([letters.index(each) for each in result_letters])))


def without_ellipsis(text: str, counts: Sequence[int]) -> str:
    """The text of `einsum` with letters for the axes that `...` stands for: NumPy's optimised sum adds over them."""
    term, _arrow, target = text.partition("->")
    free = [letter for letter in ascii_letters if letter not in text]
    made = []
    for each, count in zip(term.split(","), counts, strict=True):
        missing = max(count - len(each.replace("...", "")), 0)
        made.append(each.replace("...", "".join(free[:missing][::-1])))
    return f"{','.join(made)}->{target}"
