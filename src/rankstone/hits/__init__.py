"""Hits: runs aligned with judgments, reduced to the ranks and grades of the judged documents.

Judgments and a stream of tables become :class:`~rankstone.hits.hits.Hits` and an audit.  No measure and no
file is known here.
"""

from typing import TYPE_CHECKING

# what the command line needs in addition, imported at first use
if TYPE_CHECKING:
    from rankstone.hits.alignment_options import IMPUTATIONS as IMPUTATIONS
    from rankstone.hits.alignment_options import Described as Described
    from rankstone.hits.alignment_options import OrderingKeywords as OrderingKeywords
    from rankstone.hits.alignment_options import described as described
else:
    from rankstone import lazy_names

    __getattr__ = lazy_names(
        __name__, {"alignment_options": ("Described", "IMPUTATIONS", "OrderingKeywords", "described")}
    )
