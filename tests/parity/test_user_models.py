"""User models as cwl_eval, ir_measures, gdeval and pyNTCIREVAL have them, and where they differ."""

from __future__ import annotations

import math
import shutil
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.oracle.worlds import close
from tests.parity.peers import Qrels, Run, disagreements, ours

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

pytestmark = pytest.mark.parity

CASES = 300
TOP = 4


def collection(
    seed: int, *, top: int = TOP, cases: int = CASES, ties: bool = False
) -> tuple[Qrels, dict[str, list[str]], Run]:
    """Draw judgments, and lists of up to 30 documents of which some are not judged, with scores."""
    chosen = np.random.default_rng(seed)
    qrels: Qrels = {}
    lists: dict[str, list[str]] = {}
    run: Run = {}
    for query in map(str, range(1, cases + 1)):
        docs = [f"d{position:02}" for position in chosen.permutation(40)]
        judged = [doc for doc in docs if chosen.random() < 0.6] or docs[:1]
        qrels[query] = {doc: int(chosen.integers(0, top + 1)) for doc in judged}
        lists[query] = docs[: int(chosen.integers(1, 31))]
        scores = np.arange(len(lists[query]), 0, -1) // (3 if ties else 1)
        run[query] = dict(zip(lists[query], scores.astype(float).tolist(), strict=True))
    return qrels, lists, run


def by_ir_measures(
    qrels: Qrels, run: Run, texts: Sequence[str]
) -> dict[str, dict[str, float]]:
    """Return ``{query: {text: value}}``."""
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # its parser uses names that Python is about to drop
        peer = pytest.importorskip(
            "ir_measures", reason="ir_measures is not installed: make parity"
        )
        pytest.importorskip("cwl", reason="cwl-eval is not installed: make parity")
        options = {text: peer.parse_measure(text) for text in texts}
        spelt = {str(measure): text for text, measure in options.items()}
        values: dict[str, dict[str, float]] = {}
        for metric in peer.iter_calc(list(options.values()), qrels, run):
            values.setdefault(metric.query_id, {})[spelt[str(metric.measure)]] = (
                metric.value
            )
    return values


def under_their_text(
    qrels: Qrels, run: Any, texts: Sequence[str], **options: Any
) -> dict[str, dict[str, float | None]]:
    """Return our values under the texts that a peer computed."""
    import rankstone

    spelt = {str(rankstone.parse_measure(text)): text for text in texts}
    values = ours(qrels, run, list(texts), **options)
    return {
        query: {spelt[name]: value for name, value in row.items()}
        for query, row in values.items()
    }


# -- ir_measures -----------------------------------------------------------------------------------------
SAME_TEXT = [
    "INST(max_rel=4)", "INST(T=2.5,max_rel=4)", "INSQ(max_rel=4)", "INSQ(T=3.0,max_rel=4)",
    "BPM(max_rel=4)@10", "BPM(T=3.0,max_rel=4)@5", "SDCG(max_rel=4)@5", "SDCG(max_rel=4)@20",
    "NERR8(max_rel=4)@10", "NERR9(max_rel=4)@10", "NERR10(max_rel=4)", "NERR10(p=0.8,max_rel=4)",
    "NERR11(max_rel=4)", "NERR11(T=2.0,max_rel=4)", "RBP(p=0.8,rel=1)", "RBP(p=0.95,rel=3)",
]  # fmt: skip


def test_ir_measures_and_we_read_one_text_alike() -> None:
    """The text of an ir_measures measure, max_rel and all, is the same number here."""
    qrels, _, run = collection(1)
    expected = by_ir_measures(qrels, run, SAME_TEXT)
    values = under_their_text(qrels, run, SAME_TEXT)
    assert len(expected) == CASES
    assert not disagreements(expected, values)


