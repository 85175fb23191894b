"""Small files that are refused, each for a reason of its own, beside those of ``small_files``."""

from __future__ import annotations

import io
import random
from datetime import datetime
from pathlib import Path
from typing import Final

import polars as pl
from tests.cli.small_files import write_small_files

__all__ = ["write_mistaken_files"]

_TEXTS: Final[dict[str, str]] = {
    "answers.csv": """\
question,answer,faithfulness
what,it,0.5
""",
    "partly.csv": """\
query_id,correct
q1,0.5
q2,0.9
""",
    "graded-elsewhere.csv": """\
query_id,grade
q1,1
q2,0
""",
    "apart.jsonl": """\
{"run_id":"a","qid":"q1","query":"w","nuggets":[{"text":"it", "importance": "vital", "assignment": "support"}]}
{"run_id":"b","qid":"q1","query":"w","nuggets":[{"text":"it", "importance": "vital", "assignment": "support"}]}
""",
    "below.csv": """\
query_id,doc_id,relevance
q1,a,1
q1,b,-2
q1,c,3
""",
    "big.csv": """\
query_id,doc_id,relevance
q0,a,2000
q1,a,1
""",
    "broken.csv": """\
user_id,time
a,2024-01-01
b,x
a,2024-01-02
""",
    "chunks.csv": """\
query_id,doc_id,score,document,start,end
q,d1,2,D,0,5
p,d1,1,D,0,5
""",
    "clicked-x.csv": """\
query_id,doc_id
q1,a
q1,zz
""",
    "copied.csv": """\
query_id,doc_id,score
q1,a,3
q1,a,2
""",
    "dates.csv": """\
user_id,time
a,01/02/2024
a,03/04/2024
""",
    "dup.csv": """\
run,query_id,measure,value
a,q0,AP,0.5
a,q0,AP,0.5
b,q0,AP,0.5
b,q0,AP,0.5
""",
    "empty-extra.json": """\
{"q77": [], "q1": ["a"]}
""",
    "empty-lists.json": """\
{"q0": [], "q1": ["a"]}
""",
    "asked-twice.jsonl": """\
{"query_id": "q1", "doc_id": ["a", "b"]}
{"query_id": "q2", "doc_id": ["a"]}
{"query_id": "q1", "doc_id": ["c"]}
""",
    "extra.csv": """\
query_id,doc_id,score
q0,a,1
q77,a,1
""",
    "far.csv": """\
user_id,time
a,0100-01-01
a,2024-01-02
""",
    "few.csv": """\
user_id,time
u0,2024-01-01T00:00:00
""",
    "from0.csv": """\
query_id,doc_id,position,clicked
q,a,0,1
q,b,1,0
q,c,2,0
""",
    "gaps.csv": """\
system,law,news,code
a,0.5,0.4,
b,0.6,0.5,0.2
c,0.1,0.2,0.25
""",
    "h.csv": """\
q1,d1,1,x y
q1,d2,0,z w
q2,d2,2,z w
""",
    "hr.csv": """\
q1,d1,0.5,x y
q1,d2,0.7,z w
""",
    "ideal.csv": """\
query_id,doc_id,score
q1,c,3
q1,a,2
""",
    "ids.csv": """\
number,law
0.5,1
0.7,2
""",
    "ids.jsonl": """\
{"user_input": "what", "retrieved_context_ids": ["a"], "reference_context_ids": ["a"]}
""",
    "judged-twice.csv": """\
query_id,doc_id,relevance
q0,a,2
q0,a,1
""",
    "labelled-noid.csv": """\
query_id,score,relevance
q1,1,1
q1,1,0
q2,1,0
q2,1,2
""",
    "late.csv": """\
user_id,time
u0,2024-01-03T00:00:00
u1,2024-01-03T00:00:00
u2,2024-01-03T00:00:00
u3,2024-01-03T00:00:00
u4,2024-01-03T00:00:00
u5,2024-01-03T00:00:00
""",
    "means.txt": """\
map all 0.5
""",
    "meas.csv": """\
system,dataset,measure,value
a,x,AP,0.5
a,x,RR,0.5
a,y,AP,0.5
a,y,RR,0.5
b,x,AP,0.5
b,x,RR,0.5
b,y,AP,0.5
b,y,RR,0.5
""",
    "measures-apart.csv": """\
run,query_id,measure,value
a,q0,AP,.1
a,q1,AP,.2
b,q0,AP,.3
b,q1,AP,.1
a,q2,RR,.1
a,q3,RR,.2
b,q2,RR,.3
b,q3,RR,.1
""",
    "mixed.csv": """\
user_id,time
a,2024-01-01T10:00:00Z
a,2024-01-02T10:00:00
""",
    "ms.csv": """\
user_id,time
a,1700000000000
a,1700086400500
""",
    "neg-labelled.csv": """\
query_id,doc_id,score,relevance
q1,a,1,-1
q1,b,2,0
q2,c,1,1
""",
    "negative.csv": """\
query_id,doc_id,relevance
q0,a,-1
q1,b,1
""",
    "nocard.json": """\
{"a": 1}
""",
    "noties.csv": """\
left,right,winner
a,b,left
b,a,left
a,b,left
a,b,right
b,a,right
""",
    "nulls.csv": """\
run,query_id,measure,value
a,q0,AP,0.0
a,q1,AP,
a,q2,AP,0.2
a,q3,AP,0.3
b,q0,AP,0.0
b,q1,AP,
b,q2,AP,0.2
b,q3,AP,0.3
""",
    "odd.csv": """\
user_id,time
a,5000000000
a,5000000900
""",
    "one-item.csv": """\
doc_id,kind
a,x
""",
    "one-judged.csv": """\
query_id,doc_id,relevance
q1,a,1
""",
    "one-list.csv": """\
session_id,query_id,doc_id,position,clicked
s,q,a,1,1
s,q,b,2,0
""",
    "orders.csv": """\
user_id,variant,revenue
1,A,1
1,A,2
2,A,3
3,B,2
4,B,5
""",
    "outlier.csv": """\
user_id,time
a,0
a,1700000000000
a,1700086400500
""",
    "partial.csv": """\
query_id,doc_id,score
q0,a,1
""",
    "rare.csv": """\
left,right,winner
a,b,left
a,b,left
a,b,left
a,b,left
a,b,left
a,b,left
a,b,right
b,c,left
b,c,left
b,c,left
b,c,left
b,c,left
b,c,left
b,c,right
""",
    "registered-twice.csv": """\
user_id,time
u0,2024-01-01T00:00:00
u1,2024-01-01T00:00:00
u2,2024-01-01T00:00:00
u3,2024-01-01T00:00:00
u4,2024-01-01T00:00:00
u5,2024-01-01T00:00:00
u1,2023-12-31T00:00:00
""",
    "skip.csv": """\
session,query_id,doc_id,position,clicked
s1,q1,a,1,1
s1,q1,b,3,0
""",
    "spans.csv": """\
query_id,doc_id,start,end,relevance
q,D,0,10,1
p,D,0,10,1
""",
    "tags.run": """\
q0 Q0 a 1 2 t
q0 Q0 a 1 2 s
""",
    "third/x.csv": """\
query_id,doc_id,score
q0,a,1
""",
    "third/y.csv": """\
query_id,doc_id,score
q0,b,1
""",
    "tied.csv": """\
query_id,doc_id,score
q0,a,1
q0,b,1
""",
    "twice.csv": """\
query_id,doc_id,score
q0,a,2
q0,a,1
""",
    "twice.run": """\
q0 Q0 a 1 2 t
q0 Q0 a 2 1 t
""",
    "unlinked.csv": """\
session_id,query_id,doc_id,position,clicked
s,q,a,1,1
s,q,b,2,1
t,q,b,1,1
t,q,a,2,1
u,p,c,1,0
u,p,d,2,0
u,p,e,3,1
u,p,f,4,0
v,p,e,4,1
v,p,c,1,0
v,p,d,2,0
v,p,f,3,1
""",
    "users.csv": """\
user_id,variant,revenue,returned
1,A,1,0
2,A,3,1
3,B,2,1
4,B,5,0
""",
    "wide.csv": """\
query_id,a,b
q0,0.1,x
q1,0.2,y
""",
    "winners.csv": """\
winner,loser
a,b
b,a
a,b
""",
    "zero-judged.csv": """\
query_id,doc_id,relevance
q0,a,0
q1,b,1
q1,a,0
""",
    "zeros.csv": """\
system,law,news
a,0.5,0
b,0.6,0.5
""",
    "many.csv": "user_id,time,kind\n"
    + "".join(f"u{number},2024-01-01,k{number}\n" for number in range(400)),
}
#: a list of more sampled items than some estimates take
_SAMPLED: Final = "".join(f"q1,n{number},{number}\n" for number in range(402))


