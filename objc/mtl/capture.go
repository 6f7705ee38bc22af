package mtl

import "github.com/paddle-mps/paddle-mps/objc"

// Recording of the commands that a program sends to the GPU.
type (
	// CaptureManager is MTLCaptureManager.
	CaptureManager uintptr
	// CaptureDescriptor is MTLCaptureDescriptor.
	CaptureDescriptor uintptr
)

// CaptureDestination is MTLCaptureDestination.
type CaptureDestination int64

// CaptureDestinationGPUTraceDocument is a document on disk, for Xcode.
const CaptureDestinationGPUTraceDocument CaptureDestination = 2

var (
	classCaptureManager    = objc.Named("MTLCaptureManager")
	classCaptureDescriptor = objc.Named("MTLCaptureDescriptor")
	sharedCaptureManager   = objc.Declare0[objc.Class, CaptureManager]("MTLCaptureManager", "sharedCaptureManager")
	supportsDestination    = objc.Declare1[CaptureManager, CaptureDestination, objc.Bool]("MTLCaptureManager", "supportsDestination:")
	isCapturing            = objc.Declare0[CaptureManager, objc.Bool]("MTLCaptureManager", "isCapturing")
	startCapture           = objc.Declare2[CaptureManager, CaptureDescriptor, objc.Pointer, objc.Bool]("MTLCaptureManager", "startCaptureWithDescriptor:error:")
	stopCapture            = objc.Declare0[CaptureManager, objc.Void]("MTLCaptureManager", "stopCapture")
	setCaptureObject       = objc.Declare1[CaptureDescriptor, objc.ID, objc.Void]("MTLCaptureDescriptor", "setCaptureObject:")
	setDestination         = objc.Declare1[CaptureDescriptor, CaptureDestination, objc.Void]("MTLCaptureDescriptor", "setDestination:")
	setOutputURL           = objc.Declare1[CaptureDescriptor, objc.URL, objc.Void]("MTLCaptureDescriptor", "setOutputURL:")
)

// SharedCaptureManager is +[MTLCaptureManager sharedCaptureManager], +0.
func SharedCaptureManager() CaptureManager {
	return sharedCaptureManager.Send(classCaptureManager.Class())
}

// SupportsDestination is -[MTLCaptureManager supportsDestination:].
func (m CaptureManager) SupportsDestination(d CaptureDestination) bool {
	return supportsDestination.Send(m, d) == objc.Yes
}

// IsCapturing is -[MTLCaptureManager isCapturing].
func (m CaptureManager) IsCapturing() bool { return isCapturing.Send(m) == objc.Yes }

// StartCapture is -[MTLCaptureManager startCaptureWithDescriptor:error:]; where it fails, with a +0 error.
func (m CaptureManager) StartCapture(d CaptureDescriptor) (bool, objc.Error) {
	var e objc.Out[objc.Error]
	started := startCapture.Send(m, d, e.At())
	return started == objc.Yes, e.Get()
}

// StopCapture is -[MTLCaptureManager stopCapture]; a capture is under way.
func (m CaptureManager) StopCapture() { stopCapture.Send(m) }

// NewCaptureDescriptor is +[MTLCaptureDescriptor new], +1.
func NewCaptureDescriptor() CaptureDescriptor {
	return CaptureDescriptor(classCaptureDescriptor.New())
}

// SetCaptureObject is -[MTLCaptureDescriptor setCaptureObject:].
func (d CaptureDescriptor) SetCaptureObject(device Device) { setCaptureObject.Send(d, objc.ID(device)) }

// SetDestination is -[MTLCaptureDescriptor setDestination:].
func (d CaptureDescriptor) SetDestination(to CaptureDestination) { setDestination.Send(d, to) }

// SetOutputURL is -[MTLCaptureDescriptor setOutputURL:].
func (d CaptureDescriptor) SetOutputURL(url objc.URL) { setOutputURL.Send(d, url) }
