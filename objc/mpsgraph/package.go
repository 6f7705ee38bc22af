package mpsgraph

import "github.com/paddle-mps/paddle-mps/objc"

// ExecutableSerializationDescriptor is MPSGraphExecutableSerializationDescriptor.
type ExecutableSerializationDescriptor uintptr

var (
	classSerialization  = objc.Optional("MPSGraphExecutableSerializationDescriptor")
	classExecutable     = objc.Optional("MPSGraphExecutable")
	serializeToPackage  = objc.Declare2[Executable, objc.URL, ExecutableSerializationDescriptor, objc.Void]("MPSGraphExecutable", "serializeToMPSGraphPackageAtURL:descriptor:", "14.0")
	initWithPackageAt   = objc.Declare2[Executable, objc.URL, CompilationDescriptor, Executable]("MPSGraphExecutable", "initWithMPSGraphPackageAtURL:compilationDescriptor:", "14.0")
	specializeForDevice = objc.Declare3[Executable, Device, objc.Array, CompilationDescriptor, objc.Void]("MPSGraphExecutable", "specializeWithDevice:inputTypes:compilationDescriptor:")
)

// HasPackages reports whether the system has [Executable.Serialize] and [NewExecutable], which came with macOS 14.
func HasPackages() bool { return objc.MacOS().AtLeast("14.0") }

// Serialize is -[MPSGraphExecutable serializeToMPSGraphPackageAtURL:descriptor:] (macOS 14) with the defaults of the
// descriptor. It reports no errors: where it cannot make the folder, which must not exist in one that does, it ends the
// process.
func (x Executable) Serialize(to objc.URL) {
	d := ExecutableSerializationDescriptor(classSerialization.New())
	defer objc.Release(d)
	serializeToPackage.Send(x, to, d)
}

// NewExecutable is -[MPSGraphExecutable initWithMPSGraphPackageAtURL:compilationDescriptor:] (macOS 14), +1. It ends the
// process where a file of the package is missing, and may read files only when the executable is specialized. Such an
// executable has no FeedTensors and no TargetTensors.
func NewExecutable(from objc.URL, c CompilationDescriptor) Executable {
	return initWithPackageAt.Send(Executable(classExecutable.Alloc()), from, c)
}

// Specialize is -[MPSGraphExecutable specializeWithDevice:inputTypes:compilationDescriptor:]. types has a ShapedType for
// each input, in their order. Without it, the first run does the same.
func (x Executable) Specialize(d Device, types objc.Array, c CompilationDescriptor) {
	specializeForDevice.Send(x, d, types, c)
}
