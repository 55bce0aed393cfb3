"""Batches through executors: in order, bounded, and whole after a worker has died."""

from __future__ import annotations

import gc
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from pytest_auepora.base.batches import ByItem, LostBatch, all_cores, in_batches, run_batches
from pytest_auepora.errors import AueporaError

from ..large import Doubles


class Here(Executor):
    """Does the work at once, packed and unpacked as if it had travelled."""

    def __init__(self) -> None:
        self.tasks: list[Any] = []

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.tasks.append(args)
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as exc:
            future.set_exception(exc)
        return future


def numbers(size: int, taken: list[int] | None = None) -> Iterator[list[int]]:
    for batch in in_batches(range(size), 3):
        if taken is not None:
            taken.append(batch[0])
        yield batch


def test_a_series_is_cut_without_reading_ahead() -> None:
    assert list(in_batches(range(7), 3)) == [[0, 1, 2], [3, 4, 5], [6]]
    rest = iter(range(10))
    next(in_batches(rest, 4))
    assert next(rest) == 4


@pytest.mark.parametrize("executor", [None, Here(), ThreadPoolExecutor(2)], ids=["none", "packed", "threads"])
def test_everything_comes_back_in_order(executor: Executor | None) -> None:
    done = list(run_batches(Doubles(), numbers(20), executor=executor))
    assert [n for batch, _ in done for n in batch] == list(range(20))
    assert [n for _, made in done if isinstance(made, list) for n in made] == list(range(0, 40, 2))
    if executor is not None:
        executor.shutdown()  # it is the user's: still there, for whoever made it to end


def test_no_more_is_read_than_there_is_room_for() -> None:
    gate = threading.Event()

    class Waits(Doubles):
        def __call__(self, batch: Sequence[int]) -> list[int]:
            gate.wait(60)
            return super().__call__(batch)

    taken: list[int] = []
    with ThreadPoolExecutor(2) as pool:
        done = run_batches(Waits(), numbers(300, taken), executor=pool, in_flight=4)
        threading.Timer(0.05, gate.set).start()
        next(done)
        assert len(taken) == 5
        for count, _ in enumerate(done, 2):
            assert len(taken) - count <= 4
    assert len(taken) == 100


def test_what_a_task_raises_is_raised_here() -> None:
    for executor in (None, Here()):
        with pytest.raises(ValueError, match="no negative numbers"):
            list(run_batches(Doubles(), iter([[1], [-1], [2]]), executor=executor))


def test_an_executor_that_ended_says_so() -> None:
    pool = ThreadPoolExecutor(1)
    pool.shutdown()
    with pytest.raises(AueporaError, match="the executor takes no more work: RuntimeError"):
        list(run_batches(Doubles(), numbers(3), executor=pool))


def test_what_is_under_way_is_cancelled_when_nobody_wants_it() -> None:
    futures: list[Future[Any]] = []

    class Never(Executor):
        def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
            futures.append(Future())
            if len(futures) == 1:
                futures[0].set_result(fn(*args))
            return futures[-1]

    done = run_batches(Doubles(), numbers(30), executor=Never(), in_flight=3)
    next(done)
    done.close()  # type: ignore[attr-defined]
    assert [f.cancelled() for f in futures] == [False, True, True]


def test_a_process_that_dies_once_loses_nothing(tmp_path: Path) -> None:
    task = Doubles(frozenset([7]), str(tmp_path / "died"))
    done = list(run_batches(task, numbers(20), jobs=2))
    assert (tmp_path / "died").exists()
    assert [made for _, made in done] == [[2 * n for n in batch] for batch in numbers(20)]


@pytest.mark.slow
def test_a_batch_that_kills_every_process_is_the_only_one_lost() -> None:
    done = list(run_batches(Doubles(frozenset([7])), numbers(20), jobs=2))
    assert [batch for batch, _ in done] == list(numbers(20))
    lost = [(batch, made.reason) for batch, made in done if isinstance(made, LostBatch)]
    assert [batch for batch, _ in lost] == [[6, 7, 8]]
    assert "BrokenProcessPool" in lost[0][1]


