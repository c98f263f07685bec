"""A page's run without a server: buffering for a slow page, and the limits of a run."""

import asyncio
import json
import threading
import time
from typing import Any

import pytest

from hull.lab import session
from hull.lab.model import read_state
from hull.lab.outbox import MOST_FRAMES, Outbox
from hull.lab.session import MOST_SAMPLES, Session
from hull.lab.turns import Turns

pytestmark = pytest.mark.quiet


async def take(outbox: Outbox) -> str | None:
    return await asyncio.wait_for(outbox.take(), 5)


def test_new_run_drops_the_two_queued_frames() -> None:
    async def check() -> None:
        outbox = Outbox(asyncio.get_running_loop())
        for frame in range(MOST_FRAMES):
            assert outbox.has_room()
            outbox.add_frame(f"frame {frame}")
        assert not outbox.has_room()
        assert await take(outbox) == "frame 0"
        # Frame 0 is being sent: it counts as sent once the next message is requested.
        assert not outbox.has_room()
        outbox.add("begin", begins=True)
        outbox.add_frame("new frame")
        assert not outbox.has_room()
        assert [await take(outbox) for _ in range(2)] == ["begin", "new frame"]
        assert outbox.has_room()
        outbox.add_frame("last")
        outbox.close()
        assert [await take(outbox) for _ in range(2)] == ["last", None]

    asyncio.run(check())


def test_messages_from_another_thread_arrive() -> None:
    async def check() -> None:
        outbox = Outbox(asyncio.get_running_loop())
        threading.Timer(0.05, outbox.add, ["late"]).start()
        assert await take(outbox) == "late"

    asyncio.run(check())


def test_turns_are_in_order_after_priority_turns() -> None:
    turns, order = Turns(1), list[str]()

    def take_turn(name: str, first: bool) -> None:
        with turns.turn(first=first):
            order.append(name)

    threads = []
    with turns.turn(first=False):
        for name in ("a", "b", "new"):
            thread = threading.Thread(target=take_turn, args=(name, name == "new"))
            thread.start()
            threads.append(thread)
            time.sleep(0.05)
        assert order == []
    for thread in threads:
        thread.join(5)
    assert order == ["new", "a", "b"]
    take_turn("again", False)


def test_stalled_page_counts_as_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    pages = pytest.importorskip("hull.lab.pages")
    monkeypatch.setattr(pages, "_STALLED_SECONDS", 0.1)

    class Stalled:
        async def send_text(self, _: str) -> None:
            await asyncio.sleep(60)

    async def check() -> None:
        outbox = Outbox(asyncio.get_running_loop())
        outbox.add("begin")
        with pytest.raises(pages.GoneError):
            await asyncio.wait_for(pages._send(Stalled(), outbox), 5)

    asyncio.run(check())


async def messages(run: Session, outbox: Outbox, until: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    run.start()
    try:
        while not found or found[-1]["type"] != until:
            text = await take(outbox)
            assert text is not None
            found.append(json.loads(text))
    finally:
        run.stop()
        await asyncio.to_thread(run.join, 5)
    assert not run.is_alive()
    return found


def test_slow_page_gets_fewer_larger_frames() -> None:
    async def check() -> None:
        outbox = Outbox(asyncio.get_running_loop())
        run = Session(read_state({}), 60, outbox)
        run.start()
        await asyncio.sleep(1.0)
        waiting = [json.loads(await take(outbox) or "") for _ in range(1 + MOST_FRAMES)]
        assert [message["type"] for message in waiting] == ["begin", "frame", "frame"]
        # There is room again: the next frame has all samples since; the first frame may have none.
        shown = [t for frame in waiting[1:] for t in frame["schemes"][0]["t"]]
        third = json.loads(await take(outbox) or "")
        count = len(third["schemes"][0]["t"])
        assert 100 < count <= MOST_SAMPLES
        assert third["schemes"][0]["t"][0] > max(shown, default=-1)
        run.stop()
        await asyncio.to_thread(run.join, 5)

    asyncio.run(check())


@pytest.mark.parametrize(("limit", "most"), [("MOST_HOPS", 10_000), ("MOST_SECONDS", 0.3)])
def test_runs_are_limited(monkeypatch: pytest.MonkeyPatch, limit: str, most: float) -> None:
    monkeypatch.setattr(session, limit, most)

    async def check() -> None:
        outbox = Outbox(asyncio.get_running_loop())
        run = Session(read_state({"speed": 0.05}), 60, outbox)
        started = time.monotonic()
        found = await messages(run, outbox, "end")
        assert found[-1] == {"type": "end", "generation": 1, "reason": "limit"}
        assert time.monotonic() - started < 5
        hops = found[-2]["schemes"][0]["stats"]["packet_hops"]
        assert hops < 10_000 + 2 * session.SLICE_HOPS or limit == "MOST_SECONDS"

    asyncio.run(check())


def test_a_run_that_fails_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("no room")

    monkeypatch.setattr("hull.lab.session.cells_of", fail)

    async def check() -> None:
        outbox = Outbox(asyncio.get_running_loop())
        found = await messages(Session(read_state({}), 60, outbox), outbox, "error")
        assert found[-1]["message"] == "the run failed: RuntimeError: no room"
        assert await take(outbox) is None

    asyncio.run(check())
    assert capsys.readouterr().err == "hull lab: the run failed: RuntimeError: no room\n"


def test_long_steps_of_a_paused_run_are_shown() -> None:
    heavy = read_state({"rate": 40e9, "rtt": 1e-3, "flows": 32})

    async def until_it_stands(outbox: Outbox) -> float:
        text = None
        while True:
            try:
                text = await asyncio.wait_for(outbox.take(), 1)
            except TimeoutError:
                return float(json.loads(text or "")["t"])

    async def check() -> None:
        outbox = Outbox(asyncio.get_running_loop())
        run = Session(heavy, 60, outbox)
        run.pause(True)
        run.start()
        before = await until_it_stands(outbox)
        run.step(0.02)
        assert await until_it_stands(outbox) == pytest.approx(before + 0.02, abs=1e-9)
        run.stop()
        await asyncio.to_thread(run.join, 5)

    asyncio.run(check())
