"""Identification: which measure, options and library print a reported number."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankstone import lazy_names

if TYPE_CHECKING:
    from rankstone.conventions.identification.identification import as_libraries, identify
    from rankstone.conventions.identification.identification_result import Identification
    from rankstone.conventions.identification.reported_number import Printed
    from rankstone.conventions.identification.search_space import Group, Way
__all__ = ["Group", "Identification", "Printed", "Way", "as_libraries", "identify"]
if not TYPE_CHECKING:
    __getattr__ = lazy_names(
        __name__,
        {
            "identification": ("as_libraries", "identify"),
            "identification_result": ("Identification",),
            "reported_number": ("Printed",),
            "search_space": ("Group", "Way"),
        },
    )
