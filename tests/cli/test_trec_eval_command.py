"""``rankstone trec-eval`` as a script of 2009 meets it: the same lines, whatever else there is to say."""

from __future__ import annotations

import gzip
import math
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from rankstone.cli.trec_eval_command import command
from rankstone.errors import RankstoneError

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result

QRELS = "# judged by hand\nq1 0 a 1\nq1 0 b 0\nq1 0 c 2\nq1 0 p -1\nq10 0 e 1\nq2 0 d 1\nq2 0 f 3\n"
RUN = (
    "q10 Q0 e 1 1.0 mine\nq1 Q0 b 1 0.9 mine\nq1 Q0 a 2 0.8 mine\nq1 Q0 p 3 0.7 mine\nq1 Q0 z 4 0.6 mine\n"
    "nobody Q0 a 1 1.0 theirs extra columns\n"
)


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    """Three judged queries; the run answers two of them, and one without judgments."""
    qrels, run = tmp_path / "qrels", tmp_path / "run"
    qrels.write_text(QRELS)
    run.write_text(RUN)
    return str(qrels), str(run)


def invoked(*arguments: str, stdin: str | None = None) -> Result:
    """Return how the command ends."""
    return CliRunner().invoke(command, arguments, input=stdin, catch_exceptions=False)


def table(*arguments: str, stdin: str | None = None) -> dict[tuple[str, str], str]:
    """Return what the command prints, by name and query."""
    result = invoked(*arguments, stdin=stdin)
    assert result.exit_code == 0
    rows = [line.split("\t") for line in result.stdout.splitlines()]
    return {(name.strip(), query): value for name, query, value in rows}


def test_lines_are_trec_evals(files: tuple[str, str]) -> None:
    """Names padded to 22 columns, tabs, four decimals, whole counts; queries by bytes, all of them last."""
    out = invoked(
        "-q",
        "-mrelstring.3",
        "-m",
        "P.2",
        "-m",
        "map",
        "-m",
        "num_ret",
        "-mrunid",
        "-mnum_q",
        *files,
    )

    assert out.stdout == (
        "num_ret               \tq1\t4\n"
        f"map                   \tq1\t{(1 / 2) / 2:6.4f}\n"
        f"P_2                   \tq1\t{1 / 2:6.4f}\n"
        "relstring_3           \tq1\t'01.'\n"
        "num_ret               \tq10\t1\n"
        "map                   \tq10\t1.0000\n"
        f"P_2                   \tq10\t{1 / 2:6.4f}\n"
        "relstring_3           \tq10\t'1'\n"
        "runid                 \tall\ttheirs\n"
        "num_q                 \tall\t2\n"
        "num_ret               \tall\t5\n"
        f"map                   \tall\t{(1 / 4 + 1) / 2:6.4f}\n"
        f"P_2                   \tall\t{1 / 2:6.4f}\n"
    )
    assert "1 query judged, but not in the run (the first is q2)" in out.stderr


def test_official_without_options(files: tuple[str, str]) -> None:
    """What is printed without -m, in trec_eval's order."""
    names = [name for name, _ in table(*files)]

    assert " ".join(names[:10]) == (
        "runid num_q num_ret num_rel num_rel_ret map gm_map Rprec bpref recip_rank"
    )
    assert names[10:21] == [f"iprec_at_recall_{level / 10:.2f}" for level in range(11)]
    assert names[21:] == [f"P_{k}" for k in (5, 10, 15, 20, 30, 100, 200, 500, 1000)]


def test_missing_queries_under_c(files: tuple[str, str]) -> None:
    """-c counts them: printed by version 10, only averaged by version 9; yaap and gm_map say 0 their way."""
    words = (
        "-c",
        "-q",
        "-m",
        "map",
        "-m",
        "yaap",
        "-m",
        "gm_map",
        "-m",
        "num_q",
        "-m",
        "utility",
    )
    ninth, tenth = (
        table("--compat", version, *words, *files) for version in ("9", "10")
    )
    yaap = [
        math.log((1 + 1 / 2) / (1 + 2 - 1 / 2)),
        math.log((1 + 1) / (1 + 1 - 1)),
        math.log(1 / (1 + 2)),
    ]

    assert ("map", "q2") not in ninth
    assert tenth["map", "q2"] == "0.0000"
    assert tenth["utility", "q2"] == "0.0000"
    for result in (ninth, tenth):
        assert result["num_q", "all"] == "3"
        assert result["map", "all"] == f"{(1 / 4 + 1 + 0) / 3:6.4f}"
        assert (
            result["gm_map", "all"]
            == f"{math.exp((math.log(1 / 4) + 0 + math.log(1e-5)) / 3):6.4f}"
        )
    assert ninth["yaap", "all"] == f"{sum(yaap[:2]) / 3:6.4f}"
    assert tenth["yaap", "all"] == f"{sum(yaap) / 3:6.4f}"