def test_rounding_hides_a_goal_from_cwl_eval() -> None:
    """3/3 + 2/3 + 1/3 stays below 2 in floating point: there the walk goes on, here it has ended."""
    qrels, run = {"q": {"a": 3, "b": 2, "c": 1}}, {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}
    texts = ["BPM(T=2.0,max_rel=3)@10"]
    theirs = by_ir_measures(qrels, run, texts)["q"][texts[0]]
    row = under_their_text(qrels, run, texts)["q"][texts[0]]
    assert 3 / 3 + 2 / 3 + 1 / 3 < 2
    assert close(theirs, 2 / 10, 1e-12)
    assert close(row, 2 / 3, 1e-12)


def test_rbp_of_ir_measures_is_over_the_weights_of_1000_ranks() -> None:
    """For a very persistent user it is RBP / (1 − p^1000), which is CWL(model=RBP)."""
    qrels, _, run = collection(8)
    text = "RBP(p=0.999,rel=1)"
    theirs = by_ir_measures(qrels, run, [text])
    values = under_their_text(qrels, run, [text])
    walk = "CWL(gain=binary, model=RBP, p=0.999)"
    walks = ours(qrels, run, [walk])
    for query, row in theirs.items():
        assert close(row[text] * (1 - 0.999**1000), values[query][text], 1e-12)
        assert close(row[text], walks[query][walk], 1e-12)
        assert not row[text] or not close(row[text], values[query][text], 1e-6), (
            "an agreement nobody expected"
        )


# -- cwl_eval --------------------------------------------------------------------------------------------
OUTPUTS = ("EU", "ETU", "EC", "ETC", "ED", "ResEU", "ResETU", "ResED")
#: model, our parameters, the cutoff, theirs; those that stop at the cutoff stop for certain
MODELS = [
    ("INST", {"T": 1}, "", "INSTCWLMetric(1.0)"),
    ("INST", {"T": 2.5}, "", "INSTCWLMetric(2.5)"),
    ("INSQ", {"T": 2}, "", "INSQCWLMetric(2.0)"),
    ("NERR8", {}, "@10", "NERReq8CWLMetric(10)"),
    ("NERR9", {}, "@10", "NERReq9CWLMetric(10)"),
    ("NERR10", {"p": 0.8}, "", "NERReq10CWLMetric(0.8)"),
    ("NERR11", {"T": 1}, "", "NERReq11CWLMetric(1.0)"),
    ("P", {}, "@5", "PrecisionCWLMetric(5)"),
    ("RBP", {"p": 0.8}, "", "RBPCWLMetric(0.8)"),
    ("RBP", {"p": 0.999}, "", "RBPCWLMetric(0.999)"),
    ("SDCG", {}, "@10", "NDCGCWLMetric(10)"),
    ("RR", {}, "", "RRCWLMetric()"),
    ("AP", {}, "", "APCWLMetric()"),
    ("BPM", {"T": 1}, "@10", "BPMCWLMetric(1.0, 10)"),
    ("BPM", {"T": 3}, "@8", "BPMCWLMetric(3.0, 8)"),
    ("BPM", {"T": 2, "hb": 0.5}, "@10", "BPMDCWLMetric(2, 10, 0.5, 1.0, 0.5)"),
    (
        "BPM",
        {"T": 2, "hb": 1.5, "gain_med": 0.25},
        "@10",
        "BPMDCWLMetric(2, 10, 1.5, 1.0, 0.25)",
    ),
    ("TBG", {"half_life": 22}, "", "TBGCWLMetric(22)"),
    ("TBG", {"half_life": 224, "cost": 30}, "", "TBGCWLMetric(224)"),
    ("U", {"L": 20}, "", "UMeasureCWLMetric(20)"),
    ("U", {"L": 500, "cost": 30}, "", "UMeasureCWLMetric(500)"),
]


