"""Rewrite everything generated: python -m generate        or `make fix`, which also formats."""

from generate import advice, contracts, first_answers, golden, listings, readme

for each in (advice, contracts, first_answers, golden, listings, readme):
    each.main()
