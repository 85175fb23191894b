"""trec_eval's names for our measures, and back."""

from __future__ import annotations

import pytest
from tests.rows import each

from rankstone import UsageError, parse_measure, parse_measures
from rankstone.measures import trec_name
from rankstone.measures.core.trec_eval_names import NICKNAMES, TREC


@each(
    ("text", "ours"),
    [
        ("P.5,10", "P@5 P@10"),
        ("P_10", "P@10"),
        ("ndcg_cut.10,map", "nDCG@10 AP"),
        ("map_cut_5", "AP@5"),
        ("iprec_at_recall_0.10", "IPrec(recall=0.1, interp=trec10)"),
        (
            "iprec_at_recall..2,.1",
            "IPrec(recall=0.1, interp=trec10) IPrec(recall=0.2, interp=trec10)",
        ),
        ("IPrec@0.1", "IPrec(recall=0.1)"),
        ("IPrec(recall=0.5)@10", "IPrec(recall=0.5)@10"),
        ("11pt_avg", "IAP(interp=trec10)"),
        ("11pt_avg..25,.5,.75", "IAP(levels={0.25, 0.5, 0.75}, interp=trec10)"),
        ("P.5,11pt_avg", "P@5 IAP(interp=trec10)"),
        ("Rprec_mult_0.50", "Rprec(multiple=0.5)"),
        ("relative_P_5", "P(denom=min_R_k)@5"),
        ("set_relative_P", "P(denom=min_R_k)"),
        ("set_map", "SetAP"),
        ("SetF", "F"),
        ("set_F", "F"),
        ("set_F_0.25", "F(beta=0.5)"),
        ("utility.2,-1,0,0,map", "Utility(a=2) AP"),
        ("utility", "Utility"),
        ("ndcg_1=3,2=9", "nDCG(gain={1: 3, 2: 9})"),
        ("ndcg.1=3.5,2=9 G", "nDCG(gain={1: 3.5, 2: 9}) G"),
        ("Rndcg ndcg_rel binG yaap", "Rndcg ndcg_rel binG yaap"),
        ("unj_5", "Unjudged@5"),
        ("rbp", "RBP(p=0.9)"),
        ("rbp.p=0.5", "RBP(p=0.5)"),
        ("rbp.p=0.5,1=0.25,2=1", "RBP(gain={1: 0.25, 2: 1}, p=0.5)"),
        ("rbp_resid.p=0.5,1=0.25", "RBP_residual(p=0.5)"),
        ("num_nonrel_judged_ret num_q", "NumNonrelRet NumQ"),
        ("map_avgjg P_avgjg_5", "AP_avgjg P_avgjg@5"),
        ("prefs_pair_ret", "Prefs(over=pairs, when=both)"),
        ("gm_map", "AP(agg=gmean)"),
        ("success", "Success"),
        ("recall", "R"),
    ],
)
def test_spellings(text: str, ours: str) -> None:
    """Each of trec_eval's texts, alone and in company."""
    assert " ".join(map(str, parse_measures(text))) == ours


@pytest.mark.parametrize("nickname", list(NICKNAMES))
def test_nicknames(nickname: str) -> None:
    """A nickname stands for all of its measures that are numbers."""
    found = parse_measures(nickname)

    assert found[0] == parse_measure("NumQ")
    assert len(found) >= len(
        [name for name in NICKNAMES[nickname] if name not in ("runid", "relstring")]
    )


@each("name", [name for name in TREC if name not in ("runid", "relstring")])
def test_names_there_and_back(name: str) -> None:
    """What a name stands for is called by that name again."""
    for printed, ours in TREC[name].texts(None):
        if not printed.endswith("_1.00"):  # once R is R: Rprec
            assert trec_name(parse_measure(ours)) == printed


@each(
    ("ours", "theirs"),
    [
        ("P", "set_P"),
        ("F(beta=2)", "set_F_4"),
        ("Utility(a=2)", "utility_2,-1,0,0"),
        ("nDCG(gain={1: 3, 2: 9})", "ndcg_1=3,2=9"),
        ("nDCG@7", "ndcg_cut_7"),
        ("IAP(levels={0.25, 0.5}, interp=trec10)", "11pt_avg_0.25,0.5"),
        ("IPrec(recall=0.1)", "IPrec(recall=0.1)"),
        ("RBP(p=0.9)", "rbp"),
        ("RBP(p=0.5)", "rbp_p=0.5"),
        ("AP(rel=2)", "AP(rel=2)"),
        ("RR@10", "RR@10"),
        ("nDCG(gain=exp2)@10", "nDCG(gain=exp2)@10"),
    ],
)
def test_names_of_measures(ours: str, theirs: str) -> None:
    """Where trec_eval has no such number the canonical text stays."""
    assert trec_name(parse_measure(ours)) == theirs


@each(
    "text",
    [
        "P.0",
        "P_5,5",
        "utility.1,2,3",
        "ndcg.1",
        "IPrec",
        "IPrec@2",
        "IPrec@x",
        "IAP(levels=1)",
        "IAP(levels=2.5)",
        "IAP(levels={0.5, 2})",
        "IAP(levels={0.5, 0.5})",
        "IAP(levels={a})",
        "Rprec@5",
        "Rndcg@5",
        "Prefs(nonrel=R)",
        "Prefs(over=groups, when=one, nonrel=R)",
        "Utility(d=nan)",
    ],
)
def test_refusals(text: str) -> None:
    """Nonsense is a usage error."""
    with pytest.raises(UsageError):
        parse_measures(text)
