"""Checks devices: `python -m paddle_mps.selftest`, which prints a report to paste into an issue.

It needs nothing but the package and NumPy. Every section runs in a process of its own, so a section that
crashes or hangs becomes a line of the report. The docstring of each module says what its section checks:

    census       the classes and methods of Apple's that are used
    conformance  every operator, dtype and layout against NumPy
    accuracy     how far from the exact result, in units in the last place
    probes       known defects of devices and of their drivers
    leaks        memory and objects left after many small operations
    speed        call overhead, memory bandwidth and matrix products

The invariant: a check states what it expects before it measures. Only a failed check fails the report;
speed is reported but never judged.
"""
