"""What stands behind `paddle_mps.onnx`: element types and strings that tensors lack, half precision, a model to compare results with.

And the pictures of graphs and the line about progress that it shares with `jit` and the commands.

Imports: _core, _devices, _calls, _arrays.

The library reads and runs models; nothing here knows an operator of ONNX.
"""
