"""Hits: runs aligned with judgments, reduced to the ranks and grades of the judged documents.

Judgments and a stream of tables become :class:`~rankstone.hits.hits.Hits` and an audit.  No measure and no
file is known here.
"""

from rankstone import lazy_names

#: module → its public names, imported at first use; the stub is generated from this table
PUBLIC = {
    "alignment_options": ("Described", "IMPUTATIONS", "OrderingKeywords", "described"),
    "budgets": ("Budget",),
}
__getattr__, __all__ = lazy_names(__name__, PUBLIC)
