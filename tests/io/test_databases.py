"""Tables of databases are read as files are, in batches, and their passwords are never shown."""

from __future__ import annotations

import importlib
import sqlite3
from itertools import islice
from typing import TYPE_CHECKING, Any

import duckdb
import polars as pl
import pytest
from tests.postgres import PASSWORD, a_server, tells_the_password

import rankstone
from rankstone import InputError, UsageError
from rankstone.errors import BadValue, MissingColumn, MissingExtra, MixedIds, masked
from rankstone.evaluation.request import name_runs
from rankstone.io import databases, read_attributes, read_judgments, read_run, stem
from rankstone.io.arrow_batches import is_relation
from rankstone.io.input_table import ROWS
from rankstone.io.sources import display_name, parse_address

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from rankstone.io import Table

MEASURES = "nDCG@10 AP RR nDCG"

JUDGED = """
    SELECT 'q' || (i % 40) AS query_id, 'document ' || (i // 40) AS doc_id, i % 4 AS relevance
    FROM range(4000) t(i)
"""
#: more rows than a batch holds, the rows of a query scattered
SCATTERED = """
    SELECT 'q' || (i % 40) AS query_id, 'document ' || (i // 40) AS doc_id, (i * 7919 % 1009) / 1009 AS score
    FROM range(300_000) t(i)
"""
#: without end: whoever holds it whole never comes to the first score
ENDLESS = """
    SELECT 'q' || (i // 100) AS query_id, 'd' || (i % 100) AS doc_id, i / 7 AS score
    FROM range(1_000_000_000_000) t(i)
"""

WRITERS_OF_DUCKDB = (
    "COPY run TO '{out}'; SELECT * FROM run",
    "COPY run TO '{out}'",
    "SELECT * FROM run; COPY run TO '{out}'",
    "ATTACH '{out}' AS other; SELECT * FROM run",
    "EXPORT DATABASE '{out}'; SELECT * FROM run",
    "SET enable_external_access=true; SELECT * FROM run",
    "PRAGMA enable_profiling; SELECT * FROM run",
    "INSTALL httpfs; LOAD httpfs; SELECT * FROM run",
    "EXPLAIN ANALYZE SELECT * FROM run",
    "SELECT content AS query_id, filename AS doc_id, 1.0 AS score FROM read_text('/etc/hostname')",
    "SELECT * FROM read_csv('https://evil.invalid/x.csv')",
)
WRITERS_OF_SQLITE = (
    "VACUUM INTO '{out}'",
    "SELECT * FROM run; VACUUM INTO '{out}'",
    "ATTACH '{out}' AS other",
    "PRAGMA journal_mode = WAL",
    "SELECT * FROM run) ; ATTACH '{out}' AS other; SELECT * FROM (SELECT 1",
    "INSERT INTO run VALUES ('a', 'b', 1) RETURNING *",
    "SELECT load_extension('{out}')",
)


@pytest.fixture(scope="session", name="filled")
def a_filled_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with judgments and runs: in DuckDB, and the same as Parquet files."""
    folder = tmp_path_factory.mktemp("databases")
    with duckdb.connect(folder / "all.db") as connection:
        connection.execute(f"CREATE TABLE qrels AS {JUDGED}")
        connection.execute(f"CREATE TABLE run AS {SCATTERED}")
        connection.execute("CREATE TABLE tidy AS FROM run ORDER BY query_id")
        connection.execute(
            "CREATE VIEW seen AS SELECT query_id AS who, doc_id AS what, score FROM run"
        )
        connection.execute('CREATE SCHEMA old; CREATE TABLE old."bm25.v1" AS FROM tidy')
        for name in ("qrels", "run", "tidy"):
            connection.execute(f"COPY {name} TO '{folder / name}.parquet'")
    return folder


@pytest.fixture(scope="session", name="server")
def a_filled_server(postgres: str, filled: Path) -> str:
    """Return the URL of a PostgreSQL database with the same tables."""
    import adbc_driver_postgresql.dbapi as driver

    with driver.connect(postgres) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE SCHEMA old")
        for name in ("qrels", "run", "tidy"):
            cursor.adbc_ingest(
                name,
                pl.read_parquet(filled / f"{name}.parquet").to_arrow(),
                mode="create",
            )
        cursor.execute('CREATE TABLE old."bm25.v1" AS SELECT * FROM tidy')
        connection.commit()
    return postgres


_ = a_server  # pytest finds fixtures by their names in this module


def scores(qrels: Any, run: Any, **options: Any) -> dict[str, float | None]:
    """Return the means of one run."""
    return next(
        iter(
            rankstone.evaluate(qrels, {"run": run}, MEASURES, **options)
            .to_dict()
            .values()
        )
    )


def from_files(folder: Path, run: str = "run") -> dict[str, float | None]:
    """Return the means from the Parquet files."""
    return scores(folder / "qrels.parquet", folder / f"{run}.parquet")


def pieces(table: Table, count: int) -> list[pl.DataFrame]:
    """Return the first pieces of a table's stream."""
    return list(islice(table.tables([pl.col(name) for name in table.schema]), count))


