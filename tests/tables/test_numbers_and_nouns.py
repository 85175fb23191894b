"""Numbers agree with their nouns: “1 query”, “2 queries”, in the phrases of results and in messages."""

from __future__ import annotations

import ast
import re
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tests.phrase_uses import sentences

import rankstone
from rankstone import compare_scores, demo
from rankstone.reports.page_words import Words
from rankstone.tables.phrases import filled

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE: Final = Path(rankstone.__file__).parent
NOUN: Final = (
    "queries|systems|runs|rows|files|documents|lists|slices|columns|scores|clusters|points|"
    "pairs|data sets|ids|items|groups|features|steps|values|weights|names|labels|users|ranks|"
    "samples|judgments|candidates|topics|units|decimals|measures|sessions|segments|cohorts|"
    "battles|figures|inputs|copies|grades|neighbours|differences|ages|others|results|references|"
    "events|clicks|impressions|estimates|permutations|comparisons|periods|reasons|words|shards"
)
#: what follows a number in a phrase: a plural noun, perhaps after an adjective
NO_VERB: Final = r"(?:(?!have|order|in|of|for)[a-z-]+ ){0,2}?"
IN_PHRASE: Final = re.compile(rf"\{{(\w+)\}} {NO_VERB}(?:{NOUN})\b")
#: the words for one and for several
AGREEING: Final = re.compile(r"\{\w+:[^{}]*(?:\{\w+\}[^{}]*)*\}")
#: expressions that count
COUNTS: Final = re.compile(
    r"len\(|\.height|\.sum\(\)|\.size\b|n_unique|\['n'\]|\.rows\b|\.units\b|\.max\(\)"
)

#: phrases of more than one → why
SEVERAL: Final = {
    "board could_lead": "one that could lead leads",
    "board cannot_rank": "half of the systems, on several data sets",
    "board more_seeds": "one seed is what there is",
    "board resampled_clusters": "the number of samples of a bootstrap",
    "board resampled_battles": "the number of samples of a bootstrap",
    "board missing_skip": "of several systems on several data sets",
    "board missing_worst": "of several systems on several data sets",
    "board missing_model": "of several systems on several data sets",
    "comparison systems": "of more than three",
    "comparison family": "one comparison has a phrase of its own",
    "comparison family_share": "one comparison has a phrase of its own",
    "comparison family_each": "one comparison has a phrase of its own",
    "comparison clear": "of more than 12 systems",
    "comparison drawn": "permutations that are drawn are thousands",
    "comparison repeated_verdicts": "pairs of several runs",
    "comparison repeated_more": "more than there are",
    "collection could_lead": "one that could lead leads",
    "pages critical_caption": "Friedman's test has several systems",
    "pages must_reach": "the pairs of three systems and more",
    "pages must_reach_each": "the pairs of three systems and more",
    "pages cannot_be_clear": "the pairs of three systems and more",
    "pages claim_above": "three systems and more",
    "pages matrix_help": "the pairs of three systems and more",
    "pages matrix_help_pixels": "the pairs of three systems and more",
    "pages pairs_table": "the pairs of three systems and more",
    "pages judged_many_head": "of several systems",
    "pages where_curve": "a curve has many queries",
    "pages where_sample": "a sample of very many queries",
    "pages kept_of": "a sample of very many queries",
    "pages rows_of": "a table that is cut",
}
#: messages of more than one, by file and noun → why
SEVERAL_IN_CODE: Final = {
    "boards/battle_results.py columns": "one column of the three is no choice",
    "boards/query_slices.py queries": "too many",
    "boards/rank_tests.py scores": "a number of data sets, which are counted after it",
    "cli/conventions_command.py measures": "a column of a list",
    "explanation/explain_scores.py measures": "one is explained",
    "golden/golden_checks.py queries": "too many",
    "golden/golden_checks.py values": "one value is no category",
    "hits/alignment_audit.py runs": "one has lines of its own",
    "hits/extras/imputation.py rows": "each of them",
    "hits/ranks_and_ties.py documents": "one ties with none",
    "integrations/arrays/array_labels.py labels": "hundreds",
    "integrations/arrays/array_labels.py rows": "hundreds",
    "io/json_objects.py lists": "one is read",
    "io/json_objects.py files": "one is read",
    "io/several_runs.py files": "one is one run",
    "ltr/model_selection.py candidates": "one is the best",
    "online/log_tables.py rows": "one has no double",
    "online/periods.py values": "too many",
    "online/event_survey.py values": "too many",
    "online/segments.py segments": "too many",
    "online/segments.py pairs": "too many",
    "rankings/recommendation/list_reading.py items": "one ties with none",
}


def test_phrases_agree_with_their_numbers() -> None:
    """Each says ``{n:query|queries}``, has a twin for one, or is always of several."""
    phrases = {
        f"{section} {name}": text
        for section, by_name in sentences().items()
        for name, text in by_name.items()
    }
    wrong = [
        f"{name}: {text}"
        for name, text in phrases.items()
        if IN_PHRASE.search(AGREEING.sub("", text))
        and f"{name}_1" not in phrases
        and name not in SEVERAL
    ]
    assert wrong == []


def messages() -> Iterator[tuple[str, str, str]]:
    """Yield the place, the number and the text after it, of texts that are put together in code."""
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            parts = node.values if isinstance(node, ast.JoinedStr) else []
            for part, after in pairwise(parts):
                if isinstance(part, ast.FormattedValue) and isinstance(
                    after, ast.Constant
                ):
                    place = path.relative_to(PACKAGE).as_posix()
                    yield place, ast.unparse(part.value), str(after.value)


def test_messages_agree_with_their_numbers() -> None:
    """A count and its noun are put together by ``counted``."""
    wrong = []
    for place, number, after in messages():
        noun = re.match(rf" {NO_VERB}({NOUN})\b", after)
        counts = COUNTS.search(number) and not number.startswith(
            ("counted(", "queries(", "some(", "printable(")
        )
        if noun and counts and f"{place} {noun[1]}" not in SEVERAL_IN_CODE:
            wrong.append(f"{place}: {{{number}}}{after[:40]}")
    assert wrong == []


def test_one_and_several() -> None:
    """Words for one, also where the number itself is left out; formats are as they were."""
    assert filled("{n} {n:query|queries}", {"n": 1}) == "1 query"
    assert filled("{n} {n:query|queries}", {"n": "1,000"}) == "1,000 queries"
    assert filled("{n:the only query|all {n} queries}", {"n": "12"}) == "all 12 queries"
    assert filled("{x:.2f} of {y}", {"x": 0.5, "y": "z"}) == "0.50 of z"
    for lang in ("en", "zh"):
        assert "1" in Words(lang)("inputs_of", count=1)
    assert Words("en")("inputs_of", count=1) == "1 input, with its hash"


def test_a_comparison_of_one_query() -> None:
    """In both languages, in all that is printed."""
    runs = {"a": {"q": {"m": 0.5}}, "b": {"q": {"m": 0.5}}}
    for lang in ("en", "zh"):
        text = compare_scores(runs, lang=lang).text(200, verbose=True)
        assert re.search(rf"\b1 (?:{NOUN})\b", text) is None
        assert not re.search(r"\{|\|", text.replace("│", ""))
    per_query = rankstone.evaluate(demo.QRELS, demo.RUNS, "RR").per_query
    query = per_query.filter(query_id="q01")
    assert "a · b, 1 query" in compare_scores(runs).text()
    assert " 1 queries" not in compare_scores(query).text(200)
