package metal

import (
	"encoding/json"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/objc"
	"github.com/paddle-mps/paddle-mps/objc/mtl"
)

var _ device.InterfaceReporter = (*Device)(nil)

// InterfaceReport is what the system has of the classes and methods that the library uses, as JSON: the version of
// macOS, the name of the GPU's architecture, the findings, and the constants that are compiled in.
func (d *Device) InterfaceReport() (string, error) {
	defer objc.Pool().Close()
	samples, err := mtl.NewSamples(d.Metal)
	if err != nil {
		return "", err
	}
	defer samples.Release()
	findings, err := objc.CheckInterface(samples)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(struct {
		MacOS        string          `json:"macos"`
		Architecture string          `json:"architecture"`
		Findings     []objc.Finding  `json:"findings"`
		Constants    []objc.Constant `json:"constants"`
	}{objc.MacOS().String(), d.Metal.ArchitectureName(), findings, objc.Constants()})
	return string(text), err
}
