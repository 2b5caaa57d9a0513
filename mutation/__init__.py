"""Proves that tests hold every line of the package: `make lines`.

Each named number of a module of `ttnn_mcp/` (and each that it imports, as it uses it) is moved up and down by 30 %, and
each guard is removed: one at a time, in memory, never in the work tree. Then the tests that reach the change run, in a
fork. A mutant that they do not notice is tried again with all tests of its module, in a process of its own; what
survives that is reported with its line, and fails the command. `mutation/scope.py` says which tests hold a module.

    make lines                  all modules
    make lines CHANGED=1        those whose file or tests changed since the branch left main (or SINCE=<commit>);
                                with MOST=100 the surest of them, no more after 100 mutants
    make lines ONLY=stalled     those whose path contains the word, or one of several: ONLY=stalled,late_free

    make lines FAULTS=1         plants faults too: another operator, a comparison at its edge or turned, nothing
                                returned, a statement left out
    make lines ROOMS=.lines     room by room, each told in a file there; started again, it goes on with what is not
                                told yet or has changed since

A mutant that changes nothing (it happens: a guard that only spares time) is excused by a comment on its line,
`# unmoved: <the reason>`, which the command prints; an excuse that is no longer needed fails it too.

Why not a library: mutmut 3 mutates functions only, and thresholds stand outside them; cosmic-ray writes each mutant
to disk and starts a process for it; mutatest changes operators and conditions, and no number. None moves a number
by a share of it or knows which tests a check has.

It forks, so it needs Linux or macOS.
"""
