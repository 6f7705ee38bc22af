package build

import (
	"github.com/paddle-mps/paddle-mps/core/jsontext"
	"github.com/paddle-mps/paddle-mps/onnx/file"
)

// What a file says about its model to people and to programs that prepare inputs, as JSON. Nothing of it has an effect on
// the graph. Some models keep what goes with them here, such as the characters that a model for text can read.

// The JSON is a part of the C interface: fields may be added, and none changes its meaning.

// Describe is what the file says of its producer, its version and its inputs and outputs, with the pairs of text that the
// exporter has added. Bytes that are no UTF-8 become U+FFFD. replaceable are the initializers that are inputs as well:
// callers of other programs may replace them, and those of this package cannot. Files before version 4 of the format list
// all initializers so.
func (m *Model) Describe() []byte {
	f := m.file
	metadata := map[string]string{}
	for _, e := range f.Metadata {
		metadata[e.Key] = e.Value
	}
	replaceable := []any{}
	if f.IR >= 4 {
		replaceable = portsJSON(m.replaceable)
	}
	return jsontext.Append(nil, jsontext.Make(
		"producer_name", f.Producer,
		"producer_version", f.ProducerVersion,
		"domain", f.Domain,
		"model_version", f.Version,
		"description", f.Doc,
		"graph_name", f.Graph.Name,
		"graph_description", f.Graph.Doc,
		"metadata", jsontext.Sorted(metadata),
		"opsets", jsontext.Sorted(f.Opsets),
		"inputs", portsJSON(m.inputs),
		"outputs", portsJSON(f.Graph.Outputs),
		"replaceable", replaceable,
	))
}

// portsJSON describes ports. A dimension is a size, the name of one that is not known, or null; a shape that the file does not give is
// null.
func portsJSON(ports []*file.Port) []any {
	made := make([]any, len(ports))
	for i, p := range ports {
		object := jsontext.Make("name", p.Name, "elem", p.Elem.String()).With("sequence", p.Sequence).With("optional", p.Optional)
		var shape any
		if p.Ranked {
			dims := make([]any, len(p.Dims))
			for j, d := range p.Dims {
				switch {
				case d.Size >= 0:
					dims[j] = d.Size
				case d.Name != "":
					dims[j] = d.Name
				}
			}
			shape = dims
		}
		made[i] = object.And("shape", shape)
	}
	return made
}
