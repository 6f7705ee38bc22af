"""The subcommands of the tool `paddle-mps`, the process that checks models, and the comparisons that benchmarks share.

Imports: _core, _arrays, _models, and public modules such as `paddle_mps.onnx`.

`paddle_mps._tool` starts them by name. No other module of the package imports this room: a program that computes does not load it.
"""
