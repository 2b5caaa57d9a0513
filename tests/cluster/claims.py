"""What the proof claims, and whether it held."""

import sys


class Claims:
    """Prints each claim with what was measured, and remembers those that did not hold."""

    def __init__(self):
        self._failed = []

    def note(self, text):
        print(f"      {text}", flush=True)

    def hold(self, text, held, measured=""):
        print(f"{'ok  ' if held else 'FAIL'}  {text}{': ' if measured else ''}{measured}", flush=True)
        if not held:
            self._failed.append(text)

    def status(self):
        if self._failed:
            print(f"{len(self._failed)} claims did not hold", file=sys.stderr)
        return int(bool(self._failed))
