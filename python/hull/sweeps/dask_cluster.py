"""A Dask cluster as an executor: `dask://host:port` names its scheduler."""

import asyncio
import contextlib
import logging
import time
from concurrent.futures import Future
from threading import Thread
from typing import Any

from hull.errors import RunError, UsageError
from hull.process.extras import require
from hull.sweeps.engine import Engine
from hull.terminal.options import option

_CONNECT_S = 10
_WORKER_S = 30
_WITHOUT_S = 60
_COUNT_EVERY_S = 1.0
_LOGGERS = ("distributed.client", "distributed.core", "distributed.comm", "distributed.utils")


class Dask(Engine):
    """The current workers of a Dask cluster; they may join and leave."""

    task_s = 0.5
    workers_keep = True
    lost = "the Dask scheduler is gone, or has dropped the tasks"

    def __init__(self, client: Any, jobs: int | None = None, *, opened: bool) -> None:
        """`opened`: this sweep opened the client and closes it; `jobs`: most concurrent tasks."""
        super().__init__(client.get_executor(pure=False), 0)
        self._client = client
        self._jobs = jobs
        self._opened = opened
        self._counted = float("-inf")
        self._last_worker = time.monotonic()

    def workers(self) -> int:
        """Number of threads of the current workers."""
        now = time.monotonic()
        if now - self._counted > _COUNT_EVERY_S:
            try:
                found = sum(self._client.nthreads().values())
            except (OSError, TimeoutError) as error:
                raise RunError(f"lost the Dask scheduler: {error}") from None
            self._counted = now
            self._workers = min(found, self._jobs or found)
            if found:
                self._last_worker = now
            elif now - self._last_worker > _WITHOUT_S:
                raise RunError(f"the Dask scheduler has had no worker for {_WITHOUT_S} s")
        return self._workers

    def stop(self, sweep: str) -> None:
        """Cancel tasks that have not started."""
        super().stop(sweep)
        with contextlib.suppress(Exception):  # the scheduler may be gone, which was told already
            self.executor.shutdown(wait=False)

    def close(self) -> None:
        """Close the client, if this sweep opened it."""
        if self._opened:
            self._client.close(timeout=5)


def open_dask(address: str, jobs: int | None) -> Dask:
    """Connect to a scheduler.

    Raises UsageError with the time spent waiting and what to check."""
    require("dask", f"{option('executor')} dask")
    from distributed import Client

    place = address.removeprefix("dask://")
    host, colon, port = place.rpartition(":")
    if not (host and colon and port.isdigit()):
        raise UsageError(f"{option('executor')}: {address!r}; the form is dask://host:port")
    for name in _LOGGERS:  # what goes wrong is told here, in one line
        logging.getLogger(name).setLevel(logging.CRITICAL)
    started = time.monotonic()
    try:
        _check_scheduler(place)
        client: Any = Client(  # type: ignore[no-untyped-call]
            f"tcp://{place}", timeout=_CONNECT_S, set_as_default=False
        )
    except UsageError:
        raise
    except (OSError, TimeoutError, ValueError):
        tried = time.monotonic() - started
        raise UsageError(
            f"{option('executor')}: no Dask scheduler answered at {place} in {tried:.0f} s; check "
            "that "
            f"`dask scheduler` runs there, that host and port are those that it prints, and that "
            "no firewall is between"
        ) from None
    try:
        client.wait_for_workers(1, timeout=_WORKER_S)
    except (OSError, TimeoutError):
        client.close(timeout=5)
        raise UsageError(
            f"{option('executor')}: the Dask scheduler at {place} had no worker in {_WORKER_S} s; "
            "start one "
            f"with `dask worker tcp://{place}`, where this hull is installed"
        ) from None
    return Dask(client, jobs, opened=True)


def _check_scheduler(place: str) -> None:
    """Raise UsageError if another program answers, OSError or TimeoutError if none does.

    Dask's client would wait forever for a program that accepts the connection and sends nothing.
    """
    answer: Future[Any] = Future()

    def ask() -> None:
        try:
            answer.set_result(asyncio.run(asyncio.wait_for(_identity(place), _CONNECT_S)))
        except BaseException as error:
            answer.set_exception(error)

    # In a thread, as the sweep may be called in a loop of its own, as notebooks have one.
    Thread(target=ask, daemon=True).start()
    try:
        found = answer.result()
    except (OSError, TimeoutError):
        raise
    except Exception:  # what came is not Dask's language
        found = None
    kind = found.get("type") if isinstance(found, dict) else None
    if kind != "Scheduler":
        what = f", but Dask's {str(kind).lower()}" if kind else ""
        raise UsageError(
            f"{option('executor')}: {place} is not a Dask scheduler{what}; expected the host and "
            "port that "
            "`dask scheduler` prints"
        )


async def _identity(place: str) -> Any:
    """What says who it is, if it is of Dask."""
    from distributed.comm.core import connect

    comm = await connect(f"tcp://{place}", timeout=_CONNECT_S)  # type: ignore[no-untyped-call]
    try:
        await comm.write({"op": "identity", "reply": True})
        return await comm.read()
    finally:
        comm.abort()
