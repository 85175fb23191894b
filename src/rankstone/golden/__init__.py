"""Golden sets: what is wrong with one, how it fits a corpus, and splits that stay as they are."""

from rankstone import lazy_names

#: module → the public names it defines, imported at first use; the stub is generated from this table
PUBLIC = {
    "golden_checks": ("check",),
    "golden_splits": ("Splits", "split"),
    "golden_reading": ("GoldenSet", "read"),
    "stored_splits": ("store",),
}
__getattr__, __all__ = lazy_names(__name__, PUBLIC)