def test_a_level_of_relevance(files: tuple[str, str]) -> None:
    """-l moves binary measures and not graded ones; the total of num_rel ignores it under -c, and says so."""
    words = ("-l2", "-m", "num_rel", "-m", "P.2", "-m", "ndcg", "-m", "Rndcg")
    rows = table("-q", *words, *files)

    assert rows["num_rel", "q1"] == "1"
    assert rows["P_2", "q1"] == "0.0000"
    assert (
        rows["ndcg", "q1"]
        == f"{(1 / math.log2(3)) / (2 / math.log2(2) + 1 / math.log2(3)):6.4f}"
    )
    assert rows["Rndcg", "q10"] == "0.0000"
    assert table(*words, *files)["num_rel", "all"] == "1"
    complete = invoked("-c", *words, *files)
    assert "num_rel               \tall\t5\n" in complete.stdout
    assert "ignores -l 2 under -c" in complete.stderr


def test_judged_documents_only_after_the_cut(files: tuple[str, str]) -> None:
    """-M cuts first, -J then takes out what has no judgment, pooled documents too."""
    rows = table("-q", "-J", "-M", "3", "-m", "relstring", "-m", "num_ret", *files)

    assert rows["relstring", "q1"] == "'01'"
    assert rows["num_ret", "q1"] == "2"


def test_a_list_that_is_emptied(files: tuple[str, str]) -> None:
    """Where trec_eval divides nothing by nothing, 0 is printed and a note says so."""
    qrels, run = files
    with open(run, "a", encoding="utf-8") as file:  # noqa: PTH123 - a name is all there is
        file.write("q2 Q0 x 1 1.0 mine\n")
    result = invoked(
        "-q", "-J", "-m", "iprec_at_recall.0", "-m", "11pt_avg", qrels, run
    )

    assert "iprec_at_recall_0.00  \tq2\t0.0000\n" in result.stdout
    assert "trec_eval prints nan" in result.stderr


def test_parameters(files: tuple[str, str]) -> None:
    """Names carry the parameters as they were written; cutoffs and shares are put in order."""
    requested = (
        "utility.2,-1,0,0 11pt_avg..25,.5 ndcg.1=3,2=9 P.7,3 set_F.0.5 ndcg_cut.10,20,23.4 "
        "iprec_at_recall..5,0 rbp.p=0.5 Rprec_mult.1.5"
    )
    rows = table(*(f"-m{text}" for text in requested.split()), *files)

    assert " ".join(name for name, _ in rows) == (
        "iprec_at_recall_0.00 iprec_at_recall_0.50 P_3 P_7 Rprec_mult_1.50 utility_2,-1,0,0 11pt_avg_.25,.5 "
        "ndcg_1=3,2=9 ndcg_cut_10 ndcg_cut_20 ndcg_cut_23 set_F_0.5 rbp_p=0.5"
    )
    assert rows["utility_2,-1,0,0", "all"] == f"{((2 * 1 - 3) + 2 * 1) / 2:6.4f}"
    ideal = 9 / math.log2(2) + 3 / math.log2(3)
    assert rows["ndcg_1=3,2=9", "all"] == f"{((3 / math.log2(3)) / ideal + 1) / 2:6.4f}"


def test_the_first_parameters_count(files: tuple[str, str]) -> None:
    """As in trec_eval, a second list of parameters does nothing; here it is stated."""
    result = invoked("-m", "P.1", "-m", "P.2", *files)

    assert [line[:3] for line in result.stdout.splitlines()] == ["P_1"]
    assert "only -m P.1 counts" in result.stderr


