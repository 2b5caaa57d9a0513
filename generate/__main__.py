"""Rewrite everything generated: python -m generate        or `make fix`, which also formats."""

from generate import advice, architecture, cases, contracts, first_answers, golden, laws, listings, readme, sizes

for each in (cases, advice, contracts, first_answers, golden, laws, listings, readme, sizes, architecture):
    each.main()
