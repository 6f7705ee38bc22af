package runtime

import "github.com/paddle-mps/paddle-mps/core/device"

// Census is what the system has of the interface that the device is driven through, as JSON.
func (c *Context) Census() (string, error) {
	dev, ok := c.dev.(device.Censor)
	if !ok {
		return "", c.lacks("device_census")
	}
	return dev.Census()
}
