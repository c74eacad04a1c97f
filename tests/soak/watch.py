"""One look at a bot and its database: what they use, how much there is of everything. Sizes are bytes unless they say
MB (10⁶ bytes)."""

from __future__ import annotations

import contextlib
import os
import re
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import psycopg

from relay.clients.embedded.cluster import Cluster
from tests.benchmarks.lab import Child, cpu, memory, postmaster

Json = dict[str, Any]
RELATIONS = """select c.relname, coalesce(parent.relname, ''), pg_relation_size(c.oid), c.relkind::text,
    coalesce(s.idx_scan, 0)
from pg_class c join pg_namespace n on n.oid = c.relnamespace
left join pg_index i on i.indexrelid = c.oid
left join pg_class parent on parent.oid = i.indrelid or parent.reltoastrelid = c.oid
left join pg_stat_all_indexes s on s.indexrelid = c.oid
where c.relkind in ('r', 'i', 't') and (n.nspname = 'relay'
    or parent.relnamespace = 'relay'::regnamespace
    or parent.oid in (select reltoastrelid from pg_class where relnamespace = 'relay'::regnamespace))"""
ROWS = "select relname, n_live_tup, n_dead_tup from pg_stat_user_tables where schemaname = 'relay'"
FUNCTIONS = "select funcname, calls, total_time from pg_stat_user_functions where funcname like 'relay\\_%'"
WHOLE = "select pg_database_size(current_database()), pg_current_wal_lsn() - '0/0'::pg_lsn"
GAUGE = re.compile(r"^(relay_queue_updates|relay_queue_turns|relay_turns_running) (\S+)$", re.M)
TURNS = re.compile(r"^relay_turns_total\{.*\} (\S+)$", re.M)


def descendants(pid: int) -> list[int]:
    """A process's children and theirs, as they are at the moment."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in map(int, (task / "children").read_text().split()):
                found += [child, *descendants(child)]
    return found


def own(pid: int) -> float:
    """What a process has for itself alone, in MB: no files, whose part of its PSS grows when another program that reads
    the same libraries or weights ends."""
    told = Path(f"/proc/{pid}/status").read_text()
    return int(told.split("RssAnon:")[1].split()[0]) * 1024 / 1e6


def shared(pid: int) -> tuple[float, float]:
    """What a process has of its own and its part of what it shares with others (a server's buffers), in MB of PSS."""
    lines = (line.split() for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:])
    sizes = {line[0]: int(line[1]) * 1024 / 1e6 for line in lines}
    return sizes["Pss_Anon:"], sizes["Pss_Shmem:"]


def total(pids: list[int], measure: Any) -> tuple[float, float]:
    """The sums of what is measured of processes that are still there."""
    first = second = 0.0
    for pid in pids:
        with contextlib.suppress(OSError):
            one, other = measure(pid)
            first, second = first + one, second + other
    return round(first, 2), round(second, 2)


def files(folder: Path) -> tuple[int, int]:
    """How many files are in a folder, and their bytes."""
    count = size = 0
    for path in folder.rglob("*"):
        with contextlib.suppress(OSError):
            if path.is_file():
                count, size = count + 1, size + path.stat().st_size
    return count, size


@dataclass
class Watch:
    """Looks at a bot on an embedded database."""

    bot: Child
    people: Child
    folder: Path
    """With the data directory `data`, the temporary files `tmp` and the log `relay.log`."""
    web: str
    began: float = field(default_factory=time.monotonic)

    async def look(self) -> Json:
        """One sample. Raises `RuntimeError` when the bot has ended."""
        if self.bot.process.returncode is not None:
            raise RuntimeError(f"The bot ended ({self.bot.process.returncode}): see {self.folder}/relay.log")
        sample: Json = {"at": round(time.monotonic() - self.began, 1), "load": os.getloadavg()[0]}
        sample |= self.processes() | self.places() | await self.queue()
        sample |= self.database()
        return sample | await self.people.post("/_soak/window")

    def begin(self) -> None:
        """Counts the time from now on; has the database count its functions' calls and time."""
        self.began = time.monotonic()
        with psycopg.connect(Cluster(self.folder / "data").url("postgres"), autocommit=True) as connection:
            connection.execute("alter system set track_functions = 'all'")
            connection.execute("select pg_reload_conf()")

    def processes(self) -> Json:
        """The bot, its children, and the database's processes."""
        server = postmaster(self.folder / "data")
        backends = [server, *descendants(server)]
        children = [pid for pid in descendants(self.bot.pid) if pid not in backends]
        servers, buffers = total(backends, shared)
        return {
            "bot_rss": round(memory(self.bot.pid)[1], 2), "bot_own": round(own(self.bot.pid), 2),
            "bot_cpu": cpu(self.bot.pid),
            "bot_fds": len(list(Path(f"/proc/{self.bot.pid}/fd").iterdir())),
            "bot_threads": len(list(Path(f"/proc/{self.bot.pid}/task").iterdir())),
            "children": len(children), "children_own": total(children, lambda pid: (own(pid), 0.0))[0],
            "postgres_processes": len(backends), "postgres_own": servers, "postgres_buffers": buffers,
            "postgres_cpu": round(cpu(server, children=True), 2),
        }  # fmt: skip

    def places(self) -> Json:
        """Files: of the data directory outside of the database, temporary ones, the logs, the write-ahead log."""
        data = self.folder / "data"
        wal, cluster = files(data / "postgres/pg_wal")[1], files(data / "postgres")
        everything, temporary = files(data), files(self.folder / "tmp")
        backups = files(data / "backups")
        return {
            "data_files": everything[0] - cluster[0] - backups[0],
            "data_bytes": everything[1] - cluster[1] - backups[1],
            "backups": backups[0], "backup_bytes": backups[1], "tmp_files": temporary[0], "tmp_bytes": temporary[1],
            "log_bytes": (self.folder / "relay.log").stat().st_size, "wal_files_bytes": wal,
        }  # fmt: skip

    async def queue(self) -> Json:
        """What /metrics tells: how much waits, and how many turns there were."""
        async with aiohttp.ClientSession() as session, session.get(self.web + "/metrics") as response:
            told = await response.text()
        return {name: float(value) for name, value in GAUGE.findall(told)} | {
            "turns": sum(map(float, TURNS.findall(told)))
        }

    def database(self) -> Json:
        """The size of everything in it, how often each index was used, and each function's calls and seconds."""
        with psycopg.connect(Cluster(self.folder / "data").url("postgres"), autocommit=True) as connection:
            whole = connection.execute(WHOLE).fetchone()
            relations = connection.execute(RELATIONS).fetchall()
            rows = connection.execute(ROWS).fetchall()
            functions = connection.execute(FUNCTIONS).fetchall()
        assert whole is not None
        sizes: dict[str, Json] = {}
        for name, parent, size, kind, scans in relations:
            sizes[name] = {"of": parent, "kind": kind, "size": size, "scans": scans}
        live = {name: [alive, dead] for name, alive, dead in rows}
        spent = {name: [calls, milliseconds / 1000] for name, calls, milliseconds in functions}
        return {"database": int(whole[0]), "wal": int(whole[1]), "relations": sizes, "rows": live, "functions": spent}
