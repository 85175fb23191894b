# Written by `make pages`: where each public name is defined.

from rankstone.golden.golden_checks import check as check
from rankstone.golden.golden_splits import Splits as Splits
from rankstone.golden.golden_splits import split as split
from rankstone.golden.golden_reading import GoldenSet as GoldenSet
from rankstone.golden.golden_reading import read as read
from rankstone.golden.stored_splits import store as store

__all__ = [
    "GoldenSet",
    "Splits",
    "check",
    "read",
    "split",
    "store",
]
