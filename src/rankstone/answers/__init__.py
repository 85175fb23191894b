"""Answers of language models: nuggets and citations as judgments and runs, for every verb of the package."""

from rankstone import lazy_names

#: module → the public names it defines, imported at first use; the stub is generated from this table
PUBLIC = {
    "assessor_agreement": ("AssessorAgreement", "compare_assessors"),
    "answer_records": ("kind_of", "runs_of"),
    "citation_tables": ("citations", "citations_to_judge"),
    "nugget_tables": ("nuggets", "nuggets_to_assign"),
    "scoring": ("score_answers",),
    "similar_texts": ("judge_by_similarity",),
}
__getattr__, __all__ = lazy_names(__name__, PUBLIC)