# -- relations of DuckDB ---------------------------------------------------------------------------------
@pytest.fixture(name="connection")
def an_open_database(filled: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield an open connection to the database."""
    with duckdb.connect(filled / "all.db", read_only=True) as connection:
        yield connection


@pytest.mark.parametrize("run", ["run", "tidy"])
def test_relations_give_the_numbers_of_files(
    filled: Path, connection: duckdb.DuckDBPyConnection, run: str
) -> None:
    """Relations of one connection are read in turn, also where scattered rows ask for a second start."""
    assert scores(connection.sql("FROM qrels"), connection.table(run)) == from_files(
        filled, run
    )


def test_a_relation_is_not_held_whole() -> None:
    """The first rows of a relation without end come, and another relation can be read after them."""
    connection = duckdb.connect()
    run = read_run(connection.sql(ENDLESS))

    for _ in range(2):
        first = pieces(run, 3)
        assert [piece.height for piece in first] == [ROWS] * 3
        assert first[2].row(0) == (
            f"q{2 * ROWS // 100}",
            f"d{2 * ROWS % 100}",
            2 * ROWS / 7,
        )
    assert connection.sql("SELECT 1").fetchall() == [(1,)]


def test_only_columns_that_are_needed_are_read_from_a_relation() -> None:
    """A column that cannot even be computed does no harm where it is not needed."""
    rows = "SELECT 'q' AS query_id, 'd' || i AS doc_id, -i AS score, error('never') AS note FROM range(5) t(i)"
    relation = duckdb.connect().sql(rows)

    assert scores({"q": {"d1": 1}}, relation)["RR"] == 1 / 2


def test_an_ordered_relation_keeps_its_order() -> None:
    """With order=input the rows of a relation are a ranking."""
    rows = "SELECT 'q' AS query_id, 'd' || i AS doc_id, i AS score FROM range(1000) t(i) ORDER BY i DESC"

    assert (
        scores({"q": {"d990": 1}}, duckdb.connect().sql(rows), order="input")["RR"]
        == 1 / 10
    )


def test_relations_of_one_connection_side_by_side(filled: Path) -> None:
    """Rows that are being read are held where their connection must read others; none are lost."""
    with duckdb.connect(filled / "all.db", read_only=True) as connection:
        streams = [
            read_run(connection.table(name)).tables([pl.col("doc_id"), pl.col("score")])
            for name in ("run", "tidy", "run")
        ]
        begun = [[next(stream)] for stream in streams]
        values = [
            pl.concat([*first, *stream])
            for first, stream in zip(begun, streams, strict=True)
        ]

    expected = [
        pl.read_parquet(filled / f"{name}.parquet").select("doc_id", "score")
        for name in ("run", "tidy")
    ]
    assert [
        frame.equals(rows)
        for frame, rows in zip(values, [*expected, expected[0]], strict=True)
    ] == [True] * 3


def test_relations_of_one_connection_in_two_threads(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    """What reads its tables in several threads reads relations of one connection, too."""
    run, history = (
        "SELECT * FROM tidy WHERE score > 0.5",
        "SELECT * FROM run WHERE score < 0.1",
    )
    measures = "Coverage@10 Novelty@10"

    qualities = rankstone.beyond(
        connection.sql(run), measures, history=connection.sql(history)
    )

    frames = [connection.sql(rows).pl() for rows in (run, history)]
    assert (
        qualities.to_dict()
        == rankstone.beyond(frames[0], measures, history=frames[1]).to_dict()
    )


def test_a_connection_that_reads_something_else_is_reported(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    """A connection whose rows the user is reading has none for us; the message knows the way out."""
    reader = connection.table("run").to_arrow_reader(10)
    with pytest.raises(InputError, match=r"con\.cursor\(\)\.sql") as raised:
        read_run(connection.table("tidy"))
    reader.close()

    assert raised.value.where == "run"
    assert read_run(connection.table("tidy")).collect().height == 300_000


def test_relations_of_an_older_duckdb_are_held(
    connection: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a second query ends the first one's rows without a word, relations are read at once."""
    assert is_relation(connection.table("run"))
    monkeypatch.setattr(duckdb, "__version__", "1.4.4")

    assert not is_relation(connection.table("run"))


# -- addresses of files ----------------------------------------------------------------------------------
@pytest.mark.parametrize("run", ["run", "tidy"])
def test_a_duckdb_file_gives_the_numbers_of_files(filled: Path, run: str) -> None:
    """Tables and queries of a DuckDB file score as Parquet files do, to the last bit."""
    base = f"duckdb:{filled / 'all.db'}"
    expected = from_files(filled, run)

    assert scores(f"{base}#qrels", f"{base}#{run}") == expected
    assert scores(f"{base}?query=FROM qrels", f"{base}?query=FROM {run}") == expected


def test_schemas_and_names_with_dots(filled: Path) -> None:
    """A table of another schema is named with it, whatever dots are in its name."""
    base = f"duckdb:{filled / 'all.db'}"

    assert scores(f"{base}#main.qrels", f"{base}#old.bm25.v1") == from_files(
        filled, "tidy"
    )


def test_columns_are_renamed_as_in_files(filled: Path) -> None:
    """A view with other names of columns is a run with ``columns``."""
    base, columns = f"duckdb:{filled / 'all.db'}", {"who": "query_id", "what": "doc_id"}

    assert scores(f"{base}#qrels", f"{base}#seen", columns=columns) == from_files(
        filled
    )
    with pytest.raises(MissingColumn, match="no column query_id and no column doc_id"):
        scores(f"{base}#qrels", f"{base}#seen")


def test_a_table_is_not_held_whole(tmp_path: Path) -> None:
    """The first rows of a view without end come."""
    with duckdb.connect(tmp_path / "endless.db") as connection:
        connection.execute(f"CREATE VIEW run AS {ENDLESS}")

    for rows in ("#run", "?query=SELECT * FROM run"):
        first = pieces(read_run(f"duckdb:{tmp_path / 'endless.db'}{rows}"), 2)
        assert [piece.height for piece in first] == [ROWS] * 2


def test_a_sqlite_file_gives_the_numbers_of_files(filled: Path, tmp_path: Path) -> None:
    """Tables of an SQLite file score as Parquet files do."""
    for name in ("qrels", "run"):
        frame = pl.read_parquet(filled / f"{name}.parquet")
        with sqlite3.connect(tmp_path / "my runs.sqlite") as connection:
            connection.execute(f"CREATE TABLE {name} ({', '.join(frame.columns)})")
            connection.executemany(
                f"INSERT INTO {name} VALUES (?, ?, ?)",  # noqa: S608 - ours
                frame.iter_rows(),
            )
        connection.close()

    base = f"sqlite:{tmp_path / 'my runs.sqlite'}"
    assert scores(f"{base}#qrels", f"{base}#run") == from_files(filled)
    with pytest.raises(InputError, match="did you mean run"):
        read_run(f"{base}#runn")


def test_a_table_of_queries_is_read(filled: Path, tmp_path: Path) -> None:
    """Tables about queries come from databases, too, under names of their own."""
    with duckdb.connect(tmp_path / "about.db") as connection:
        connection.execute(
            "CREATE TABLE q AS SELECT 'q' || i AS who, i % 2 AS half FROM range(40) t(i)"
        )
    frame = pl.DataFrame(
        {"query_id": [f"q{i}" for i in range(40)], "half": [i % 2 for i in range(40)]}
    )
    base = f"duckdb:{filled / 'all.db'}"

    means = [
        rankstone.evaluate(
            f"{base}#qrels",
            f"{base}#tidy",
            "AP",
            queries=queries,
            columns={"who": "query_id"},
        ).mean(by="half")
        for queries in (f"duckdb:{tmp_path / 'about.db'}#q", frame)
    ]

    assert means[0].rows() == means[1].rows()


def test_saved_scores_are_read(tmp_path: Path) -> None:
    """Scores per query may stand in a database."""
    rows = [("a", f"q{i}", "AP", i / 20) for i in range(20)] + [
        ("b", f"q{i}", "AP", i / 19) for i in range(20)
    ]
    frame = pl.DataFrame(
        rows, schema=["run", "query_id", "measure", "value"], orient="row"
    )
    with duckdb.connect(tmp_path / "scores.db") as connection:
        connection.register("frame", frame.to_arrow())
        connection.execute("CREATE TABLE scores AS FROM frame")
    address = f"duckdb:{tmp_path / 'scores.db'}#scores"

    comparison = rankstone.compare_scores(address)

    assert (
        comparison.report()["comparisons"]
        == rankstone.compare_scores(frame).report()["comparisons"]
    )
    assert set(comparison.inputs["scores"].values()) == {address}
    assert comparison.hashes() == {}


# -- types -----------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("expression", "dtype", "value"),
    [
        ("7::TINYINT", pl.Int64, 7),
        ("7::UINTEGER", pl.Int64, 7),
        ("7::UBIGINT", pl.String, "7"),
        (
            "170141183460469231731687303715884105::HUGEINT",
            pl.String,
            "170141183460469231731687303715884105",
        ),
        ("7::DECIMAL(18, 0)", pl.String, "7"),
        ("'seven'", pl.String, "seven"),
        ("'seven'::ENUM ('six', 'seven')", pl.String, "seven"),
        (
            "'6ccd780c-baba-1026-9564-5b8c656024db'::UUID",
            pl.String,
            "6ccd780c-baba-1026-9564-5b8c656024db",
        ),
    ],
)
def test_ids_of_duckdb(expression: str, dtype: pl.DataType, value: object) -> None:
    """Ids are texts or whole numbers of 64 bits; wider ones are the decimal text they are written as."""
    rows = f"SELECT {expression} AS query_id, 'd' AS doc_id, 1 AS score"
    table = read_run(duckdb.connect().sql(rows))

    assert table.schema["query_id"] == dtype
    assert table.collect("query_id").item() == value


