"""The classes that onnxruntime has in Python."""

from .._binding import IOBinding
from .._session import InferenceSession, Session
from .._values import OrtDevice, OrtValue

__all__ = ["IOBinding", "InferenceSession", "OrtDevice", "OrtValue", "Session"]
