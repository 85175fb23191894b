# Written by `make pages`: where each public name is defined.

from rankstone.conventions.convention_files import compare as compare
from rankstone.conventions.convention_files import convention as convention
from rankstone.conventions.convention_files import conventions as conventions
from rankstone.conventions.convention_files import own_convention as own_convention
from rankstone.conventions.convention_files import shared as shared
from rankstone.conventions.evaluation_by_convention import values_by as values_by
from rankstone.conventions.library_convention import Convention as Convention
from rankstone.conventions.library_convention import Entry as Entry
from rankstone.conventions.library_convention import Grades as Grades
from rankstone.conventions.library_convention import Reading as Reading
from rankstone.conventions.option_effects import Effect as Effect
from rankstone.conventions.option_effects import effects_of_options as effects_of_options
from rankstone.conventions.trec_eval.output_lines import requested_measures as requested_measures
from rankstone.conventions.trec_eval.program import run_program as run_program
from rankstone.conventions.trec_eval.trec_settings import Settings as Settings

__all__ = [
    "Convention",
    "Entry",
    "Grades",
    "Reading",
    "convention",
    "conventions",
]