@pytest.mark.parametrize(
    "expression",
    ["now()", "1.5::DECIMAL(3, 1)", "{'a': 1}", "INTERVAL 1 DAY", "1.5::DOUBLE"],
)
def test_ids_that_are_none(expression: str) -> None:
    """A column that holds no ids is named, and refused only where it is needed."""
    rows = f"SELECT 'q' AS query_id, {expression} AS doc_id, 1 AS score, 1 AS relevance"

    with pytest.raises(MixedIds, match="doc_id holds"):
        read_run(duckdb.connect().sql(rows))
    assert rankstone.evaluate(
        table=duckdb.connect().sql(rows), measures="RR", one_group=True
    ).to_dict() == {"run": {"RR": 1}}


@pytest.mark.parametrize(
    "expression",
    ["0.25::DECIMAL(9, 2)", "0.25::FLOAT", "0.25::DOUBLE", "CAST(1 AS HUGEINT) / 4"],
)
def test_scores_of_duckdb(expression: str) -> None:
    """Scores of every type of number are numbers."""
    table = read_run(
        duckdb.connect().sql(
            f"SELECT 'q' AS query_id, 'd' AS doc_id, {expression} AS score"
        )
    )

    assert table.collect("score").rows() == [(0.25,)]


def test_scores_that_are_none() -> None:
    """A text is no score."""
    with pytest.raises(InputError, match="score holds texts"):
        read_run(
            duckdb.connect().sql(
                "SELECT 'q' AS query_id, 'd' AS doc_id, '0.5' AS score"
            )
        )


