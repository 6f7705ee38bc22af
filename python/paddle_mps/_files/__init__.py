"""Files of tensors and nested data: `save` and `load`, in Paddle's formats.

Imports: _core, _devices.

Nothing in a file is trusted: `_unpickle` reads pickles and runs nothing that is in them. Models of ONNX are read by the library, and
safetensors not at all.
"""
