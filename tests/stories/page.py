"""The page on the advice as it is kept, part by part: summary, cases, layers, their meetings, and the two tables of stories."""

import re

from generate import advice

PARTS = re.split(r"^(?=## |### \S+ \S+ meeting)", advice.PAGE.read_text("utf-8"), flags=re.MULTILINE)
SUMMARY, CASES, LAYERS, *MEETINGS, FIRST, STORIES = (f"{part.rstrip()}\n" for part in PARTS)
RENEW = "run `make fix`, and say in the commit what got better or worse"
