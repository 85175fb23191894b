# Written by `make pages`: where each public name is defined.

from rankstone.answers.assessor_agreement import AssessorAgreement as AssessorAgreement
from rankstone.answers.assessor_agreement import compare_assessors as compare_assessors
from rankstone.answers.answer_records import kind_of as kind_of
from rankstone.answers.answer_records import runs_of as runs_of
from rankstone.answers.citation_tables import citations as citations
from rankstone.answers.citation_tables import citations_to_judge as citations_to_judge
from rankstone.answers.nugget_tables import nuggets as nuggets
from rankstone.answers.nugget_tables import nuggets_to_assign as nuggets_to_assign
from rankstone.answers.scoring import score_answers as score_answers
from rankstone.answers.similar_texts import judge_by_similarity as judge_by_similarity

__all__ = [
    "AssessorAgreement",
    "citations",
    "citations_to_judge",
    "compare_assessors",
    "judge_by_similarity",
    "kind_of",
    "nuggets",
    "nuggets_to_assign",
    "runs_of",
    "score_answers",
]
