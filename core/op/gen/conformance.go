package main

import (
	"encoding/json"

	"github.com/paddle-mps/paddle-mps/core/op"
	"github.com/paddle-mps/paddle-mps/core/op/describe"
)

// The conformance suite is written in Python and knows the operators from this file alone.

// caseRow is a row without what only the library needs. What every row has is never left out, so that the
// suite need not know the defaults of Go.
type caseRow struct {
	ID        op.ID            `json:"id"`
	Name      string           `json:"name"`
	Kind      string           `json:"kind"`
	Counted   bool             `json:"counted,omitempty"`
	Many      bool             `json:"many,omitempty"`
	Formula   bool             `json:"formula,omitempty"`
	Inputs    []caseInput      `json:"inputs"`
	Attrs     []caseAttr       `json:"attrs"`
	DTypes    []string         `json:"dtypes"`
	Tolerance caseTolerance    `json:"tolerance"`
	Jumps     bool             `json:"jumps,omitempty"`
	Settings  []map[string]any `json:"settings,omitempty"`
	Elsewhere string           `json:"elsewhere,omitempty"`
	NumPy     string           `json:"numpy"`
	Scale     string           `json:"scale,omitempty"`

	// The dtypes for which a device has no kernel, by device. With the CPU as a second way forbidden, the suite wants an
	// error for them, so that a row that still lists a kernel that has been written since fails.
	Gradient bool                `json:"gradient,omitempty"` // whether the row has a rule
	Lacks    map[string][]string `json:"lacks,omitempty"`
}

// caseInput has the number that stands for the input in every case, or null.
type caseInput struct {
	Name     string `json:"name"`
	Variadic bool   `json:"variadic,omitempty"`
	Optional bool   `json:"optional,omitempty"`
	Scalar   bool   `json:"scalar,omitempty"`
	Domain   string `json:"domain"`
	Fixed    any    `json:"fixed"`
}

// caseTolerance is describe.Tolerance under the names of dtypes.
type caseTolerance struct {
	Float32     float64       `json:"float32"`
	Float64     float64       `json:"float64"`
	Half        float64       `json:"half"`
	Metal       float64       `json:"metal"`
	Roundings   caseRoundings `json:"roundings"`
	Float64Also string        `json:"float64_also,omitempty"`
}

// caseRoundings is describe.Roundings, field by field: one converts to the other.
type caseRoundings struct {
	Once  float64 `json:"once"`
	Level float64 `json:"level"`
	Term  float64 `json:"term"`
	Metal float64 `json:"metal"`
}

// caseAttr has the attribute's default as it stands in JSON.
type caseAttr struct {
	Name    string `json:"name"`
	Type    string `json:"type"`
	Needed  bool   `json:"needed,omitempty"`
	Default any    `json:"default"`
}

// cases is the table as JSON, one operator a line, so that a change shows as that line.
func cases(rows []op.Row) string {
	text := "[\n"
	for i := range rows {
		line, err := json.Marshal(caseOf(&rows[i]))
		if err != nil {
			panic(err) // structs of strings and numbers always marshal
		}
		text += string(line)
		if i < len(rows)-1 {
			text += ","
		}
		text += "\n"
	}
	return text + "]\n"
}

// caseOf keeps empty lists as such: null would have the suite ask before each loop.
func caseOf(row *op.Row) caseRow {
	c := caseRow{
		ID: row.ID, Name: row.Name, Kind: row.Kind.String(), Counted: row.Counted, Many: row.Many(), Formula: row.Calls != nil, Jumps: row.Jumps, NumPy: described[row.Name].NumPy, Scale: described[row.Name].Scale,
		Inputs: []caseInput{}, Attrs: []caseAttr{}, Elsewhere: described[row.Name].Elsewhere,
		Tolerance: toleranceOf(describe.ToleranceOf(row)),
	}
	for _, s := range described[row.Name].Settings {
		c.Settings = append(c.Settings, s.Map())
	}
	for _, d := range row.Accepts.Members() {
		c.DTypes = append(c.DTypes, d.String())
	}
	c.Gradient = row.Grad.Rule != nil
	for _, lack := range row.Lacks {
		if c.Lacks == nil {
			c.Lacks = map[string][]string{}
		}
		for _, d := range (lack.DTypes & row.Accepts).Members() {
			c.Lacks[lack.Device] = append(c.Lacks[lack.Device], d.String())
		}
	}
	for _, in := range row.In {
		c.Inputs = append(c.Inputs, caseInput{in.Name, in.Variadic, in.Optional, in.Scalar, in.Domain.String(), plain(&in.Fixed)})
	}
	for _, a := range row.Attrs {
		c.Attrs = append(c.Attrs, caseAttr{a.Name, a.Type.String(), a.Needed, plain(&a.Default)})
	}
	return c
}

// toleranceOf gives the parts of a tolerance their names in the suite.
func toleranceOf(t *describe.Tolerance) caseTolerance {
	return caseTolerance{t.Float32, t.Float64, t.Half, t.Metal, caseRoundings(t.Roundings), t.Float64Also}
}

// plain is a value as JSON has it; a dtype is its number.
// Defaults and fixed operands are of these kinds; the suite has no use for others so far.
func plain(v *op.Value) any {
	switch v.Kind {
	case op.None:
		return nil
	case op.Bool:
		return v.I != 0
	case op.Float:
		return v.F
	case op.Ints:
		return v.Ints
	case op.String:
		return v.Str()
	}
	return v.I
}
