"""trec_eval's names for our measures, and back."""

from __future__ import annotations

import math
import re
from itertools import product

import pytest
from tests.rows import each

from rankstone import UsageError, evaluate, parse_measure, parse_measures
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


@each(
    ("name", "suffix"),
    product(
        TREC, [".10", "_10", ".5,10", ".0.5", ".5.7", ".1=3", ".p=0.5", ".0", ".5,5"]
    ),
)
def test_no_parameter_is_swallowed(name: str, suffix: str) -> None:
    """What follows a name has an effect, or is refused; a fix that is offered works, cutoff and all."""
    parts = suffix[1:].split(",")
    try:
        measures = parse_measures(name + suffix)
    except UsageError as error:
        if fix := re.fullmatch(r"write (\S+)", str(error.fix)):
            written = parse_measure(fix[1])
            assert written.k in (None, int(parts[0]) if suffix[1:] == "10" else None)
            assert (
                written.k is not None or suffix[1:] != "10" or not written.takes_cutoff
            )
        return
    if TREC[name].values in ("cutoffs", "shares"):
        assert len(measures) == len(parts)
    texts = [str(measure) for measure in measures]
    if (
        name == "rbp_resid" and "p" not in suffix
    ):  # gains are rbp's, which has the same parameters
        return
    assert texts != [str(measure) for measure in parse_measures(name)]
    numbers = {
        float(number) for text in texts for number in re.findall(r"[\d.]+", text)
    }
    roots = {
        math.sqrt(number) for number in map(float, re.findall(r"[\d.]+", suffix[1:]))
    }
    requested = {float(number) for number in re.findall(r"[\d.]+", suffix[1:])}
    assert requested <= numbers or roots <= numbers


@pytest.mark.parametrize(
    "text", ["recip_rank.10 RR", "map.10", "Rprec.10", "num_ret_10"]
)
def test_cutoffs_that_trec_eval_ignores(text: str) -> None:
    """No column is labelled with a cutoff that it does not have; under trec_eval's own rules it is ignored."""
    name, _ = re.split(r"[._](?=10)", text, maxsplit=1)
    with pytest.raises(UsageError, match=f"{name} takes no parameter 10"):
        parse_measures(text)
    qrels, run = {"q": {"a": 1}}, {"q": ["b", "a"]}
    alone = text.removesuffix(" RR")

    scores = evaluate(qrels, run, alone, convention="trec_eval")

    assert list(scores.to_dict()["run"]) == [name]


@pytest.mark.parametrize("nickname", list(NICKNAMES))
def test_nicknames(nickname: str) -> None:
    """A nickname stands for all of its measures that are numbers."""
    measures = parse_measures(nickname)

    assert measures[0] == parse_measure("NumQ")
    assert len(measures) >= len(
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
