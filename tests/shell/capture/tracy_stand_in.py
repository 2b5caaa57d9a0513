"""A stand-in for tt-metal's `python -m tracy`: a test writes it to disk as the package `tracy`. It measures nothing.

It takes the words apart, joins them for a shell and goes on after a failure as tt-metal 0.59 to 0.81 do
(tools/tracy/__main__.py), and writes what STAND_IN asks for: `output` lines, and a `report` to copy.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

OPTIONS = ("-m", "-p", "-r", "-v", "--op-support-count", "--dump-device-data-mid-run", "--no-web-server")


def main():
    words = sys.argv[1:]
    chosen = []
    while words and words[0].partition("=")[0] in OPTIONS and "-m" not in chosen:
        chosen.append(words.pop(0))
    if "-r" not in chosen:  # the inner process: run what a user wrote
        command = [sys.executable, *(["-m"] if "-m" in chosen else []), *words]
        sys.exit(subprocess.run(command, check=False).returncode)
    inner = [option for option in chosen if option != "-r"]
    joined = " ".join([sys.executable, "-m", "tracy", *inner, *words])
    subprocess.run(joined, shell=True, check=False)  # noqa: S602 - as the real one does
    asked = json.loads(os.environ.get("STAND_IN", "{}"))
    for line in asked.get("output", ()):
        sys.stderr.write(f"{line}\n")
    if "report" in asked:
        folder = Path.cwd() / "generated" / "profiler" / "reports" / "2026_01_02_03_04_05"
        shutil.copytree(asked["report"], folder, copy_function=shutil.copyfile)
        sys.stderr.write(
            f"2026-01-02 | INFO | OPs csv generated at: {next(folder.glob('ops_perf_results*.csv'))}\n"
        )
    sys.exit(asked.get("status", 0))


if __name__ == "__main__":
    main()
