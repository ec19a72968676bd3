"""DuckDB and chDB, the embedded ClickHouse, as peers of searching: each has a table of the lines of a log. What is not
installed is left out: `pip install duckdb chdb`."""

import importlib
import time

from .programs import say


def _imported(name):
    """A Python module, if there is one here."""
    try:
        return importlib.import_module(name)
    except ImportError:
        say(f"{name} is not measured: it is not installed (pip install {name})")
        return None


def _quoted(text):
    """A text as SQL has it."""
    return "'" + str(text).replace("'", "''") + "'"


class DuckDb:
    """A table on disk, which is scanned."""

    name = "duckdb: contains()"

    def __init__(self, module, folder):
        self.file = folder / "lines.duckdb"
        self.connection = module.connect(str(self.file))

    def load(self, log):
        """Reads all lines. No character separates columns."""
        self.connection.execute(f"CREATE TABLE lines AS SELECT line FROM read_csv({_quoted(log)}, header = false, "
                                "columns = {'line': 'VARCHAR'}, delim = '\x01', quote = '', escape = '')")
        self.connection.execute("CHECKPOINT")

    def count(self, needle):
        """How many lines have a text."""
        [[found]] = self.connection.execute("SELECT count(*) FROM lines WHERE contains(line, ?)", [needle]).fetchall()
        return found

    def size(self):
        """Its bytes on disk."""
        return self.file.stat().st_size

    def close(self):
        """Ends it."""
        self.connection.close()


class ChDb:
    """A MergeTree with an index of ngrams."""

    name = "chdb: ngrambf_v1"

    def __init__(self, module, folder):
        self.folder = folder / "lines.chdb"
        self.session = importlib.import_module(f"{module.__name__}.session").Session(str(self.folder))

    def load(self, log):
        """Reads all lines, in their order, and merges what it wrote."""
        self.session.query("CREATE DATABASE logs ENGINE = Atomic")
        self.session.query("CREATE TABLE logs.lines (line String, INDEX ngrams line TYPE ngrambf_v1(4, 65536, 2, 0) "
                           "GRANULARITY 1) ENGINE = MergeTree ORDER BY tuple()")
        self.session.query(f"INSERT INTO logs.lines SELECT line FROM file({_quoted(log)}, LineAsString)")
        self.session.query("OPTIMIZE TABLE logs.lines FINAL")

    def count(self, needle):
        """How many lines have a text."""
        like = _quoted(f"%{needle}%")
        return int(self.session.query(f"SELECT count() FROM logs.lines WHERE line LIKE {like}", "CSV").bytes())

    def size(self):
        """Its bytes on disk."""
        return sum(each.stat().st_size for each in self.folder.rglob("*") if each.is_file())

    def close(self):
        """Ends it."""
        self.session.close()


def loaded(log, folder):
    """Those that are installed, with the lines of a log, and the seconds that each took for these."""
    found = {}
    for name, kind in [("duckdb", DuckDb), ("chdb", ChDb)]:
        module = _imported(name)
        if module is None:
            continue
        say(f"{name} {module.__version__} reads the log")
        database = kind(module, folder)
        start = time.perf_counter()
        database.load(log)
        found[database] = time.perf_counter() - start
    return found
