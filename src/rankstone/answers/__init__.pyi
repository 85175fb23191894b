# Written by `make pages`: where each public name is defined.

from rankstone.answers.citation_tables import citations as citations
from rankstone.answers.citation_tables import citations_to_judge as citations_to_judge
from rankstone.answers.citation_tables import holds_citations as holds_citations
from rankstone.answers.nugget_tables import nuggets as nuggets
from rankstone.answers.nugget_tables import nuggets_to_assign as nuggets_to_assign
from rankstone.answers.scoring import score_answers as score_answers

__all__ = [
    "citations",
    "citations_to_judge",
    "holds_citations",
    "nuggets",
    "nuggets_to_assign",
    "score_answers",
]