def test_recall_levels_of_two_versions(tmp_path: Path) -> None:
    """R = 3, hits at ranks 1, 2 and 5: 0.7·R is two documents for both, 0.8·R three for one of them."""
    qrels, run = tmp_path / "qrels", tmp_path / "run"
    qrels.write_text("".join(f"q 0 {doc} 1\n" for doc in "abe"))
    run.write_text(
        "".join(f"q Q0 {doc} 1 {-index} t\n" for index, doc in enumerate("abcde"))
    )
    words = ("-m", "iprec_at_recall.0.7,0.8", str(qrels), str(run))

    assert [*table("--compat", "9", *words).values()] == ["1.0000", f"{3 / 5:6.4f}"]
    assert [*table("--compat", "10", *words).values()] == ["1.0000", "1.0000"]


def test_near_ties_of_two_versions(tmp_path: Path) -> None:
    """Version 9 holds scores as float32, so scores alike to seven digits tie and the larger id leads."""
    qrels, run = tmp_path / "qrels", tmp_path / "run"
    qrels.write_text("q 0 a 1\n")
    run.write_text("q Q0 a 1 1.00000002 t\nq Q0 b 2 1.00000001 t\n")

    assert (
        table("--compat", "9", "-mrecip_rank", str(qrels), str(run))[
            "recip_rank", "all"
        ]
        == f"{1 / 2:6.4f}"
    )
    assert table("-mrecip_rank", str(qrels), str(run))["recip_rank", "all"] == "1.0000"


def test_what_only_version_10_has(files: tuple[str, str]) -> None:
    """unj, rbp and rbp_resid: a residual only where something is unjudged, as there."""
    rows = table(
        "-q",
        "-m",
        "unj.2,5",
        "-m",
        "rbp_resid",
        "-m",
        "rbp",
        "-m",
        "dcg",
        "-m",
        "ideal_dcg",
        *files,
    )

    assert rows["unj_5", "q1"] == f"{2 / 5:6.4f}"
    assert rows["rbp_resid", "q1"] == f"{0.9**4 + 0.1 * (0.9**2 + 0.9**3):6.4f}"
    assert rows["rbp_resid", "q10"] == "0.0000"
    assert rows["rbp", "q1"] == f"{0.1 * 0.9 * (1 / 2):6.4f}"
    assert rows["dcg", "q1"] == f"{1 / math.log2(3):6.4f}"
    assert rows["ideal_dcg", "q1"] == f"{2 + 1 / math.log2(3):6.4f}"
    with pytest.raises(RankstoneError, match="trec_eval 9 has no measure 'unj'"):
        invoked("--compat", "9", "-m", "unj", *files)


def test_z_scores(tmp_path: Path, files: tuple[str, str]) -> None:
    """-Z: deviations from the mean of reference runs, -1000000 without one, their mean over all."""
    reference = tmp_path / "z"
    reference.write_text(
        "q1 map 0.5 0.125\nq1 P_2 0.5 0\nq10 map 1 0.5\nq10 num_ret 3 2\n"
    )
    rows = table(
        "-q",
        "-Z",
        str(reference),
        "-m",
        "map",
        "-m",
        "P.2",
        "-m",
        "num_ret",
        "-m",
        "num_q",
        *files,
    )

    assert rows["Zmap", "q1"] == f"{(1 / 4 - 0.5) / 0.125:6.4f}"
    assert rows["ZP_2", "q1"] == "0.0000"
    assert rows["ZP_2", "q10"] == "-1000000.0000"
    assert rows["Znum_ret", "q10"] == f"{(1 - 3) / 2:6.4f}"
    assert rows["Zmap", "all"] == f"{(-2 + 0) / 2:6.4f}"
    assert rows["Znum_q", "all"] == "2.0000"
    reference.write_text("q1 map 0.5\n")
    with pytest.raises(RankstoneError, match="not a reference for z-scores"):
        invoked("-Z", str(reference), *files)


def test_judgment_groups(tmp_path: Path) -> None:
    """-R qrels_jg: u finds a relevant, v finds b and c; every group counts the same."""
    qrels, run = tmp_path / "qrels", tmp_path / "run"
    qrels.write_text("q u a 1\nq u b 0\nq v b 1\nq v c 2\n")
    run.write_text("q Q0 a 1 3 t\nq Q0 b 2 2 t\nq Q0 x 3 1 t\n")
    rows = table(
        "-R",
        "qrels_jg",
        "-m",
        "map_avgjg",
        "-m",
        "P_avgjg.2",
        "-m",
        "Rprec_mult_avgjg.1",
        str(qrels),
        str(run),
    )

    assert [*rows.values()] == [
        f"{(1 / 1 + (1 / 2) / 2) / 2:6.4f}",
        f"{(1 / 2 + 1 / 2) / 2:6.4f}",
        f"{(1 / 1 + 1 / 2) / 2:6.4f}",
    ]