def cwl(spelt: str) -> Any:
    """Build one of cwl_eval's metrics."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # backslashes in its docstrings
        ruler = pytest.importorskip(
            "cwl.ruler.cwl_ruler", reason="cwl-eval is not installed: make parity"
        )
    name, _, inside = spelt.rstrip(")").partition("(")
    return getattr(ruler, name)(
        *(float(x) if "." in x else int(x) for x in inside.split(",") if x)
    )


def by_cwl_eval(spelt: str, gains: Sequence[float], cost: float) -> dict[str, float]:
    """Return its ten numbers, less the two about the costs of unjudged documents."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from cwl.ruler.ranking import Ranking
    metric = cwl(spelt)
    metric.residuals = True
    metric.measure(
        Ranking("q", list(gains), [cost] * len(gains), max_cost=cost, min_cost=cost)
    )
    names = ("utility", "total_utility", "cost", "total_cost", "items")
    values = dict(
        zip(
            OUTPUTS[:5],
            (getattr(metric, f"expected_{name}") for name in names),
            strict=True,
        )
    )
    rest = (
        getattr(metric, f"residual_expected_{name}")
        for name in ("utility", "total_utility", "items")
    )
    return {**values, **dict(zip(OUTPUTS[5:], rest, strict=True))}


def texts_of(
    model: str, options: dict[str, Any], cut: str, **more: Any
) -> dict[str, str]:
    """Return our text for every output."""
    text = "".join(f", {name}={value}" for name, value in {**options, **more}.items())
    return {
        output: f"CWL(max_grade=4, model={model}, output={output}{text}){cut}"
        for output in OUTPUTS
    }


@pytest.mark.parametrize(("model", "options", "cut", "spelt"), MODELS, ids=str)
def test_cwl_eval(model: str, options: dict[str, Any], cut: str, spelt: str) -> None:
    """All outputs agree but ETU and ETC, which there leave out the users still looking at rank 1000."""
    cases = 60 if model in ("AP", "RBP") else CASES
    qrels, lists, _ = collection(2, cases=cases)
    texts = texts_of(model, options, cut)
    values = under_their_text(qrels, lists, [*texts.values()])
    cost = float(options.get("cost", 1.0))
    for query, docs in lists.items():
        gains = [qrels[query].get(doc, math.nan) / TOP for doc in docs]
        theirs = by_cwl_eval(spelt, gains, cost)
        for output, text in texts.items():
            if output not in ("ETU", "ETC", "ResETU"):
                assert close(theirs[output], values[query][text], 1e-11), (query, text)
    if cut or model == "AP":
        return  # nothing reads rank 1000, or past it
    onward = texts_of(model, options, cut, n_max=1001)["ED"]
    still = under_their_text(qrels, lists, [onward, texts["ED"]])
    for query, docs in lists.items():
        looking = (still[query][onward] or 0.0) - (still[query][texts["ED"]] or 0.0)
        gains = [qrels[query].get(doc, 0) / TOP for doc in docs]
        theirs = by_cwl_eval(
            spelt, [qrels[query].get(doc, math.nan) / TOP for doc in docs], cost
        )
        ours_etu, ours_etc = (
            values[query][texts[output]] or 0.0 for output in ("ETU", "ETC")
        )
        if model in ("TBG", "U"):
            looking = 0.0  # their V is cut off there
        assert close(theirs["ETU"], ours_etu - looking * sum(gains), 1e-9)
        assert close(theirs["ETC"], ours_etc - looking * 1000 * cost, 1e-9)
        if looking > 1e-9:
            assert not close(theirs["ETC"], ours_etc, 1e-9), (
                "an agreement nobody expected"
            )


def test_u_of_cwl_eval_leaves_out_rank_1000() -> None:
    """Its W has a 0 there whatever L is, so for a large L its ED is that of 999 ranks."""
    theirs = by_cwl_eval("UMeasureCWLMetric(5000)", [1.0], 1.0)["ED"]
    texts = {
        ranks: f"CWL(gain=binary, n_max={ranks}, model=U, output=ED, L=5000)"
        for ranks in (999, 1000)
    }
    value = under_their_text({"q": {"a": 1}}, {"q": ["a"]}, list(texts.values()))["q"]
    assert close(theirs, value[texts[999]], 1e-9)
    assert not close(theirs, value[texts[1000]], 1e-9)


