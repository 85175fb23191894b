"""trec_eval compatibility: everything trec_eval prints, and pytrec_eval's interface.

Judgments, a run and trec_eval's options become its lines to the last digit, or pytrec_eval's dict of dicts.
No score is computed here: options become measures and alignment options for :class:`rankstone.Prepared`.

>>> from rankstone.conventions.trec_eval import RelevanceEvaluator
>>> evaluator = RelevanceEvaluator({"q1": {"d1": 1, "d2": 0}}, {"map", "ndcg"})
>>> evaluator.evaluate({"q1": {"d2": 2.0, "d1": 1.0}})
{'q1': {'map': 0.5, 'ndcg': 0.6309297535714575}}
"""

from rankstone import lazy_names

#: module → its public names, imported at first use; the stub is generated from this table
PUBLIC = {
    "relevance_evaluator": (
        "RelevanceEvaluator",
        "compute_aggregated_measure",
        "parse_qrel",
        "parse_run",
        "supported_measures",
        "supported_nicknames",
    )
}
__getattr__, __all__ = lazy_names(__name__, PUBLIC)