@pytest.mark.parametrize("column", ["doc_id", "score"])
def test_nothing_is_refused_by_its_row(filled: Path, column: str) -> None:
    """NULL in an id or a score is an error that names the row."""
    query = f"SELECT * REPLACE (if(rowid = 16, NULL, {column}) AS {column}) FROM run"  # noqa: S608 - ours
    base = f"duckdb:{filled / 'all.db'}"

    with pytest.raises(BadValue) as raised:
        scores(f"{base}#qrels", f"{base}?query={query}")
    assert raised.value.where == f"{base}?query={query}, row 17"


def test_rows_are_named_by_table(filled: Path) -> None:
    """Where a row of a table stands is the address and the row's number."""
    address = f"duckdb:{filled / 'all.db'}#run"

    assert read_run(address).locate(16) == f"{address}, row 17"


# -- what goes wrong -------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("#rum", "did you mean run"),
        ("#RUN", "did you mean run"),
        ("#old.run", "there is no table old.run"),
        ("?query=SELEC * FROM run", "syntax error"),
        ("?query=SELECT nothing FROM run", '"nothing" not found'),
        ("?query=DROP TABLE run", "not a single SELECT"),
        ("?query=CREATE TABLE new AS FROM run", "not a single SELECT"),
        (
            "?query=SELECT 'q' AS query_id, 'd' AS doc_id, CAST(doc_id AS INT) AS score FROM run",
            "document ",
        ),
    ],
)
def test_what_duckdb_refuses(filled: Path, rows: str, message: str) -> None:
    """A table that is not there and SQL that cannot be run are reported in one line, with the address."""
    address = f"duckdb:{filled / 'all.db'}{rows}"
    with pytest.raises(InputError, match=message) as raised:
        read_run(address).collect()

    assert raised.value.where == address
    assert "\n" not in str(raised.value.given)


