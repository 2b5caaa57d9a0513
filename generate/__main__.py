"""Rewrite everything generated: python -m generate        or `make fix`, which also formats."""

from generate import advice, contracts, golden, listings, readme

for each in (advice, contracts, golden, listings, readme):
    each.main()
