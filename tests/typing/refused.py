"""Mistakes that type checkers see before anything runs: each line below is refused."""

import rankstone

qrels, run = {"q": {"d": 1}}, {"q": ["d"]}
rankstone.evaluate(qrels, run, "AP", tyes="expected")
rankstone.evaluate(qrels, run, "AP", ties="sometimes")
rankstone.evalute(qrels, run, "AP")
rankstone.evaluate(5, run, "AP")
rankstone.evaluate(qrels, run, "AP", engine="sparkling")
rankstone.compare(qrels, run, "AP", depth="10")
rankstone.explain(qrels, run, "AP", "q", missing="ignore")
rankstone.Prepared(qrels, "AP", colums={})
rankstone.AlignmentOptions(ties="sometimes")
