"""Checks devices: `python -m paddle_mps.selftest`, which prints a report to paste into an issue.

It needs nothing but the package and NumPy. Every section runs in a process of its own, so that one that
ends with a crash, or never, is a line of the report and not its end. What a section checks stands on top
of its module:

    census       the classes and methods of Apple's that are used
    conformance  every operator, dtype and layout against NumPy
    accuracy     how far from the exact result, in units in the last place
    probes       known defects of devices and of their drivers
    leaks        what many small operations leave behind
    speed        what a call costs, memory bandwidth and matrix products

The invariant: a check states what it expects before it looks, and only a check that fails fails the
report; speed is reported and never judged.
"""