def _times(zone: str) -> bytes:
    """Return a table of users with times of a zone."""
    file = io.BytesIO()
    time = pl.Series([datetime(2024, 1, day) for day in (1, 2)], dtype=pl.Datetime)  # noqa: DTZ001 - see next
    users = pl.DataFrame(
        {"user_id": ["a", "b"], "time": time.dt.replace_time_zone(zone)}
    )
    users.write_parquet(file)
    return file.getvalue()


def _many_attributes() -> str:
    """Return queries with so many attributes that their pairs are too many slices."""
    draw = random.Random(5)
    lines = [",".join(["query_id", *(f"c{number}" for number in range(110))])]
    for query in range(60):
        cells = [str(draw.randrange(2)) for _ in range(110)]
        lines.append(",".join([f"q{query}", *cells]))
    return "\n".join(lines) + "\n"


_SCORED: Final = [
    f"{run},q{query},AP,{(query * 7 + step) % 10 / 10}"
    for step, run in enumerate("ab")
    for query in range(60)
]
_BYTES: Final = {
    "attributes.csv": _many_attributes().encode(),
    "sixty.csv": "\n".join(["run,query_id,measure,value", *_SCORED, ""]).encode(),
    "berlin.parquet": _times("Europe/Berlin"),
    "tokyo.parquet": _times("Asia/Tokyo"),
    "utf16.jsonl": '{"query_id": "q1", "doc_id": "a", "score": 1}\n'.encode("utf-16"),
    "sampled.csv": f"query_id,doc_id,score\nq1,a,1000\n{_SAMPLED}".encode(),
    "l1.csv": b"query_id,doc_id,score\nq\xe9,d,1\n",
}


def write_mistaken_files() -> None:
    """Write all of them into the current folder, with the files that are as they should be."""
    write_small_files()
    Path("third").mkdir()
    for name, text in _TEXTS.items():
        Path(name).write_text(text)
    for name, content in _BYTES.items():
        Path(name).write_bytes(content)
