package build

import (
	"encoding/json"

	"github.com/paddle-mps/paddle-mps/onnx/file"
)

// What a file says about its model to people and to programs that prepare inputs, as JSON. Nothing of it has an effect on
// the graph. Some models keep what goes with them here, such as the characters that a model for text can read.

// description is the JSON. It is a part of the C interface: fields may be added, and none changes its meaning.
type description struct {
	Producer         string            `json:"producer_name"`
	ProducerVersion  string            `json:"producer_version"`
	Domain           string            `json:"domain"`
	Version          int64             `json:"model_version"`
	Description      string            `json:"description"`
	Graph            string            `json:"graph_name"`
	GraphDescription string            `json:"graph_description"`
	Metadata         map[string]string `json:"metadata"`
	Opsets           map[string]int64  `json:"opsets"`
	Inputs           []portJSON        `json:"inputs"`
	Outputs          []portJSON        `json:"outputs"`
	Replaceable      []portJSON        `json:"replaceable"`
}

// portJSON is an input or an output. A dimension is a size, the name of one that is not known, or null.
type portJSON struct {
	Name     string `json:"name"`
	Elem     string `json:"elem"`
	Sequence bool   `json:"sequence,omitempty"`
	Optional bool   `json:"optional,omitempty"`
	Shape    []any  `json:"shape"` // nil: the file does not say it
}

// Describe is what the file says of its producer, its version and its inputs and outputs, with the pairs of text that the
// exporter has added. Bytes that are no UTF-8 become U+FFFD. replaceable are the initializers that are inputs as well:
// callers of other programs may replace them, and those of this package cannot. Files before version 4 of the format list
// all initializers so.
func (m *Model) Describe() ([]byte, error) {
	f := m.file
	d := description{
		Producer: f.Producer, ProducerVersion: f.ProducerVersion, Domain: f.Domain, Version: f.Version, Description: f.Doc,
		Graph: f.Graph.Name, GraphDescription: f.Graph.Doc, Metadata: map[string]string{}, Opsets: f.Opsets,
		Inputs: portsJSON(m.inputs), Outputs: portsJSON(f.Graph.Outputs), Replaceable: []portJSON{},
	}
	for _, e := range f.Metadata {
		d.Metadata[e.Key] = e.Value
	}
	if f.IR >= 4 {
		d.Replaceable = portsJSON(m.replaceable)
	}
	return json.Marshal(&d)
}

// portsJSON describes ports; the list is never nil, which JSON would have as null.
func portsJSON(ports []*file.Port) []portJSON {
	made := make([]portJSON, len(ports))
	for i, p := range ports {
		made[i] = portJSON{Name: p.Name, Elem: p.Elem.String(), Sequence: p.Sequence, Optional: p.Optional}
		if !p.Ranked {
			continue
		}
		made[i].Shape = make([]any, len(p.Dims))
		for j, d := range p.Dims {
			switch {
			case d.Size >= 0:
				made[i].Shape[j] = d.Size
			case d.Name != "":
				made[i].Shape[j] = d.Name
			}
		}
	}
	return made
}