def test_ap_of_cwl_eval_divides_by_the_finds() -> None:
    """Its AP says R and divides by what was found, as W sums to 1: that is AP(denom=hits)."""
    qrels, lists, _ = collection(3, top=1, cases=60)
    values = ours(qrels, lists, ["AP(denom=hits)", "AP"])
    differs = 0
    for query, docs in lists.items():
        theirs = by_cwl_eval(
            "APCWLMetric()", [qrels[query].get(doc, math.nan) for doc in docs], 1.0
        )["EU"]
        assert close(theirs, values[query]["AP(denom=hits)"], 1e-12)
        differs += not close(theirs, values[query]["AP"], 1e-6)
    assert differs > 30


# -- gdeval ----------------------------------------------------------------------------------------------
def test_gdeval_through_ir_measures() -> None:
    """The ERR of gdeval is that of a scale of 0 … 4, ties by id descending, printed with five decimals."""
    if shutil.which("perl") is None:
        pytest.skip("perl is not installed")
    qrels, _, run = collection(4, ties=True)
    texts = ["ERR@3", "ERR@20"]
    expected = by_ir_measures(qrels, run, texts)
    values = ours(qrels, run, [f"ERR(max_grade=4)@{k}" for k in (3, 20)])
    assert len(expected) == CASES
    for query, row in expected.items():
        for text, value in row.items():
            exact = values[query][text.replace("ERR", "ERR(max_grade=4)")]
            assert exact is not None
            assert abs(value - exact) <= 0.5e-5 + 1e-12


# -- pyNTCIREVAL -----------------------------------------------------------------------------------------
def test_pyntcireval() -> None:
    """ERR, nERR, RBP, AP and the Q-measure of levels 0 … 4 with gains 1, 2, 3, 4."""
    metrics = pytest.importorskip(
        "pyNTCIREVAL.metrics",
        reason="pyNTCIREVAL is not installed: make parity",
        exc_type=ImportError,
    )
    gains = [1, 2, 3, 4]
    build: dict[str, Callable[[list[int]], Any]] = {
        "ERR(gain=linear_plus1, max_grade=4)": lambda counts: metrics.ERR(
            counts, gains
        ),
        "nERR(gain=linear_plus1, max_grade=4)@5": lambda counts: metrics.nERR(
            counts, gains, 5
        ),
        "nERR(gain=linear_plus1, max_grade=4)@40": lambda counts: metrics.nERR(
            counts, gains, 40
        ),
        "RBP(gain=linear, max_grade=4, p=0.95)": lambda counts: metrics.RBP(
            counts, gains, 0.95
        ),
        "Q": lambda counts: metrics.QMeasure(counts, gains, 1.0),
        "Q(beta=10)": lambda counts: metrics.QMeasure(counts, gains, 10.0),
        "Q(denom=min_R_k)@5": lambda counts: metrics.QMeasure(counts, gains, 1.0, 5),
        "O_measure": lambda counts: metrics.OMeasure(counts, gains, 1.0),
        "O_measure(beta=10)": lambda counts: metrics.OMeasure(counts, gains, 10.0),
        "P_measure": lambda counts: metrics.PMeasure(counts, gains, 1.0),
        "P_plus": lambda counts: metrics.PPlusMeasure(counts, gains, 1.0),
        "P_plus(beta=10)": lambda counts: metrics.PPlusMeasure(counts, gains, 10.0),
        "AP(denom=min_R_k)@5": lambda counts: metrics.AP(counts, gains, 5),
    }
    qrels, lists, _ = collection(5)
    values = ours(qrels, lists, list(build))
    expected: dict[str, dict[str, float]] = {}
    for query, docs in lists.items():
        judged = list(qrels[query].values())
        counts = [judged.count(level) for level in range(TOP + 1)]
        ranked = [(doc, qrels[query].get(doc)) for doc in docs]
        if sum(counts[1:]):
            expected[query] = {
                text: make(counts).compute(ranked) for text, make in build.items()
            }
    assert len(expected) > 0.9 * CASES
    assert not disagreements(expected, values)


