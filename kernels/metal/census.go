package metal

import (
	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/jsontext"
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
	found := make([]any, len(findings))
	for i, f := range findings {
		found[i] = jsontext.Make(
			"class", f.Class,
			"selector", f.Selector,
			"since", f.Since,
			"optional", f.Optional,
			"found", f.Found,
			"encoding", f.Encoding,
		)
	}
	constants := make([]any, len(objc.Constants()))
	for i, c := range objc.Constants() {
		constants[i] = jsontext.Make("name", c.Name, "value", c.Value, "since", c.Since)
	}
	return string(jsontext.Append(nil, jsontext.Make(
		"macos", objc.MacOS().String(),
		"architecture", d.Metal.ArchitectureName(),
		"findings", found,
		"constants", constants,
	))), nil
}