@pytest.mark.parametrize("sql", WRITERS_OF_DUCKDB)
def test_a_query_of_duckdb_writes_nothing(
    filled: Path, tmp_path: Path, sql: str
) -> None:
    """One SELECT that reads the file, and nothing else, whatever stands before, behind or inside it."""
    out = tmp_path / "written.csv"
    with pytest.raises(
        InputError, match=r"not a single SELECT|disabled by configuration"
    ):
        read_run(f"duckdb:{filled / 'all.db'}?query={sql.format(out=out)}").collect()

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("sql", WRITERS_OF_SQLITE)
def test_a_query_of_sqlite_writes_nothing(tmp_path: Path, sql: str) -> None:
    """Neither a copy of the database nor another one comes about, and the database stays as it is."""
    with sqlite3.connect(tmp_path / "runs.db") as connection:
        connection.execute("CREATE TABLE run (query_id, doc_id, score)")
        connection.execute("INSERT INTO run VALUES ('q', 'd', 1.0)")
    connection.close()
    before = (tmp_path / "runs.db").read_bytes()

    with pytest.raises(InputError, match=r"not a single SELECT|not authorized"):
        read_run(
            f"sqlite:{tmp_path / 'runs.db'}?query={sql.format(out=tmp_path / 'new.db')}"
        ).collect()

    assert [path.name for path in tmp_path.iterdir()] == ["runs.db"]
    assert (tmp_path / "runs.db").read_bytes() == before
    for query in (
        "SELECT * FROM run;",
        "WITH r AS (SELECT * FROM run) SELECT * FROM r -- all",
    ):
        assert (
            read_run(f"sqlite:{tmp_path / 'runs.db'}?query={query}").collect().height
            == 1
        )


