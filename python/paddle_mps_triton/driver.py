from triton.backends.driver import DriverBase


class MPSDriver(DriverBase):
    @classmethod
    def is_active(cls): return False
    def map_python_to_cpp_type(self, ty): return ""
    def get_current_target(self): ...
    def get_active_torch_device(self): ...
    def get_benchmarker(self): ...
