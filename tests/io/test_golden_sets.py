"""Golden sets: read under the keys that people use, refused by name where they are none."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from tests.command_line import command

import rankstone
from rankstone.errors import BadValue, DuplicateRows, InputError
from rankstone.io.golden_sets import golden_in, golden_set

if TYPE_CHECKING:
    from pathlib import Path

RUN = {"a": ["x", "l", "d1"], "b": ["r"]}


def cases(**more: Any) -> list[dict[str, Any]]:
    first = {"id": "a", "query": "reset?", "expected": ["d1", "l"]}
    return [first | more, {"id": "b", "query": "refund?", "expected": ["r"]}]


@pytest.mark.parametrize(
    "expected",
    [
        ["d1", "l"],
        [{"id": "d1"}, {"path": "l"}],
        {"d1": 1, "l": 1},
        "d1|l",
        "['d1', 'l']",
        '["d1", "l"]',
        [{"doc_id": "d1", "grade": 1}, "l"],
    ],
)
def test_forms_of_what_is_expected(expected: object) -> None:
    """Lists of ids and of objects, grades by document, a list in a text."""
    scores = rankstone.evaluate(cases(expected=expected), RUN, "R@2 RR")
    assert scores.to_dict() == {"run": {"R@2": (1 / 2 + 1) / 2, "RR": (1 / 2 + 1) / 2}}


def test_frames_and_golden_sets_are_judgments() -> None:
    """A frame with lists, and the object itself, score as the list of dicts."""
    wanted = rankstone.evaluate(cases(), RUN, "AP").to_dict()
    frame = pl.DataFrame(cases())
    assert rankstone.evaluate(frame, RUN, "AP").to_dict() == wanted
    assert rankstone.evaluate(golden_set(cases()), RUN, "AP").to_dict() == wanted


def test_groups_are_read_by_measures_of_groups() -> None:
    """Alternatives are one need; a document of two groups is judged once elsewhere."""
    golden = [{"id": "a", "query": "x", "hops": [["d1", "d2"], ["d2", "d3"], ["d4"]]}]
    run = {"a": ["d2", "d9", "d4"]}
    scores = rankstone.evaluate(golden, run, "StRecall@2 R@3 NumRel")
    assert scores.to_dict()["run"] == {"StRecall@2": 2 / 3, "R@3": 2 / 4, "NumRel": 4.0}


def test_lists_in_what_is_expected_are_alternatives() -> None:
    """Of ``[["a", "b"], "c"]`` either a or b is needed, and c; so does a cell that holds it as text."""
    nested = [["d1", {"id": "d2"}], "l"]
    hops = cases(expected=[], hops=[["d1", "d2"], ["l"]])
    run = {"a": ["l", "x", "d2"], "b": ["r"]}
    wanted = rankstone.evaluate(hops, run, "FullRecall@2 FullRecall@3 R@3").to_dict()
    assert wanted["run"]["FullRecall(each=subtopic)@3"] == 1
    for expected in (nested, json.dumps(nested), "[['d1', 'd2'], 'l']"):
        golden = golden_set(cases(expected=expected))
        scores = rankstone.evaluate(golden, run, "FullRecall@2 FullRecall@3 R@3")
        assert scores.to_dict() == wanted
        assert "1 query with groups" in golden.note


@pytest.mark.parametrize("key", ["match", "match_type", "mode", "require"])
def test_one_of_what_is_expected_or_each(key: str, tmp_path: Path) -> None:
    """Beside a list ``match`` says whether one of it is enough, in records, cells and grades by document."""
    run = {"a": ["l"], "b": ["r"]}

    def full(value: Any) -> Any:
        [mean] = rankstone.evaluate(value, run, "FullRecall").to_dict()["run"].values()
        return mean

    wanted = {"any": 1, "One": 1, "all": 1 / 2, None: 1 / 2}
    for word, mean in wanted.items():
        for expected in (["d1", "l"], {"d1": 2, "l": 1}, "d1|l", [["d1", "l"]]):
            nested = expected == [["d1", "l"]]
            golden = cases(expected=expected, **{key: word})
            assert full(golden) == (1 if nested else mean), (word, expected)
            path = tmp_path / "golden.json"
            path.write_text(json.dumps({"version": 3, "questions": golden}))
            assert full(path) == full(golden)
    read = golden_set(cases(**{key: "any"}))
    assert key not in read.attributes.columns
    assert read.cases[0].needs[0].documents == {"d1": 1, "l": 1}
    with pytest.raises(BadValue, match="record 2"):
        golden_set([*cases(**{key: "any"})[:1], cases()[1] | {key: "some"}])


def test_a_mode_of_search_is_an_attribute() -> None:
    """``mode`` that never says any or all is of something else; ``match`` is not."""
    golden = golden_set(cases(mode="hybrid"))
    assert golden.cases[0].about == {"mode": "hybrid"}
    assert "mode" not in golden.note
    with pytest.raises(BadValue, match="match is hybrid"):
        golden_set(cases(match="hybrid"))
    for key, word in (("any_of", "all"), ("hops", "any"), ("expected_text", "any")):
        record = {"query": "x", key: ["d1", "d2"], "match": word}
        with pytest.raises(BadValue, match="leave out match"):
            golden_set([record])
    golden_set([{"query": "x", "any_of": ["d1", "d2"], "match": "any"}])
    golden_set([{"query": "x", "hops": ["d1", "d2"], "match": "all"}])


@pytest.mark.parametrize(
    ("key", "value"),
    [
        *(("should_answer", False), ("has_answer", False), ("is_answerable", "no")),
        *(("should_abstain", True), ("unanswerable", True)),
    ],
)
def test_words_for_queries_without_an_answer(key: str, value: object) -> None:
    golden = golden_set(
        [*cases(), {"id": "c", "query": "x", "expected": [], key: value}]
    )
    assert [case.answerable for case in golden.cases] == [None, None, False]


def test_attributes_need_no_second_file() -> None:
    """Means by a column, queries of a split, and unanswerable ones come from the set."""
    golden = [
        *cases(split="dev", category="account"),
        {"id": "c", "query": "weather?", "answerable": False, "split": "dev"},
    ]
    run = {**RUN, "c": ["x"]}
    scores = rankstone.evaluate(golden, run, "RR FalseRetrieval", split="dev")
    assert scores["RR"] == 1 / 2
    assert scores["FalseRetrieval"] == 1
    audit = scores.audit.to_dict()
    assert audit["judgments"]["queries"] == 2
    assert audit["runs"]["run"]["extra"] == 0
    assert scores.conventions["alignment"]["split"] == "dev"


def test_a_split_of_a_query_table() -> None:
    """A column split does the same for any judgments."""
    qrels = {"a": {"d1": 1}, "b": {"r": 1}}
    table = {"a": {"split": "dev"}, "b": {"split": "holdout"}}
    scores = rankstone.evaluate(qrels, RUN, "RR", queries=table, split="holdout")
    assert scores["RR"] == 1
    with pytest.raises(rankstone.RankstoneError, match="did you mean holdout"):
        rankstone.evaluate(qrels, RUN, "RR", queries=table, split="holdou")
    with pytest.raises(rankstone.RankstoneError, match="column split"):
        rankstone.evaluate(qrels, RUN, "RR", split="holdout")


def test_ids_are_the_texts_where_there_are_none() -> None:
    golden = [{"query": "refund?", "expected": ["r"]}]
    scores = rankstone.evaluate(golden, {"refund?": ["x", "r"]}, "RR")
    assert scores["RR"] == 1 / 2
    assert "no ids" in str(scores.audit.to_dict()["judgments"]["read_as"])


@pytest.mark.parametrize(
    ("record", "kind", "words"),
    [
        ({"expected": ["the answer is in the settings"]}, InputError, "sentence"),
        ({"expected": [["d1", 2]]}, InputError, "no id"),
        ({"expected": [[]]}, InputError, "no id"),
        ({"expected": "[['a', b], 'c']"}, InputError, "lists in a list"),
        ({"forbidden": [["d1"]]}, InputError, "no id"),
        ({"expected": [{"score": 1}]}, InputError, "has no id"),
        ({"forbidden": ["d1"]}, BadValue, "both expected and forbidden"),
        ({"answerable": "maybe"}, BadValue, "true or false"),
        ({"answerable": False}, BadValue, "documents are expected"),
        ({"id": "b"}, DuplicateRows, "twice"),
        ({"id": None, "query": ""}, InputError, "without id and query"),
        ({"expected": "a, b"}, InputError, "one id, or a list"),
        ({"relevant_docs": ["d9"]}, InputError, "two keys may be expected"),
    ],
)
def test_what_is_refused(
    record: dict[str, Any], kind: type[Exception], words: str
) -> None:
    """Each with the record that is meant."""
    with pytest.raises(kind, match=words) as error:
        rankstone.evaluate(cases(**record), RUN, "RR")
    assert "record" in str(error.value)


@pytest.mark.parametrize(
    "other",
    [
        [{"query_id": "q", "doc_id": "d", "relevance": 1}],
        [{"question": "q", "expected": ["d"], "retrieved": ["d"]}],
        {"q": {"d": 1}},
        {"q": ["d"]},
        {"queries": {"a": "x"}, "corpus": {}, "relevant_docs": {"a": ["d"]}},
        [],
        {},
        "no file",
        pl.DataFrame({"query_id": ["q"], "doc_id": ["d"]}),
    ],
)
def test_other_judgments_are_no_golden_sets(other: object, tmp_path: Path) -> None:
    """Tables, logs with both sides and other shapes stay what they are."""
    if isinstance(other, str):
        path = tmp_path / "q.txt"
        path.write_text("q 0 d 1\n")
        other = path
    assert golden_in(other) is None


def test_yaml_keeps_texts(tmp_path: Path) -> None:
    """An id 1.10 is no number, lines of errors are those of the file, keys are there once."""
    path = tmp_path / "set.yaml"
    path.write_text("# ours\n- id: 1.10\n  query: yes\n  expected: [007]\n")
    golden = golden_set(path)
    assert golden.cases[0].query_id == "1.10"
    assert golden.cases[0].relevant == {"007": 1}

    path.write_text("- id: a\n  id: b\n  expected: [d]\n")
    with pytest.raises(DuplicateRows, match=r"set\.yaml:2"):
        golden_set(path)
    path.write_text("- id: a\n  expected: [d\n- id: b\n")
    with pytest.raises(InputError, match=r"set\.yaml:3"):
        golden_set(path)
    path.write_text("- &x {id: a, expected: [d]}\n- *x\n")
    with pytest.raises(InputError, match="alias"):
        golden_set(path)
    path.write_text("version: 2\ncases:\n  - {id: a, expected: [d]}\n")
    assert golden_set(path).cases[0].query_id == "a"


def test_at_a_shell(tmp_path: Path) -> None:
    """By category and by split; the audit says that it is a golden set."""
    text = json.dumps({"cases": cases(category="account", split="dev")})
    (tmp_path / "golden.json").write_text(text)
    (tmp_path / "run.json").write_text(json.dumps(RUN))
    line = ("eval", "golden.json", "run.json", "-m", "RR")
    assert "a golden set" in command(*line, cwd=tmp_path).stdout
    by = command(*line, "--by", "category", cwd=tmp_path).stdout
    assert "category=account (1)" in by
    split = command(*line, "--split", "dev", cwd=tmp_path).stdout
    assert "0.5000" in split
    assert "split=dev" in split


def test_expected_texts_are_looked_up_in_documents() -> None:
    """A text stands for the documents that contain it, one of which is enough."""
    golden = [{"id": "a", "query": "hours?", "expected_text": ["Open until nine"]}]
    documents = {"h": "We are open until nine.", "f": "open UNTIL nine!", "x": "closed"}
    table = pl.DataFrame({"doc_id": [*documents], "text": [*documents.values()]})
    run = {"a": ["x", "f"]}
    scores = rankstone.evaluate(golden, run, "RR StRecall@2", documents=table)
    assert scores.to_dict() == {"run": {"RR": 1 / 2, "StRecall@2": 1.0}}
    with pytest.raises(InputError, match="expects a text") as error:
        rankstone.evaluate(golden, run, "RR")
    assert "documents=" in str(error.value)


def test_the_likeliest_key_is_the_id() -> None:
    """Whatever stands first; other keys are attributes."""
    golden = [
        {"key": "billing", "id": "a", "input": "i", "query": "q", "expected": ["d"]}
    ]
    case = golden_set(golden).cases[0]
    assert (case.query_id, case.query) == ("a", "q")
    assert case.about == {"key": "billing", "input": "i"}


def test_grades_of_zero_are_judgments_and_expect_nothing() -> None:
    """A document with grade 0 is judged, and is no document that must be found."""
    golden = [{"id": "a", "query": "q", "expected": {"d": 2, "n": 0}}]
    assert golden_set(golden).cases[0].relevant == {"d": 2}
    scores = rankstone.evaluate(golden, {"a": ["n", "d"]}, "R@2 Judged@2 FullRecall@2")
    assert scores.to_dict() == {
        "run": {"R@2": 1.0, "Judged@2": 1.0, "FullRecall@2": 1.0}
    }


def test_an_expected_text_is_one_text() -> None:
    """Signs that stand between ids are part of a text."""
    golden = [{"id": "a", "query": "q", "contains": "open; until nine, daily"}]
    assert [need.text for need in golden_set(golden).cases[0].needs] == [
        "open; until nine, daily"
    ]