def test_there_is_at_least_one_core() -> None:
    assert all_cores() >= 1


HANGS = """\
import pathlib, signal, time

from pytest_auepora.base.batches import run_batches


class Hangs:
    def __call__(self, batch):
        pathlib.Path(f"began-{batch[0]}").touch()
        time.sleep(600)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # which processes in the background are started without
    list(run_batches(Hangs(), ([i] for i in range(9)), jobs=2))
"""


def ended_while_processes_hang(folder: Path, signum: int) -> tuple[str, int]:
    """Send *signum* to a process whose workers hang, and return what it and they wrote, and its exit code."""
    (folder / "hangs.py").write_text(HANGS, encoding="utf-8")
    with subprocess.Popen([sys.executable, "hangs.py"], cwd=folder, stderr=subprocess.PIPE, text=True) as process:
        while len([*folder.glob("began-*")]) < 2:
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signum)
        try:
            _, told = process.communicate(timeout=60)  # until nobody can write any more, the workers included
        finally:
            process.kill()
    return told, process.returncode


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C cannot be sent to one process there")
def test_ctrl_c_ends_processes_that_hang(tmp_path: Path) -> None:
    told, code = ended_while_processes_hang(tmp_path, signal.SIGINT)
    assert told.rstrip().endswith("KeyboardInterrupt")
    assert code == -signal.SIGINT


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such signal")
def test_processes_that_hang_end_with_a_killed_owner(tmp_path: Path) -> None:
    assert ended_while_processes_hang(tmp_path, signal.SIGKILL)[1] == -signal.SIGKILL


class Output:
    def __init__(self, n: int) -> None:
        self.n = n


class Sums(ByItem[int, int]):
    """Notes what it made, and in which threads."""

    def __init__(self) -> None:
        self.made: list[weakref.ref[Output]] = []
        self.threads: set[threading.Thread] = set()

    def __call__(self, batch: Sequence[int]) -> int:
        raise AssertionError("a pool of threads runs the items")

    def run_item(self, item: int) -> Output:
        if item < 0:
            raise ValueError(f"no {item}")
        self.threads.add(threading.current_thread())
        self.made.append(weakref.ref(made := Output(item)))
        return made

    def combine(self, batch: Sequence[int], results: list[Any]) -> int:
        self.threads.add(threading.current_thread())
        assert [one.n for one in results] == list(batch)
        if sum(batch) == 66:
            raise ArithmeticError("66")
        return sum(batch)


def test_partial_results_are_merged_and_removed() -> None:
    sums = Sums()
    batches = [list(range(10)), list(range(10, 20))]
    with ThreadPoolExecutor(3) as pool:
        done = run_batches(sums, batches, executor=pool)
        assert next(done) == (batches[0], 45)
        pool.shutdown()  # the second batch is done as well, and waits for its turn
        gc.collect()
        assert [ref() for ref in sums.made] == [None] * 20
        assert threading.current_thread() not in sums.threads
        assert next(done) == (batches[1], 145)


@pytest.mark.parametrize(("items", "said"), [([1, -2, 3, -4], "no -2"), ([66], "66")])
def test_errors_of_the_first_item_and_the_last_step_are_raised(items: list[int], said: str) -> None:
    with ThreadPoolExecutor(3) as pool, pytest.raises((ValueError, ArithmeticError), match=said):
        list(run_batches(Sums(), [items], executor=pool))


def test_a_broken_executors_earlier_work_is_cancelled() -> None:
    taken: list[Future[Any]] = []

    class Ends(ThreadPoolExecutor):
        def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
            if len(taken) == 2:
                raise RuntimeError("cannot schedule new futures after shutdown")
            taken.append(Future())
            return taken[-1]

    with pytest.raises(AueporaError, match=r"takes no more work: RuntimeError: .* after shutdown"):
        list(run_batches(Sums(), [[1, 2, 3]], executor=Ends()))
    assert [future.cancelled() for future in taken] == [True, True]
