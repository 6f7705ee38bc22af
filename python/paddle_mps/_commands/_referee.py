"""The process that `_reference.Reference` asks: the first pickle is the model, each further one the inputs of a call."""

from __future__ import annotations

import os
import pickle
import sys
from typing import Any

from .. import onnx
from .._core._place import cpu
from .._models._reference import received, sent


def main() -> None:
    """Answers until its standard input ends."""
    answers, model = os.fdopen(os.dup(1), "wb"), None
    os.dup2(2, 1)  # what libraries print is no answer
    while True:
        try:
            asked = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        answer: Any
        try:
            if model is None:
                model, answer = onnx.load(asked, cpu), None
            else:
                made = model(*received(asked))
                answer = sent(list(made) if isinstance(made, tuple) else [made])
        except Exception as error:  # the caller raises it
            answer = error
        pickle.dump(answer, answers)
        answers.flush()


if __name__ == "__main__":
    main()
