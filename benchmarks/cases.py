"""The cases: which processes run beside each other, on which data, and the bars they are held to."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from data import folder

if TYPE_CHECKING:
    from collections.abc import Iterator

MEASURES = "nDCG@10 AP RR@10 R@100 P@10"
#: the same in trec_eval's words
TREC_MEASURES = "ndcg_cut_10 map recip_rank recall_100 P_10"
LABELLED_MEASURES = "nDCG@10 AP RR@10 P@10"
#: everything that the table of items and the past allow; of each kind of measure at least one
BEYOND_MEASURES = (
    "Coverage@10 UserCoverage@10 Gini@10 Gini(discount=log2)@10 Entropy(scale=effective)@10 "
    "Personalization@10 Novelty@10 Popularity@10 APLT@10 PopularityLift@10 Unexpectedness@10 "
    "Unexpectedness(against=history)@10 "
    "ILD@10 ILD(features=category, distance=jaccard)@10 Calibration@10 DP@10 AWRF@10 EED@10 RSP@10"
)
#: what looks at whole lists at little more than the cost of reading them
WHOLE_MEASURES = "Coverage Gini Entropy Personalization Novelty Popularity APLT"
RUN_COLUMNS = ("query_id", "doc_id", "score")
LABELLED_COLUMNS = ("query_id", "score", "relevance")

#: measures of users who look at every rank, whatever stands there
BETWEEN_HITS = (
    "INST(max_grade=3)",
    "INSQ(max_grade=3)",
    "BPM(max_grade=3)@10",
    "NERR9(max_grade=3)@10",
    "NERR11(max_grade=3)",
    "RBP_residual(p=0.8)",
    "U(L=20)",
    "TBG(words=500)",
    "infAP",
    "Compat",
)
CHUNKS = "rankstone, chunks"
FIVE = "rankstone, five measures"
SCAN = "bare Polars scan"
TEXT_SCAN = "bare Polars scan of the text"
GROUP_BY = "bare Polars group-by of the items"
PYTREC = "pytrec_eval"
RANX = "ranx"
IR_MEASURES = "ir_measures"
ORDERED = "rankstone, rows in order"
NUMPY_POLARS = "import numpy, polars"
METRICS = "Spark's RankingMetrics, rows kept in memory"
RECTOOLS = "RecTools (pandas)"
SKLEARN = "scikit-learn, nDCG only"
DEMO = Path(__file__).parents[1] / "src" / "rankstone" / "demo"
#: RecTools asks for an older NumPy, so it has an environment of its own: make live LIBRARIES=rectools
OTHER_PYTHON = Path(__file__).parents[1] / ".venv-live" / "rectools" / "bin" / "python"
#: millions of rows → the share of a full-sized large collection
GROWTH = {1: 0.005, 10: 0.05, 100: 0.5, 1000: 5.0}
#: millions of rows that a peer which makes Python objects of them is asked for
_MOST_OBJECTS = 10


@dataclass(frozen=True)
class Subject:
    """One process to run: its command, what must be installed, and the most runs worth their time.

    ``terminal``: its output goes to a pseudo-terminal.
    """

    name: str
    command: tuple[str, ...]
    needs: tuple[str, ...] = ()
    at_most: int = 1_000
    barred: bool = True
    interpreter: Path | None = None
    terminal: bool = False


@dataclass(frozen=True)
class Bar:
    """An upper limit for the case's first subject: absolute, or times what another subject took.

    ``printed`` is the last word that the subject prints, a number, and ``label`` says what it counts.
    """

    what: Literal["time", "memory", "printed"]
    limit: float
    against: str | None = None
    label: str = ""


@dataclass(frozen=True)
class Case:
    """One piece of work; the first subject is ours, the others are what it is compared with."""

    name: str
    about: str
    dataset: str | None
    subjects: tuple[Subject, ...]
    bars: tuple[Bar, ...]
    #: short processes are run this many times as often
    times: int = 1
    #: of the dataset's own size
    scale: float = 1.0
    #: whether it is left out unless it is asked for: its data take many gigabytes
    huge: bool = False


def cases(root: Path, scale: float) -> tuple[Case, ...]:
    """List every case, for data kept in a folder, of a share of their full size."""
    data = folder(root, scale)
    return (
        *_tiny(),
        _fifty(data),
        *_passages(data),
        *_measures(data),
        *_users(data),
        *_chunks(data),
        *_large(data),
        *_spark(data),
        _labelled(data),
        *_one_list(data),
        _beyond(data),
        _retention(data),
        *_imports(),
        *_identifying(data),
        *(
            _growing(folder(root, scale * share), millions, share)
            for millions, share in GROWTH.items()
        ),
    )


def _tiny() -> Iterator[Case]:
    """Evaluate two files of a few kilobytes: nearly all of it is the start of Python and its libraries."""
    files = str(DEMO / "qrels.txt"), str(DEMO / "bm25.run")
    for name, about, limit, more in (
        ("tiny-csv", "CSV", 1.25, ("--format", "csv")),
        ("tiny-terminal", "the table on a terminal", 1.35, ()),
    ):
        command = (*_program(), "eval", *files, "-m", MEASURES, *more)
        ours = Subject("rankstone", command, ("rankstone",), terminal=not more)
        yield Case(
            name,
            f"two files of the demo, 7 and 13 kB; {MEASURES}; {about}",
            None,
            (
                ours,
                Subject(
                    NUMPY_POLARS, (sys.executable, "-P", "-c", "import numpy, polars")
                ),
            ),
            (Bar("time", limit, NUMPY_POLARS),),
            times=3,
        )


def _fifty(data: Path) -> Case:
    """Look at what a researcher types all day: a small run, most of whose time is the start of Python."""
    files = str(data / "fifty.qrels.txt"), str(data / "fifty.run.txt")
    return Case(
        "text-50k",
        f"50 topics × 1,000 documents, TREC text; {MEASURES}",
        "fifty",
        (
            _rankstone("rankstone", *files, "-m", MEASURES),
            Subject(
                NUMPY_POLARS,
                (sys.executable, "-P", "-c", "import numpy, polars"),
                ("numpy", "polars"),
            ),
            Subject(
                PYTREC,
                _peer("pytrec_eval_text", *files),
                ("pytrec_eval",),
                barred=False,
            ),
            Subject(
                IR_MEASURES,
                _peer("ir_measures_text", *files),
                ("ir_measures",),
                barred=False,
            ),
            Subject(RANX, _peer("ranx_trec", *files), ("ranx",), barred=False),
        ),
        (Bar("time", 1.5, NUMPY_POLARS),),
        times=3,
    )


def _growing(data: Path, millions: int, share: float) -> Case:
    """Look at lists of a hundred items, more and more of them, by five measures."""
    qrels, run = str(data / "large.qrels.parquet"), str(data / "large.run")
    small = millions <= _MOST_OBJECTS
    peers = (
        Subject(
            PYTREC,
            _peer("pytrec_eval_parquet", qrels, run),
            ("pytrec_eval",),
            at_most=1,
            barred=False,
        ),
        Subject(
            RANX, _peer("ranx_parquet", qrels, run), ("ranx",), at_most=1, barred=False
        ),
        _rectools(qrels, run),
    )
    return Case(
        f"growth-{millions}m",
        f"{millions},000,000 rows: {millions * 10_000:,} users × 100 items, four judgments a user, integer "
        f"ids, Parquet; {MEASURES}",
        "large",
        (
            _rankstone("rankstone", qrels, run, "-m", MEASURES),
            _rankstone(
                "rankstone --memory 2GB", qrels, run, "-m", MEASURES, "--memory", "2GB"
            ),
            Subject(SCAN, _peer("scan", run, *RUN_COLUMNS), ("polars",)),
            *(peers if small else ()),
        ),
        (Bar("time", 45), Bar("memory", 3e9)) if millions >= max(GROWTH) else (),
        scale=share,
        huge=millions >= max(GROWTH),
    )


def _rectools(qrels: str, run: str) -> Subject:
    command = (str(OTHER_PYTHON), *_peer("rectools_parquet", qrels, run)[1:])
    return Subject(RECTOOLS, command, at_most=1, barred=False, interpreter=OTHER_PYTHON)


def _passages(data: Path) -> tuple[Case, ...]:
    qrels, run = (
        str(data / "passages.qrels.parquet"),
        str(data / "passages.run.parquet"),
    )
    text = str(data / "passages.qrels.txt"), str(data / "passages.run.txt")
    shuffled = str(data / "passages.shuffled.parquet")
    parquet = Case(
        "parquet-7m",
        f"6,980 queries × 1,000 passages, one relevant passage a query, Parquet; {MEASURES}",
        "passages",
        (
            _rankstone("rankstone", qrels, run, "-m", MEASURES),
            Subject(SCAN, _peer("scan", run, *RUN_COLUMNS), ("polars",)),
            Subject(
                PYTREC,
                _peer("pytrec_eval_parquet", qrels, run),
                ("pytrec_eval", "polars"),
            ),
            Subject(
                RANX, _peer("ranx_parquet", qrels, run), ("ranx", "polars"), at_most=2
            ),
        ),
        (
            Bar("time", 1.75, SCAN),
            Bar("time", 0.08, PYTREC),
            Bar("memory", 0.25, PYTREC),
            Bar("time", 0.05, RANX),
        ),
    )
    trec = Case(
        "text-7m",
        "the same as TREC text",
        "passages",
        (
            _rankstone("rankstone", *text, "-m", MEASURES),
            Subject(TEXT_SCAN, _peer("text_scan", text[1]), ("polars",)),
            Subject(
                PYTREC, _peer("pytrec_eval_text", *text), ("pytrec_eval",), at_most=2
            ),
            Subject(
                IR_MEASURES,
                _peer("ir_measures_text", *text),
                ("ir_measures",),
                at_most=1,
                barred=False,
            ),
        ),
        (Bar("time", 1.7, TEXT_SCAN), Bar("time", 0.2, PYTREC)),
    )
    return (
        parquet,
        trec,
        _shuffled("7m", "parquet-7m", "passages", qrels, run, shuffled, 2),
    )


def _measures(data: Path) -> tuple[Case, ...]:
    """Time every measure of plain judgments at once, and those that look between the hits."""
    files = str(data / "passages.qrels.parquet"), str(data / "passages.run.parquet")
    five = _rankstone(FIVE, *files, "-m", MEASURES)
    every, between = every_measure(), " ".join(BETWEEN_HITS)
    return (
        Case(
            "every-measure-7m",
            f"parquet-7m with all {len(every.split())} measures that plain judgments are enough for",
            "passages",
            (_rankstone("rankstone, every measure", *files, "-m", every), five),
            (Bar("time", 1.5, FIVE),),
        ),
        Case(
            "convention-7m",
            f"parquet-7m by the name of a library: trec_eval's words for the same measures, {TREC_MEASURES}",
            "passages",
            (
                _rankstone(
                    "rankstone, as trec_eval",
                    *files,
                    "--convention",
                    "trec_eval-10",
                    "-m",
                    TREC_MEASURES,
                ),
                five,
            ),
            (Bar("time", 1.05, FIVE),),
        ),
        Case(
            "between-hits-7m",
            f"parquet-7m with measures of every position: {between}",
            "passages",
            (_rankstone("rankstone, every position", *files, "-m", between), five),
            (Bar("time", 5, FIVE),),
        ),
    )


def every_measure() -> str:
    """Name every measure that needs no further column or table, with the parameters of its first example."""
    from rankstone import Measure
    from rankstone.hits.extras.pool_members import JudgmentGroups, PoolMembers
    from rankstone.measures import MEASURES as KINDS

    return " ".join(
        (*kind.examples, name)[0]
        for name, kind in KINDS.items()
        if issubclass(kind, Measure)
        and not (
            kind.judgment_columns
            or kind.query_columns
            or kind.requires & {JudgmentGroups, PoolMembers}
        )
    ).replace(", ", ",")


def _one_list(data: Path) -> tuple[Case, ...]:
    file = str(data / "one-list.parquet")
    return tuple(
        Case(
            f"{name.lower()}-10m",
            f"{text} of one list of 10,000,000 rows with 100 grades",
            "one-list",
            (
                _rankstone("rankstone", "--labeled", file, "-m", text),
                Subject(SCAN, _peer("scan", file, *LABELLED_COLUMNS), ("polars",)),
            ),
            (Bar("time", 5),),
        )
        for name, text in (("RC", "RC"), ("AUC", "AUC(negatives=judged,rel=50)"))
    )


def _users(data: Path) -> tuple[Case, ...]:
    qrels, run = str(data / "users.qrels.parquet"), str(data / "users.run.parquet")
    shuffled = str(data / "users.shuffled.parquet")
    recsys = Case(
        "recsys-20m",
        f"200,000 users × 100 items, about 20 judgments a user, Parquet; {MEASURES}",
        "users",
        (
            _rankstone("rankstone", qrels, run, "-m", MEASURES),
            Subject(SCAN, _peer("scan", run, *RUN_COLUMNS), ("polars",)),
            Subject(
                PYTREC,
                _peer("pytrec_eval_parquet", qrels, run),
                ("pytrec_eval", "polars"),
                at_most=2,
            ),
            Subject(
                RANX,
                _peer("ranx_parquet", qrels, run),
                ("ranx", "polars"),
                at_most=1,
                barred=False,
            ),
            _rectools(qrels, run),
            Subject(
                SKLEARN,
                _peer("sklearn_parquet", qrels, run),
                ("sklearn",),
                at_most=1,
                barred=False,
            ),
        ),
        (Bar("time", 2.5, SCAN), Bar("memory", 1.2e9), Bar("memory", 0.25, PYTREC)),
    )
    return recsys, _shuffled("20m", "recsys-20m", "users", qrels, run, shuffled, 2.5)


def _chunks(data: Path) -> tuple[Case, ...]:
    """Roll chunks up to documents, and cut lists by their tokens."""
    files = str(data / "chunks.qrels.parquet"), str(data / "chunks.run.parquet")
    chunks = _rankstone(CHUNKS, *files, "-m", MEASURES)
    tokens = MEASURES.replace("@10", "@tokens(2000)").replace("@100", "@tokens(20000)")
    about = "20 M chunks, 100 in each of 200,000 lists, 5 M documents, Parquet"
    return (
        Case(
            "documents-20m",
            f"{about}, rolled up to documents; {MEASURES}",
            "chunks",
            (
                _rankstone(
                    "rankstone, --unit document",
                    *files,
                    "-m",
                    MEASURES,
                    "--unit",
                    "document",
                ),
                chunks,
            ),
            (Bar("time", 2, CHUNKS), Bar("memory", 2e9)),
        ),
        Case(
            "budgets-20m",
            f"{about}, cut by tokens; {tokens}",
            "chunks",
            (_rankstone("rankstone, by tokens", *files, "-m", tokens), chunks),
            (Bar("time", 1.3, CHUNKS),),
        ),
    )


def _large(data: Path) -> Iterator[Case]:
    """Look at folders of Parquet that are larger than most memories once they are unpacked."""
    lists = {
        "large": (
            "200,000,000 rows in ten files: 2,000,000 users × 100 items, four judgments a user",
            3.0,
        ),
        "skewed": (
            "the same with lists of very different lengths and 5 % tied scores",
            4.0,
        ),
    }
    for name, (about, limit) in lists.items():
        qrels, run = str(data / f"{name}.qrels.parquet"), str(data / f"{name}.run")
        yield Case(
            f"{name}-200m",
            f"{about}; integer ids; {MEASURES}",
            name,
            (
                _rankstone("rankstone", qrels, run, "-m", MEASURES),
                Subject(SCAN, _peer("scan", run, *RUN_COLUMNS), ("polars",)),
            ),
            (Bar("time", limit, SCAN), Bar("memory", 3e9)),
        )


def _spark(data: Path) -> Iterator[Case]:
    """Hold Spark against Spark: two threads of this machine, in one session."""
    program = sys.executable, str(Path(__file__).with_name("spark_session.py"))
    for ids, limit in (("text", 0.2), ("integer", 0.15)):
        yield Case(
            f"spark-20m-{ids}",
            f"recsys-20m with {ids} ids by Spark and by {METRICS}, in turns in one session of local[2], once "
            "to warm up and five times to measure",
            "users",
            (
                Subject(
                    "both",
                    (*program, str(data), ids),
                    ("pyspark", "pyarrow"),
                    at_most=1,
                ),
            ),
            (Bar("printed", limit, label="median seconds ÷ RankingMetrics"),),
        )


def _shuffled(
    size: str, of: str, dataset: str, qrels: str, run: str, shuffled: str, limit: float
) -> Case:
    return Case(
        f"shuffled-{size}",
        f"{of} with its rows shuffled",
        dataset,
        (
            _rankstone("rankstone, rows shuffled", qrels, shuffled, "-m", MEASURES),
            _rankstone(ORDERED, qrels, run, "-m", MEASURES),
        ),
        (Bar("time", limit, ORDERED),),
    )


def _labelled(data: Path) -> Case:
    file = str(data / "labelled.parquet")
    return Case(
        "labelled-100m",
        "1,000,000 queries (integer ids) × 100 rows with score and grade, no document ids, Parquet; "
        f"{LABELLED_MEASURES}",
        "labelled",
        (
            _rankstone("rankstone", "--labeled", file, "-m", LABELLED_MEASURES),
            Subject(SCAN, _peer("scan", file, *LABELLED_COLUMNS), ("polars",)),
        ),
        (Bar("time", 5, SCAN), Bar("memory", 3e9)),
    )


def _beyond(data: Path) -> Case:
    run, items, past = (
        str(data / f"beyond.{name}.parquet") for name in ("run", "items", "history")
    )
    tables = (run, "--items", items, "--history", past)
    return Case(
        "beyond-20m",
        "beyond accuracy, 20 M rows: 200,000 users × 100 items of 500,000, with categories, groups, 16 "
        f"features and 20 past items a user, Parquet; {BEYOND_MEASURES}; whole lists: {WHOLE_MEASURES}",
        "beyond",
        (
            _rankstone("rankstone", *tables, "-m", BEYOND_MEASURES, verb="beyond"),
            Subject(GROUP_BY, _peer("group_by", run, "doc_id"), ("polars",)),
            _rankstone(
                "rankstone, whole lists",
                *tables,
                "-m",
                WHOLE_MEASURES,
                verb="beyond",
                barred=False,
            ),
        ),
        (Bar("time", 3, GROUP_BY), Bar("memory", 2e9)),
    )


def _retention(data: Path) -> Case:
    """Count who comes back; SQL is asked for the same days."""
    log = str(data / "events")
    return Case(
        "retention-100m",
        "retention after 1, 3, 7 and 30 days: 100 M events of 5 M users (integer ids, no order) in 180 days, "
        "Parquet in ten parts",
        "events",
        (
            _rankstone("rankstone", log, verb="online retention"),
            Subject(
                SCAN, _peer("scan", f"{log}/*.parquet", "user_id", "time"), ("polars",)
            ),
            Subject(
                "DuckDB, in SQL",
                _peer("retention_in_sql", f"{log}/*.parquet"),
                ("duckdb",),
                at_most=2,
            ),
        ),
        (Bar("time", 40), Bar("memory", 4e9)),
    )


def _imports() -> tuple[Case, ...]:
    python = sys.executable
    importing = Case(
        "import",
        "importing the package",
        None,
        (
            Subject(
                "import rankstone",
                (python, "-P", "-c", "import rankstone"),
                ("rankstone",),
            ),
            Subject(
                NUMPY_POLARS,
                (python, "-P", "-c", "import numpy, polars"),
                ("numpy", "polars"),
            ),
            Subject(
                "import rankstone, look up evaluate",
                (python, "-P", "-c", "import rankstone; rankstone.evaluate"),
                ("rankstone",),
                barred=False,
            ),
        ),
        (Bar("time", 1.1, NUMPY_POLARS),),
        times=4,
    )
    helping = Case(
        "help",
        "rankstone --help",
        None,
        (Subject("rankstone --help", _peer("help_imports"), ("rankstone",)),),
        (Bar("printed", 0, label="imports of NumPy and Polars"),),
    )
    typed = (
        "--grades",
        "5,3,2,1,2",
        "--judged",
        "5,3,2,1,2,4,0",
        "-m",
        "nDCG(gain=exp2)@5",
    )
    explaining = Case(
        "explain",
        "rankstone explain: nDCG of five grades typed in",
        None,
        (
            _rankstone("rankstone explain", *typed, verb="explain"),
            Subject(
                NUMPY_POLARS,
                (python, "-P", "-c", "import numpy, polars"),
                ("numpy", "polars"),
            ),
        ),
        (Bar("time", 1.5, NUMPY_POLARS),),
        times=4,
    )
    return importing, helping, explaining


def _identifying(data: Path) -> Iterator[Case]:
    """Search for the number of a run of 100 topics, by its name, and without a word of what it is called."""
    files = str(data / "topics.qrels.txt"), str(data / "topics.run.txt")
    told = (*files, "--value", "0.0335")
    for name, about, limit, more in (
        ("identify-named", "an nDCG@10", 1, ("-m", "nDCG@10")),
        ("identify-any", "any measure", 2, ()),
    ):
        yield Case(
            name,
            f"rankstone identify of {about}, 100 topics × 1,000 documents, TREC text",
            "topics",
            (_rankstone("rankstone", *told, *more, verb="identify"),),
            (Bar("time", limit),),
        )


def _rankstone(
    name: str, *arguments: str, verb: str = "eval", barred: bool = True
) -> Subject:
    """Run rankstone as its users do: by the installed command, or by the module where there is none."""
    return Subject(
        name,
        (*_program(), *verb.split(), *arguments, "--format", "json"),
        ("rankstone",),
        barred=barred,
    )


def _program() -> tuple[str, ...]:
    script = Path(sys.executable).with_name("rankstone")
    return (
        (str(script),) if script.exists() else (sys.executable, "-P", "-m", "rankstone")
    )


def _peer(function: str, *arguments: str) -> tuple[str, ...]:
    return (
        sys.executable,
        "-P",
        str(Path(__file__).with_name("subjects.py")),
        function,
        *arguments,
    )
