"""Documents that judgments mark as forbidden: they must not be shown for a query."""

from __future__ import annotations

from rankstone.hits.extras.extra import Extra


class ForbiddenDocuments(Extra[None]):
    """Asks for judgments whose column ``forbidden`` is 1 for forbidden documents and 0 for others."""

    counts_unanswerable = True
    grades_decide = False
    side_input = "forbidden_marks:ForbiddenMarks"
