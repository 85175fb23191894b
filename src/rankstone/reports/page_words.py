"""Words and numbers of pages: phrases of a language, and numbers as a sentence shows them."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import TYPE_CHECKING, Final

from rankstone._basics import percentage
from rankstone.tables.phrases import filled, phrases

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

#: figures of the numbers in the data of a page
FIGURES: Final = 7
#: the most decimals of a number in a sentence
_MOST: Final = 6
#: smaller p-values are shown as smaller than this
_LEAST: Final = 0.0001
#: names that a sentence holds, the others are counted
_NAMED: Final = 5


@dataclass(frozen=True)
class Words:
    """The phrases of pages in a language."""

    lang: str

    @property
    def phrases(self) -> Mapping[str, str]:
        """The phrases by name."""
        return phrases("pages", self.lang)

    def __call__(self, name: str, section: str = "pages", /, **parts: object) -> str:
        """Return a phrase with its parts filled in; empty where there is none of that name."""
        return filled(phrases(section, self.lang).get(name, ""), parts)

    def counted(self, name: str, count: int, /, **parts: object) -> str:
        """Return a phrase for a number of things; ``name_1`` is the phrase for one.

        >>> Words("en").counted("n_queries", 1), Words("en").counted("n_queries", 1200)
        ('one query', '1,200 queries')
        """
        single = count == 1 and f"{name}_1" in self.phrases
        return self(f"{name}_1" if single else name, count=f"{count:,}", **parts)

    def percent(self, share: float, digits: int = 4) -> str:
        r"""Return a share as a percentage of so many figures.

        >>> Words("en").percent(1 - 0.05 / 3), Words("zh").percent(0.844, 2)
        ('98.33\xa0%', '84%')
        """
        number = percentage(share, digits).removesuffix(" %")
        return self("percent", number=number)

    def listed(self, names: list[str]) -> str:
        """Return names one after the other, cut where there are many."""
        text = self("comma").join(names[:_NAMED])
        if len(names) <= _NAMED:
            return text
        return self("and_more", names=text, count=len(names) - _NAMED)

    def about(self, measure: str) -> str:
        """Return what a measure says in a few words; empty where that is not known.

        >>> Words("en").about("RR@10")
        'how early the first relevant result comes: 1 for rank 1, 1/2 for rank 2 (0 to 1)'
        """
        return self(re.split(r"[@(]", measure)[0].lower(), "measures")


def decimals(
    values: Iterable[float | None], *apart: tuple[float | None, float | None]
) -> int:
    """Return how many decimals numbers need: two, more where one would show 0 or two would look equal.

    Parameters
    ----------
    values
        The numbers of a sentence; large ones need fewer decimals.
    *apart
        Pairs of them that must not look the same unless they are.

    Examples
    --------
    >>> decimals([0.51, 0.73]), decimals([0.5062, 0.0031]), decimals([0.734, 0.731], (0.734, 0.731))
    (2, 3, 3)
    >>> decimals([1240.0, 1322.5]), decimals([1e-9])
    (0, 6)
    """
    known = [value for value in values if value is not None and math.isfinite(value)]
    pairs = [
        pair
        for pair in apart
        if None not in pair and len({shown(value, _MOST) for value in pair}) > 1
    ]
    largest = max(map(abs, known), default=0.0)
    # three figures of the largest number
    fewest = 0
    if largest < 100:  # noqa: PLR2004
        fewest = 2
    elif largest < 1000:  # noqa: PLR2004
        fewest = 1
    for digits in range(fewest, _MOST):
        same = any(shown(a, digits) == shown(b, digits) for a, b in pairs)
        if not same and all(_rounded(value, digits) for value in known if value):
            return digits
    return _MOST


def decimals_of(
    a: float,
    b: float,
    difference: float,
    low: float | None = None,
    high: float | None = None,
) -> int:
    """Return decimals for two numbers and their difference: up to two more where those shown do not add up.

    >>> decimals_of(0.7417, 0.3167, 0.425), decimals_of(0.78, 0.64, 0.14)
    (3, 2)
    """
    least = decimals([a, b, difference, low, high], (a, b), (low, high))
    for digits in range(least, min(least + 3, _MOST + 1)):
        if _rounded(a, digits) - _rounded(b, digits) == _rounded(difference, digits):
            return digits
    return least


def shown(value: float | None, digits: int = 2, *, sign: bool = False) -> str:
    """Return a number with a real minus sign, and with its sign if it is a difference.

    >>> shown(-0.5, 2), shown(0.223, 2, sign=True), shown(-0.0001, 2), shown(1240.0, 0), shown(0.425)
    ('−0.50', '+0.22', '0.00', '1,240', '0.43')
    """
    if value is None or not math.isfinite(value):
        return "–"
    number = _rounded(value, digits)
    return f"{number:{'+' if sign and number else ''},f}".replace("-", "−")


def _rounded(value: float, digits: int) -> Decimal:
    """Round a number as the scripts of a page do: as it is written there, and a half away from zero."""
    number = Decimal(f"{value:.{FIGURES}g}").quantize(
        Decimal(1).scaleb(-digits), ROUND_HALF_UP
    )
    return number or abs(number)


def p_value(p: float) -> str:
    """Return a p-value as an equation or a bound.

    >>> p_value(0.00001), p_value(0.0312), p_value(0.5)
    ('p < 0.0001', 'p = 0.031', 'p = 0.50')
    """
    if p < _LEAST:
        return f"p < {_LEAST}"
    if p < 0.1:  # noqa: PLR2004 - where two figures are more than two decimals
        return f"p = {p:.2g}"
    return f"p = {p:.2f}"


def about(count: int) -> str:
    """Return a number of queries to two figures.

    >>> about(1725), about(90)
    ('1,700', '90')
    """
    return f"{float(f'{count:.2g}'):,.0f}"
