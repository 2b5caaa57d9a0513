"""The page on the advice as it is kept, part by part: the first table, stories, cases, layers, and their meetings."""

import re

from generate import advice

PARTS = re.split(r"^(?=## |### \S+ \S+ meeting)", advice.PAGE.read_text("utf-8"), flags=re.MULTILINE)
FIRST, STORIES, CASES, LAYERS, *MEETINGS = (f"{part.rstrip()}\n" for part in PARTS)
RENEW = "run `make fix`, and say in the commit what got better or worse"