@pytest.mark.parametrize(
    "name",
    [
        'x"; DROP TABLE run; --',
        "run; DROP TABLE run",
        "{folder}/run.parquet",
        "run.parquet",
        'run"',
    ],
)
def test_a_name_is_never_sql(
    filled: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What stands after # is a table's name: it runs nothing, and opens no file."""
    monkeypatch.chdir(filled)
    address = f"duckdb:{filled / 'all.db'}#{name.format(folder=filled)}"

    with pytest.raises(InputError, match="there is no table"):
        read_run(address)
    assert from_files(filled) == scores(
        f"duckdb:{filled / 'all.db'}#qrels", f"duckdb:{filled / 'all.db'}#run"
    )


def test_a_hostile_name_of_a_table_that_is_there(tmp_path: Path) -> None:
    """A table that really is called like an attack is read."""
    name = 'x"; DROP TABLE qrels; --'
    with duckdb.connect(tmp_path / "odd.db") as connection:
        connection.execute(
            "CREATE TABLE qrels AS SELECT 'q' AS query_id, 'd' AS doc_id, 1 AS relevance"
        )
        connection.execute(
            'CREATE TABLE "x""; DROP TABLE qrels; --" AS SELECT *, 1 AS score FROM qrels'
        )
    base = f"duckdb:{tmp_path / 'odd.db'}"

    assert scores(f"{base}#qrels", f"{base}#{name}")["RR"] == 1
    assert scores(f"{base}#qrels", f"{base}#{name}")["RR"] == 1


def test_files_that_are_no_database(filled: Path, tmp_path: Path) -> None:
    """No file is made where there was none, and another file is not taken for a database."""
    with pytest.raises(InputError, match="no such file"):
        read_run(f"duckdb:{tmp_path / 'new.db'}#run")
    with pytest.raises(InputError, match=r"did you mean .*all\.db"):
        read_run(f"duckdb:{filled / 'al.db'}#run")
    with pytest.raises(InputError, match="not a DuckDB database"):
        read_run(f"duckdb:{filled / 'run.parquet'}#run")
    with pytest.raises(InputError, match="a database is one file"):
        read_run(f"duckdb:{filled}#run")
    assert not (tmp_path / "new.db").exists()


def test_a_file_that_this_program_writes(tmp_path: Path) -> None:
    """A database that is open for writing cannot be opened beside; its relations can be handed over."""
    with (
        duckdb.connect(tmp_path / "open.db"),
        pytest.raises(InputError, match=r"pass con\.sql"),
    ):
        read_run(f"duckdb:{tmp_path / 'open.db'}#run")


@pytest.mark.parametrize(
    ("address", "extra"),
    [
        ("duckdb:{folder}/all.db#run", "duckdb"),
        ("sqlite:{folder}/all.db#run", "sqlite"),
        ("postgresql://ann:secret@host/db#run", "postgresql"),
    ],
)
def test_a_missing_driver(
    filled: Path, monkeypatch: pytest.MonkeyPatch, address: str, extra: str
) -> None:
    """A driver that is not installed is an extra that can be."""

    def absent(name: str) -> object:
        if name == "pyarrow":
            return importlib.import_module(name)
        raise ModuleNotFoundError(name, name=name)

    monkeypatch.setattr(databases, "import_module", absent)
    with pytest.raises(MissingExtra) as raised:
        read_run(address.format(folder=filled))
    assert raised.value.fix == f'pip install "rankstone[{extra}]"'
    assert "secret" not in str(raised.value)


# -- addresses -------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "address",
    ["duckdb:", "duckdb:#run", "duckdb:all.db", "duckdb:all.db#", "sqlite:?query="],
)
def test_addresses_that_say_too_little(address: str) -> None:
    """A file and a table, or a query, are needed."""
    with pytest.raises(UsageError, match=r"FILE#TABLE"):
        read_run(address)


def test_an_address_of_a_server_is_read() -> None:
    """Parameters are the server's own, all but the query, which is SQL as it stands and comes last."""
    address = parse_address(
        "postgresql://ann@host:5432/db?sslmode=require&query=SELECT a, b FROM t WHERE c LIKE '%20' & d"
    )

    assert address.place == "postgresql://ann@host:5432/db?sslmode=require"
    assert address.query == "SELECT a, b FROM t WHERE c LIKE '%20' & d"
    assert address.title.startswith(
        "postgresql://ann@host:5432/db?sslmode=require&query=SELECT a"
    )


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("postgresql://ann:hidden@host/db#run", "postgresql://ann:***@host/db#run"),
        (
            "postgres://ann:hid%40den@h1:1,h2:2/db#run",
            "postgres://ann:***@h1:1,h2:2/db#run",
        ),
        ("postgresql://:hidden@host/db#s.run", "postgresql://:***@host/db#s.run"),
        ("postgresql://ann@host/db#run", "postgresql://ann@host/db#run"),
        (
            "postgresql:///db?host=/tmp&password=hidden#run",
            "postgresql:///db?host=/tmp&password=***#run",
        ),
        (
            "postgresql://h/db?sslpassword=hidden&user=a#run",
            "postgresql://h/db?sslpassword=***&user=a#run",
        ),
        (
            "duckdb:a.db?query=FROM postgres_scan('host=h password=hidden', 's', 't')",
            "duckdb:a.db?query=FROM postgres_scan('host=h password=***', 's', 't')",
        ),
    ],
)
def test_what_is_shown_of_an_address(address: str, message: str) -> None:
    """An address is shown as it was written, without the password."""
    assert display_name(address) == message
    assert "hidden" not in masked(f"rankstone eval '{address}' x")


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://ann:hid@den@host/db#run",
        "postgresql://ann:hid/den@host/db#run",
        "postgresql://ann:hid#den@host/db#run",
        "postgresql://ann:hid?den@host/db#run",
        "postgresql://ann:hid:den@host/db#run",
        "postgresql://ann:hid den@host/db#run",
        "postgresql://ann:hid#den@host/db",
    ],
)
def test_a_password_that_is_not_encoded_is_not_repeated(address: str) -> None:
    """An address that cannot be read may have a password anywhere, so none of it is shown."""
    with pytest.raises(UsageError, match="%40 %3A") as raised:
        read_run(address)

    assert "hid" not in str(raised.value)
    assert "den" not in str(raised.value)