def test_preferences(tmp_path: Path) -> None:
    """-R prefs: two subgroups say a ≻ b and b ≻ c, so a ≻ c, too; ties go by ascending id."""
    prefs, run = tmp_path / "prefs", tmp_path / "run"
    prefs.write_text("q u s a 2.0\nq u s b 1.0\nq u t b 5\nq u t c 4\n")
    run.write_text("q Q0 b 1 1 t\nq Q0 a 2 1 t\nq Q0 x 3 1 t\n")
    rows = table("-R", "prefs", "-m", "all_prefs", "-n", "-q", str(prefs), str(run))

    assert rows["prefs_num_prefs_poss", "q"] == "3"
    assert rows["prefs_num_prefs_ful", "q"] == "3"
    assert rows["prefs_num_prefs_ful_ret", "q"] == "1"
    assert rows["prefs_simp", "q"] == rows["prefs_pair_ret", "q"] == "1.0000"


def test_standard_input_and_packed_files(
    tmp_path: Path, files: tuple[str, str]
) -> None:
    """A run from -, or packed: the same lines, its name included."""
    qrels, run = files
    packed = tmp_path / "run.gz"
    packed.write_bytes(gzip.compress(RUN.encode()))

    assert (
        table(qrels, run) == table(qrels, "-", stdin=RUN) == table(qrels, str(packed))
    )


def test_one_query(files: tuple[str, str]) -> None:
    """-D level.query looks at that query alone."""
    out = invoked("-D", "1.q10", "-m", "map", *files)

    assert out.stdout == "map                   \tall\t1.0000\n"
    assert "nothing of the inner workings" in out.stderr


def test_gains_of_rbp_may_be_stated(files: tuple[str, str]) -> None:
    """They stand beside p, other grades keep theirs, and the largest gain of the query is worth 1."""
    qrels, run = files
    rows = table("-q", "-m", "rbp.p=0.5,1=0.25,2=1", qrels, run)
    assert rows["rbp_p=0.5,1=0.25,2=1", "q1"] == f"{0.5 * 0.5 * 0.25:6.4f}"
    scaled = table("-q", "-m", "rbp.p=0.5,1=3", qrels, run)
    assert scaled["rbp_p=0.5,1=3", "q1"] == f"{0.5 * 0.5 * (3 / 3):6.4f}"
    foreign = table("-q", "-m", "rbp.p=0.5,7=4", qrels, run)
    assert foreign["rbp_p=0.5,7=4", "q1"] == f"{0.5 * 0.5 * (1 / 4):6.4f}"
    assert (
        table("-q", "-m", "rbp_resid.p=0.5,7=4", qrels, run)[
            "rbp_resid_p=0.5,7=4", "q10"
        ]
        == "0.0000"
    )


def test_grades_are_cut_as_in_c(tmp_path: Path, files: tuple[str, str]) -> None:
    """1.9 counts as 1, and a note says so."""
    qrels = tmp_path / "fractions"
    qrels.write_text("q1 0 a 1.9\nq10 0 e 0.5\n")
    out = invoked("-m", "num_rel", "-m", "dcg", str(qrels), files[1])

    assert out.stdout.splitlines()[0] == "num_rel               \tall\t1"
    assert "0.5 counts as 0" in out.stderr


def test_notes_on_gains(files: tuple[str, str]) -> None:
    """Gains that trec_eval cannot tell apart, and scales it makes of foreign memory."""
    assert "differ by less than 1" in invoked("-m", "ndcg.1=0.5,2=0.9", *files).stderr
    assert "uninitialised" in invoked("-m", "rbp", *files).stderr
    assert "-o does nothing" in invoked("-o", "-m", "map", *files).stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-m", "mapp"), "has no measure 'mapp'"),
        (("-m", "P."), "there is nothing after the dot"),
        (("-m", "P.0"), "not cutoffs"),
        (("-m", "P.5,5"), "not cutoffs"),
        (("-m", "P.five"), "not a number"),
        (("-m", "ndcg.1"), "not a pair"),
        (("-m", "utility.1,2"), "four coefficients"),
        (("-m", "utility.1,1,1,1"), "how many documents there are"),
        (("-m", "relstring.-3"), "not the length"),
        (("-R", "qrel"), "did you mean qrels"),
        (("-R", "prefs"), "cannot be computed from -R prefs"),
        (("-m", "map_avgjg"), "cannot be computed from -R qrels"),
        (("-T", "other"), "-T other is not known"),
        (("-l", "-1"), "a level from 0 up"),
        (("-M", "0"), "is not a number of documents"),
    ],
)
def test_usage_errors(
    files: tuple[str, str], arguments: tuple[str, ...], message: str
) -> None:
    """A question without an answer says what could be."""
    with pytest.raises(RankstoneError) as caught:
        invoked(*arguments, *files)
    assert message in str(caught.value)
    assert caught.value.exit_code == 2


