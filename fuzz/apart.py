"""Work in a process of its own that ends with it: threads it starts are no burden to what is forked later."""

from __future__ import annotations

import asyncio
import multiprocessing

SECONDS = 120.0


def apart(work):
    """What the coroutine function `work` returns.

    Raises:
        RuntimeError: it raised, or did not end in time; says what.
    """
    context = multiprocessing.get_context("fork")
    reading, writing = context.Pipe(duplex=False)
    process = context.Process(target=_run, args=(work, writing), daemon=True)
    process.start()
    writing.close()
    try:
        if not reading.poll(SECONDS):
            raise RuntimeError("no end in time")
        fine, result = reading.recv()
    except EOFError:
        raise RuntimeError("the process ended") from None
    finally:
        process.kill()
        process.join()
        reading.close()
    if not fine:
        raise RuntimeError(result)
    return result


def _run(work, writing):
    try:
        writing.send((True, asyncio.run(work())))
    except Exception as error:  # noqa: BLE001 - told to the one who waits
        writing.send((False, ascii(error)[:300]))
