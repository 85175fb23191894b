"""Identification: which measure, options and library print a reported number."""

from rankstone import lazy_names

#: module → its public names, imported at first use; the stub is generated from this table
PUBLIC = {
    "identification": ("identify",),
    "identification_result": ("Identification",),
    "reported_number": ("Printed",),
    "search_space": ("Group", "Way"),
}
__getattr__, __all__ = lazy_names(__name__, PUBLIC)
