"""Conventions of other libraries as data: one file for each library and version.

A convention translates a library's name of a measure into ours, and gives the alignment options under which
both print the same number.  No formula depends on the library.
"""

from rankstone import lazy_names

#: module → its public names, imported at first use; the stub is generated from this table
PUBLIC = {
    "convention_files": (
        "compare",
        "convention",
        "conventions",
        "own_convention",
        "shared",
    ),
    "evaluation_by_convention": ("values_by",),
    "library_convention": ("Convention", "Entry", "Grades", "Reading"),
    "option_effects": ("Effect", "effects_of_options"),
    "trec_eval.output_lines": ("requested_measures",),
    "trec_eval.program": ("run_program",),
    "trec_eval.trec_settings": ("Settings",),
}
__getattr__, _ = lazy_names(__name__, PUBLIC)
#: what users need; the command line uses the other names
__all__ = ["Convention", "Entry", "Grades", "Reading", "convention", "conventions"]  # noqa: F822 - lazy
