"""Rewrite everything generated: python -m generate        or `make fix`, which also formats."""

from generate import contracts, golden, listings, readme

for each in (contracts, golden, listings, readme):
    each.main()
