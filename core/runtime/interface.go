package runtime

import "github.com/paddle-mps/paddle-mps/core/device"

// InterfaceReport lists as JSON which parts of the vendor API that the device uses the running system
// provides; status.Unsupported for devices without such an API.
func (c *Context) InterfaceReport() (string, error) {
	dev, ok := c.dev.(device.InterfaceReporter)
	if !ok {
		return "", c.lacks("device_census")
	}
	return dev.InterfaceReport()
}
