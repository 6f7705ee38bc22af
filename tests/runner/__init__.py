"""Runs the parts of tests/parts.toml and prints one summary: what tests/parts.py calls.

A part is one command with one kind of output; a suite is what a word after `./build.sh test` names, some parts in their order.

    table    reads parts.toml: parts with what they share, and what the placeholders of their commands stand for
    execute  runs the commands of a part in a process group of its own, and reads the counts from its output
    again    runs what failed twice more, alone, and tells failures from flaky and inconclusive tests
    store    remembers which parts have passed with which inputs, so that they need not be repeated
    ledger   tests/flaky.tsv, the list of flaky tests
    run      the order: what parts need, two lanes, parts that run alone, timed parts, the summary

Invariants: a part passes only if it has run at least one test or says why it skipped it; a part that a signal ends, or its
limit of time, has failed; nothing that failed is forgotten, so that each failure ends as failed, flaky or inconclusive.
"""
