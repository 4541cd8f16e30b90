"""Lanes: threads of one process that work off the rows of one call, each with one thread of torch."""

from __future__ import annotations

import threading
from queue import SimpleQueue
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

Item = TypeVar("Item")


def in_lanes(lanes: Sequence[Iterable[Item]]) -> Iterator[Item]:
    """Yield what several iterables give, each run in a thread of its own; one runs right here.

    torch releases the lock of the interpreter in every operation, so lanes compute side by side. The number of torch's
    threads is one while they run: with more, each operation of each lane would wait for the others' threads.

    An error of one lane ends them all and is raised here; so does leaving the iteration early.
    """
    if len(lanes) == 1:
        yield from lanes[0]
        return
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    results: SimpleQueue[tuple[bool, Item] | BaseException | None] = SimpleQueue()
    stop = threading.Event()

    def work(items: Iterable[Item]) -> None:
        torch.set_num_threads(1)  # a setting of the thread, which a new one does not inherit
        try:
            for item in items:
                results.put((True, item))
                if stop.is_set():
                    return
        except BaseException as error:  # noqa: BLE001 - raised again in the thread that waits
            results.put(error)
        finally:
            results.put(None)

    threads = [threading.Thread(target=work, args=(items,), daemon=True) for items in lanes]
    for thread in threads:
        thread.start()
    try:
        running = len(threads)
        while running:
            result = results.get()
            if result is None:
                running -= 1
            elif isinstance(result, BaseException):
                raise result
            else:
                yield result[1]
    finally:
        stop.set()
        for thread in threads:
            thread.join()
        torch.set_num_threads(before)
