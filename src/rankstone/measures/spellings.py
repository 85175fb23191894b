"""Names of measures: ours, and the words other tools have for them."""

from __future__ import annotations

import re
from typing import Any, Final

from rankstone.errors import UnknownMeasure, nearest, printable
from rankstone.measures.registry import MEASURES
from rankstone.measures.trec_table import NICKNAMES, TREC

__all__ = ["is_ours", "resolve"]

#: alternative spellings that stand for a name and parameters
_SPELLINGS: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    "map": ("AP", {}),
    "mrr": ("RR", {}),
    "ndcg": ("nDCG", {}),
    "precision": ("P", {}),
    "gmap": ("AP", {"agg": "gmean"}),
    "gm_map": ("AP", {"agg": "gmean"}),
    "map_cut": ("AP", {}),
    "recip_rank": ("RR", {}),
    "recall": ("R", {}),
    "set_recall": ("R", {}),
    "set_p": ("P", {"denom": "n"}),
    "set_f": ("F", {}),
    "setp": ("P", {"denom": "n"}),
    "setr": ("R", {}),
    "ndcg_cut": ("nDCG", {}),
    "num_ret": ("NumRet", {}),
    "num_rel": ("NumRel", {}),
    "num_rel_ret": ("NumRelRet", {}),
    "num_nonrel_judged_ret": ("NumNonrelRet", {}),
    "hit_rate": ("Success", {}),
    "hits": ("NumRelRet", {"agg": "mean"}),
    "r-precision": ("Rprec", {}),
    "f1": ("F", {}),
    "dcg_burges": ("DCG", {"gain": "exp2"}),
    "ndcg_burges": ("nDCG", {"gain": "exp2"}),
    "hr": ("Success", {}),
    "wss_95": ("WSS", {}),
    "wss_100": ("WSS", {"recall": "1"}),
    "ndcg_ia": ("IA", {"of": "nDCG"}),
    "ndcg-ia": ("IA", {"of": "nDCG"}),
    "rr_ia": ("IA", {"of": "RR"}),
    "mrr_ia": ("IA", {"of": "RR"}),
    "mrr-ia": ("IA", {"of": "RR"}),
}

#: words that libraries use for different measures: what may be meant, in our words
_SEVERAL: Final = {
    "accuracy": (
        (
            "Success@k (anything relevant among the first k: top-k accuracy, as in BEIR), R@1 (MTEB), or "
            "AUC(negatives=candidates, unreturned=exclude, tied=order) (pairs in order: ir_measures)"
        ),
        "write Success@10, say, or name the library whose word it is: --convention beir",
    )
}

#: words that trec_eval's list of cutoffs, or its persistence, belongs to when they stand alone
_TREC_ALONE: Final = ("map_cut", "ndcg_cut", "rbp", "rbp_resid", *NICKNAMES)


def is_ours(name: str) -> bool:
    """Say whether a word means something before trec_eval is asked."""
    if name in _TREC_ALONE:
        return False
    return name in MEASURES or name.lower() in _SPELLINGS or MEASURES.named(name) is not None


def resolve(name: str) -> tuple[str, dict[str, Any]]:
    """Return our name for a word, and the parameters it stands for; refuse a word that nobody knows."""
    folded = name.lower()
    if name in MEASURES:
        return name, {}
    if folded in _SPELLINGS:
        return _SPELLINGS[folded]
    if canonical := MEASURES.named(name):
        return canonical, {}
    if folded in _SEVERAL:
        meant, fix = _SEVERAL[folded]
        raise UnknownMeasure(
            f"{printable(name)!r} means different measures in different libraries", expected=meant, fix=fix
        )
    if attached := _ATTACHED.fullmatch(name):
        kind = _alike(attached["name"])
        if kind is not None:
            raise UnknownMeasure(
                f"there is no measure {printable(name)!r}",
                fix=f"write {kind}@{attached['cut']}; `rankstone measures show {kind}` says how other tools "
                "differ",
            )
    known = [*_SPELLINGS, *MEASURES.spellings(), *TREC]
    close = list(dict.fromkeys(_named(word) for word in nearest(name, known)))
    raise UnknownMeasure(
        f"there is no measure {printable(name)!r}",
        fix=(f"did you mean {', '.join(close)}? " if close else "") + "`rankstone measures` lists them all",
    )


#: a cutoff as other libraries attach it: ndcg_at_10, MRR_10
_ATTACHED: Final = re.compile(r"(?P<name>.+?)_(?:at_)?(?P<cut>\d+)")


def _alike(name: str) -> str | None:
    """Return the name of a measure that takes a cutoff and is called so, or nothing."""
    try:
        kind = MEASURES[resolve(name)[0]]
    except UnknownMeasure:
        return None
    return kind.name if kind.takes_cutoff else None


def _named(word: str) -> str:
    """Return our name for a spelling, trec_eval's own for what it has and we spell otherwise."""
    return word if word in TREC and not is_ours(word) else resolve(word)[0]
