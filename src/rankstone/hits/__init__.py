"""The second station of the road: align a run with the judgments and keep only where the hits are.

Comes in: judgments and a stream of tables.  Goes out: :class:`~rankstone.hits.hits.Hits`, an audit.
Polars and NumPy; no measure, no file.
"""

from typing import TYPE_CHECKING

# what the command line needs besides, imported at first use
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
