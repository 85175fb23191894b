"""A number as somebody printed it: so many decimals, perhaps as per cent."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from rankstone.errors import UsageError, printable

__all__ = ["Printed"]

#: sums taken in another order differ by so little
_OTHER_ORDER = 1e-12
#: more decimals than this no float has
_MOST_DIGITS = 17
#: a comma before three digits: decimals, or thousands; after a zero it can only be decimals
_THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2},\d{3}")


@dataclass(frozen=True, slots=True)
class Printed:
    """A number, and how many of its decimals are known.

    Attributes
    ----------
    value
        The number.
    digits
        Decimals it was printed with.
    percent
        Whether a sign says that it is per cent.

    Examples
    --------
    >>> printed = Printed.of("0.827")
    >>> printed.how(0.82749), printed.how(0.82796), printed.how(0.829)
    ('rounded', 'cut off', None)
    """

    value: float
    digits: int
    percent: bool = False

    @property
    def ends(self) -> tuple[float, float]:
        """How far values that print so may be from the number: half a step towards 0, a whole one away."""
        step = 10.0**-self.digits
        return step / 2, step

    @classmethod
    def of(cls, text: str | float, digits: int | None = None) -> Printed:
        """Read a number; ``digits`` where its text does not show all decimals that were printed.

        Raises
        ------
        UsageError
            When it is no number, or its comma may stand before decimals as well as thousands.
        """
        shown = str(text).strip()
        percent = shown.endswith("%")
        bare = shown.removesuffix("%").strip()
        if _THOUSANDS.fullmatch(bare):
            fix = f"{bare.replace(',', '.')} or {bare.replace(',', '')}"
            raise UsageError(
                f"{printable(shown)!r} can be read in two ways", expected="a point before decimals", fix=fix
            )
        try:
            exact = Decimal(bare.replace(",", "."))
        except InvalidOperation:
            exact = Decimal("nan")
        if not exact.is_finite() or abs(exact) > Decimal(2**53):
            raise UsageError(
                f"{printable(shown)!r} is no value to look for", expected="a number: 0.827, 82.7%"
            )
        exponent = exact.as_tuple().exponent
        own = max(0, -exponent) if isinstance(exponent, int) else 0
        if digits is not None and not 0 <= digits <= _MOST_DIGITS:
            raise UsageError(f"digits={digits} is out of range", expected=f"0 to {_MOST_DIGITS} decimals")
        return cls(float(exact), own if digits is None else digits, percent)

    def __str__(self) -> str:
        return f"{self.value:.{self.digits}f}{'%' if self.percent else ''}"

    def scales(self) -> tuple[float, ...]:
        """Return what a value may have been multiplied by: 100 where the number can be per cent."""
        if self.percent:
            return (100.0,)
        return (1.0, 100.0) if abs(self.value) > 1 else (1.0,)

    def how(self, found: float) -> str | None:
        """Say how a value prints as this number: ``rounded``, ``cut off``; ``None`` where it does not."""
        step = 10.0**-self.digits
        slack = _OTHER_ORDER * max(1.0, abs(self.value))
        for scale in self.scales():
            off = found * scale - self.value
            if abs(off) <= step / 2 + slack:
                return "rounded"
        for scale in self.scales():
            towards_zero = math.copysign(1.0, self.value) * (found * scale - self.value)
            if -slack <= towards_zero < step - slack:
                return "cut off"
        return None

    def off(self, found: float) -> float:
        """Return how far a value is from the number, on the number's scale and with its sign."""
        return min((found * scale - self.value for scale in self.scales()), key=abs)