def test_files_that_do_not_fit(tmp_path: Path, files: tuple[str, str]) -> None:
    """No query in common, a document twice, no file: exit code 3."""
    other, twice = tmp_path / "other", tmp_path / "twice"
    other.write_text("z Q0 a 1 1 t\n")
    twice.write_text("q1 Q0 a 1 1 t\nq1 Q0 a 2 0.5 t\n")
    for run in (other, twice, tmp_path / "absent"):
        with pytest.raises(RankstoneError) as caught:
            invoked(files[0], str(run))
        assert caught.value.exit_code == 3


def test_help_and_version() -> None:
    """-h describes the measures requested, -v names the reading, and too few files are reported."""
    assert "AP@k = (1/Z)" in invoked("-h", "-m", "map").stdout
    assert "printing what trec_eval 9 prints" in invoked("-v", "--compat", "9").stdout
    with pytest.raises(RankstoneError, match="judgments and a run are needed"):
        invoked("qrels")
    with pytest.raises(RankstoneError, match="read only once"):
        invoked("-", "-")


def test_a_file_that_is_not_whole_is_reported(
    files: tuple[str, str], tmp_path: Path
) -> None:
    """The last line, where the run's name stands, cannot be read of a packed file that was cut off."""
    run = tmp_path / "cut.run.gz"
    run.write_bytes(gzip.compress(RUN.encode() * 500)[:-40])
    with pytest.raises(RankstoneError, match=r"cut\.run\.gz: .*(end|corrupt)"):
        invoked(files[0], str(run))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-N", "-1"), "-N -1 is not a number of documents"),
        (("-m", "foo"), "several at once: official"),
        (("-m", "ndcg_cutt"), "did you mean ndcg_cut"),
        (("-R", "prefs"), "-m all_prefs"),
    ],
)
def test_mistakes_in_its_own_words(
    files: tuple[str, str], arguments: tuple[str, ...], message: str
) -> None:
    """Options are named as they are typed, and what to do instead."""
    with pytest.raises(RankstoneError) as raised:
        invoked(*arguments, *files)
    assert message in str(raised.value)


def test_duplicates_have_no_option_here(files: tuple[str, str], tmp_path: Path) -> None:
    """A row twice ends trec_eval, too; no option of ours is advertised that the command does not have."""
    for file, text in zip(
        files, (QRELS + "q1 0 a 1\n", RUN + "q1 Q0 a 9 0.1 mine\n"), strict=True
    ):
        twice = tmp_path / "twice"
        twice.write_text(text)
        pair = [str(twice) if item == file else item for item in files]
        with pytest.raises(
            RankstoneError, match="keep one of the rows: trec_eval stops here, too"
        ) as raised:
            invoked(*pair)
        assert "duplicates=" not in str(raised.value)


def test_several_runs(tmp_path: Path) -> None:
    """The lines of each run stand below its runid, and are those it has alone."""
    (tmp_path / "qrels").write_text("q 0 a 1\nq 0 b 2\n")
    for name, order in (("one", "ab"), ("two", "ba")):
        rows = [
            f"q Q0 {doc} {index} {9 - index} {name}\n"
            for index, doc in enumerate(order)
        ]
        (tmp_path / name).write_text("".join(rows))
    files = [str(tmp_path / name) for name in ("qrels", "one", "two")]
    shell = CliRunner()
    both = shell.invoke(
        command, ["-m", "recip_rank", "-l", "2", *files]
    ).output.splitlines()
    alone = [
        shell.invoke(command, ["-m", "recip_rank", "-l", "2", files[0], run]).output
        for run in files[1:]
    ]
    assert [line.split()[-1] for line in both] == ["one", "0.5000", "two", "1.0000"]
    assert [both[1], both[3]] == [text.rstrip("\n") for text in alone]