def test_names_of_runs() -> None:
    """A table gives its run the name; two that are called alike are called by their addresses."""
    same = ["duckdb:a.db#run", "postgresql://ann:hidden@host/db#run"]

    assert [stem(path) for path in (*same, "duckdb:a.db?query=SELECT 1")] == [
        "run",
        "run",
        "query",
    ]
    assert list(name_runs(same)) == [
        "duckdb:a.db#run",
        "postgresql://ann:***@host/db#run",
    ]


# -- PostgreSQL ------------------------------------------------------------------------------------------
@pytest.mark.parametrize("run", ["run", "tidy"])
def test_a_server_gives_the_numbers_of_files(
    server: str, filled: Path, run: str
) -> None:
    """Tables and queries of a server score as Parquet files do, to the last bit."""
    expected = from_files(filled, run)

    assert scores(f"{server}#qrels", f"{server}#public.{run}") == expected
    assert (
        scores(f"{server}?sslmode=prefer&query=TABLE qrels;", f"{server}#{run}")
        == expected
    )


def test_a_schema_of_a_server(server: str, filled: Path) -> None:
    """A table of another schema is named with it."""
    assert scores(f"{server}#qrels", f"{server}#old.bm25.v1") == from_files(
        filled, "tidy"
    )


def test_a_servers_rows_are_not_held_whole(server: str) -> None:
    """The first rows of a query without end come, and the connection can be given up."""
    query = "SELECT 'q' AS query_id, generate_series(1, 1000000000000) AS doc_id, 1.5::real AS score"

    assert pieces(read_run(f"{server}?query={query}"), 2)[1].item(0, "score") == 1.5


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("7::smallint", 7),
        ("7::integer", 7),
        ("7::bigint", 7),
        ("123456789012345678901234567890::numeric", "123456789012345678901234567890"),
        ("'seven'::text", "seven"),
        ("'seven'::varchar(9)", "seven"),
        ("'seven'::char(9)", "seven"),
        (
            "'6ccd780c-baba-1026-9564-5b8c656024db'::uuid",
            "6ccd780c-baba-1026-9564-5b8c656024db",
        ),
    ],
)
def test_ids_of_a_server(server: str, expression: str, value: object) -> None:
    """Ids of every type come as they are written."""
    table = read_run(
        f"{server}?query=SELECT {expression} AS query_id, 'd' AS doc_id, 1 AS score"
    )

    assert table.collect("query_id").item() == value


@pytest.mark.parametrize(
    "expression",
    ["0.25::numeric", "0.25::real", "0.25::float8", "(1/4.0)::numeric(9, 4)"],
)
def test_scores_of_a_server(server: str, expression: str) -> None:
    """Scores of every type of number are numbers."""
    table = read_run(
        f"{server}?query=SELECT 'q' AS query_id, 'd' AS doc_id, {expression} AS score"
    )

    assert table.collect("score").rows() == [(0.25,)]


def test_attributes_of_a_server(server: str) -> None:
    """In a table about queries digits are ids in the column of ids, and numbers elsewhere."""
    rows = "SELECT 7::numeric AS who, 0.5::numeric AS weight"
    about = read_attributes(f"{server}?query={rows}", "query_id", {"who": "query_id"})

    assert about.collect("weight").rows() == [("7", 0.5)]