# -- compatibility ---------------------------------------------------------------------------------------
COMPATIBILITIES = ["Compat", "Compat(p=0.8)", "Compat(p=0.9,normalize=False)"]


def at_depth(text: str, depth: object) -> str:
    """Add the depth to a text of ir_measures."""
    return (
        f"{text[:-1]},depth={depth})"
        if text.endswith(")")
        else f"{text}(depth={depth})"
    )


def test_compatibility_of_ir_measures() -> None:
    """ir_measures compares down to the longer of list and ideal; ties in the run go to the smaller id."""
    qrels, _, run = collection(6)
    theirs = by_ir_measures(qrels, run, COMPATIBILITIES)
    deep = {text: at_depth(text, "lists") for text in COMPATIBILITIES}
    values = under_their_text(qrels, run, list(deep.values()))
    expected = {
        query: {deep[text]: value for text, value in row.items()}
        for query, row in theirs.items()
    }
    assert len(expected) == CASES
    assert not disagreements(expected, values)

    whole = under_their_text(qrels, run, ["Compat"])
    apart = [
        query
        for query in theirs
        if not close(theirs[query]["Compat"], whole[query]["Compat"], 1e-6)
    ]
    assert len(apart) > CASES / 2, "an agreement nobody expected"


def test_compatibility_to_depth_1000() -> None:
    """Down to rank 1000, as in the authors' script, ours is ir_measures' overlap with that script's ideal."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer = pytest.importorskip(
            "ir_measures.providers.compat_provider", reason="ir_measures: make parity"
        )
    qrels, lists, _ = collection(9)
    values = ours(qrels, lists, ["Compat", "Compat(p=0.8, normalize=False)"])
    for query, docs in lists.items():
        wanted = {doc: grade for doc, grade in qrels[query].items() if grade > 0}
        position = {doc: rank for rank, doc in enumerate(docs)}
        ideal = sorted(
            wanted, key=lambda doc: (-wanted[doc], position.get(doc, len(docs)))
        )
        best = peer.rbo(ideal, ideal, 0.95, 1000)
        expected = peer.rbo(docs, ideal, 0.95, 1000) / best if best else 0.0
        assert close(expected, values[query]["Compat"], 1e-12)
        plain = peer.rbo(docs, ideal, 0.8, 1000)
        assert close(plain, values[query]["Compat(p=0.8, normalize=False)"], 1e-12)


def test_compatibility_of_ir_measures_with_ties() -> None:
    """Equal grades with tied scores are in the judgments' order there, so its ideal is not the most alike."""
    qrels, _, run = collection(7, ties=True)
    theirs = by_ir_measures(qrels, run, ["Compat"])
    values = ours(qrels, run, ["Compat(depth=lists)"], ties="docid_asc")
    gaps = [
        (values[q]["Compat(depth=lists)"] or 0.0) - theirs[q]["Compat"] for q in theirs
    ]
    assert min(gaps) > -1e-12
    assert max(gaps) > 1e-3


def test_compatibility_of_ir_measures_with_negative_scores() -> None:
    """There a document that is not retrieved has score 0 and is preferred to one with a negative score."""
    qrels: Qrels = {"q": {"a": 1, "b": 1}}
    theirs, rows = [], []
    for shift in (0.0, -10.0):
        run = {"q": {"a": 2.0 + shift, "c": 1.0 + shift}}
        theirs.append(by_ir_measures(qrels, run, ["Compat"])["q"]["Compat"])
        rows.append(
            ours(qrels, run, ["Compat(depth=lists)"])["q"]["Compat(depth=lists)"]
        )
    assert rows[0] == rows[1]
    assert close(theirs[0], rows[0], 1e-12)
    assert theirs[1] < theirs[0] - 0.1
