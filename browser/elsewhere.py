"""Asynchronous work in a thread of its own: Playwright's loop runs in the main one until the last test is over."""

import asyncio
from concurrent.futures import ThreadPoolExecutor


def elsewhere(work):
    """What the coroutine function `work` returns."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: asyncio.run(work())).result()