def test_ids_that_are_none_of_a_server(server: str) -> None:
    """A time is no id, and a text no score."""
    with pytest.raises(MixedIds, match="query_id holds datetimes"):
        read_run(f"{server}?query=SELECT now() AS query_id, 'd' AS doc_id, 1 AS score")
    with pytest.raises(InputError, match="score holds texts"):
        read_run(f"{server}?query=SELECT 'q' AS query_id, 'd' AS doc_id, 'x' AS score")
    with pytest.raises(InputError, match="two columns are called query_id"):
        read_run(
            f"{server}?query=SELECT 'q' AS query_id, 'd' AS doc_id, 'x' AS query_id"
        )


def test_nothing_of_a_server_is_refused_by_its_row(server: str) -> None:
    """NULL is an error that names the row, and no password."""
    query = "SELECT 'q0' AS query_id, NULLIF('d' || i, 'd17') AS doc_id, 1 AS score FROM generate_series(1, 20) i"

    with pytest.raises(BadValue, match="row 17: a row without doc_id") as raised:
        scores(f"{server}#qrels", f"{server}?query={query}")
    assert not tells_the_password(raised.value)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("#rum", "did you mean run"),
        ('#x"; DROP TABLE run; --', "there is no table"),
        ("?query=SELECT FROM nowhere", 'relation "nowhere" does not exist'),
        ("?query=SELECT 1; DROP TABLE run", "not a single SELECT"),
        ("?query=COMMIT; DROP TABLE run; SELECT 1", "not a single SELECT"),
        (
            "?query=COPY run TO PROGRAM 'cat > /tmp/written-by-rankstone'",
            "not a single SELECT",
        ),
        ("?query=COPY run TO '/tmp/written-by-rankstone'", "not a single SELECT"),
        ("?query=COMMIT", "not a single SELECT"),
        ("?query=SET TRANSACTION READ WRITE", "not a single SELECT"),
        (
            "?query=SELECT 1) AS a; DROP TABLE run; SELECT * FROM (SELECT 1",
            "not a single SELECT",
        ),
        (
            "?query=DELETE FROM run RETURNING query_id, doc_id, score",
            "not a single SELECT",
        ),
        (
            "?query=SELECT 'q' AS query_id, doc_id, 1 / (random() * 0)::int AS score FROM run",
            "division by zero",
        ),
        ("?connect_timeout=soon#run", "connect_timeout"),
        ("?nonsense=1#run", "nonsense"),
    ],
)
def test_what_a_server_refuses(server: str, rows: str, message: str) -> None:
    """What the server says is reported in one line, with an address that has no password."""
    with pytest.raises(InputError, match=message) as raised:
        read_run(f"{server}{rows}").collect()

    assert str(raised.value).startswith("postgresql://judge:***@127.0.0.1:")
    assert not tells_the_password(raised.value)
    assert read_run(f"{server}#run").collect().height == 300_000


def test_a_password_that_stands_elsewhere(
    server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server's own ways to keep a password serve, so none need stand in an address."""
    address = f"postgresql://judge@{server.rsplit('@', 1)[1]}#run"
    with pytest.raises(InputError, match="no password supplied"):
        read_run(address)
    monkeypatch.setenv("PGPASSWORD", PASSWORD)

    assert read_run(address).source == address


def test_servers_that_do_not_answer(server: str) -> None:
    """A wrong password, a database that is not there and a port where no server listens are reported."""
    begin, end = server.rsplit("@", 1)
    for address, message in (
        (f"{begin}x@{end}#run", "password authentication failed"),
        (f"{server}x#run", "does not exist"),
        (f"{begin}@127.0.0.1:1/db#run", "Connection refused"),
    ):
        with pytest.raises(InputError, match=message) as raised:
            read_judgments(address)
        assert not tells_the_password(raised.value)


def test_no_password_in_what_scores_tell(server: str) -> None:
    """Inputs, their hashes and everything reported name the server without the password."""
    comparison = rankstone.compare(
        f"{server}#qrels", [f"{server}#run", f"{server}#tidy"], "AP"
    )
    text = f"{comparison.report()} {comparison.inputs} {comparison.text()}"

    assert comparison.inputs["judgments"].endswith("/postgres#qrels")
    assert comparison.hashes() == {}
    assert not tells_the_password(text)
