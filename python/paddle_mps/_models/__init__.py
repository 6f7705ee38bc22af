"""What stands behind `paddle_mps.onnx`: element types and strings that tensors lack, half precision, the model that results are compared with.
And pictures of graphs.

Imports: _core, _devices, _calls, _arrays.

The library reads and runs models; nothing here knows an operator of ONNX.
"""
