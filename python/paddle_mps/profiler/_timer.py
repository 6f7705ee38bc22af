"""The time of steps, for `step_info` and the summary that `stop` prints."""

from __future__ import annotations

import time

WARM = 10  # steps at the beginning that the summary leaves out


class Timer:
    """Steps since `begin`, and since `info` was called last.

    Speeds are samples a second where every step said how many samples it had, and otherwise steps a second.
    """

    def __init__(self) -> None:
        self._costs: list[float] = []  # of the steps since the last info
        self._samples = 0
        self._sampled = True
        self._unit = "samples/s"
        self._steps = 0
        self._warm: list[tuple[float, int]] = []  # of those that count in the summary: seconds and samples
        self._began = time.perf_counter()

    def step(self, samples: int | None) -> None:
        """Ends a step."""
        now = time.perf_counter()
        cost, self._began = max(now - self._began, 1e-9), now
        self._steps += 1
        self._costs.append(cost)
        if samples is None:
            self._sampled, self._unit = False, "steps/s"
        self._samples += samples or 0
        if self._steps > WARM:
            self._warm.append((cost, samples or 0))
            del self._warm[:-100000]

    def info(self, unit: str) -> str:
        """The average of the steps since the last call, in PaddlePaddle's form; empty where there was none."""
        costs, samples = self._costs, self._samples
        self._costs, self._samples = [], 0
        if not costs:
            return ""
        total = sum(costs)
        self._unit = f"{unit}/s" if self._sampled else "steps/s"
        text = f" batch_cost: {total / len(costs):.5f} s"
        speed = (samples if self._sampled else len(costs)) / total
        return text + (f" ips: {speed:.3f} {self._unit}" if speed else "")

    def summary(self) -> str:
        """The average, the maximum and the minimum of the steps after the first ten; empty where there are none."""
        if not self._warm:
            return ""
        costs = [cost for cost, _ in self._warm]
        counts = [samples if self._sampled else 1 for _, samples in self._warm]
        speeds = [n / cost for n, cost in zip(counts, costs)]
        rows = [
            ("", "avg", "max", "min"),
            ("batch_cost", *(f"{x:.5f}" for x in (sum(costs) / len(costs), max(costs), min(costs)))),
            ("ips", *(f"{x:.5f}" for x in (sum(counts) / sum(costs), max(speeds), min(speeds)))),
        ]
        lines = ["Perf Summary".center(100, "="), f"Time Unit: s, IPS Unit: {self._unit}"]
        lines += ["| " + " | ".join(cell.center(15) for cell in row) + " |" for row in rows]
        return "\n".join(lines)
