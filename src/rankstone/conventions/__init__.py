"""Conventions of other libraries as data: one file for each library and version.

A convention translates a library's name of a measure into ours, and gives the alignment options under which
both print the same number.  No formula depends on the library.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankstone.conventions.convention_files import convention, conventions
from rankstone.conventions.library_convention import Convention, Entry, Grades, Reading

__all__ = ["Convention", "Entry", "Grades", "Reading", "convention", "conventions"]


# what the command line needs in addition, imported at first use
if TYPE_CHECKING:
    from rankstone.conventions.convention_files import compare as compare
    from rankstone.conventions.convention_files import shared as shared
    from rankstone.conventions.evaluation_by_convention import values_by as values_by
    from rankstone.conventions.trec_eval.output_lines import requested_measures as requested_measures
    from rankstone.conventions.trec_eval.program import run_program as run_program
    from rankstone.conventions.trec_eval.relevance_evaluator import Settings as Settings
else:
    from rankstone import lazy_names

    __getattr__ = lazy_names(
        __name__,
        {
            "convention_files": ("compare", "shared"),
            "evaluation_by_convention": ("values_by",),
            "trec_eval.output_lines": ("requested_measures",),
            "trec_eval.program": ("run_program",),
            "trec_eval.relevance_evaluator": ("Settings",),
        },
    )
