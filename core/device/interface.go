package device

// InterfaceReporter is implemented by devices that report which vendor APIs (classes, methods) the running
// system provides, so that a missing one is known before a call needs it.
type InterfaceReporter interface {
	// InterfaceReport is the report as JSON; the comment of pmps_device_census in the C header describes it.
	InterfaceReport() (string, error)
}
