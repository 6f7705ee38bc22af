package main

import (
	"encoding/json"

	"github.com/paddle-mps/paddle-mps/core/op"
)

// The conformance suite is written in Python and knows the operators from this file alone.

type caseRow struct {
	ID     op.ID       `json:"id"`
	Name   string      `json:"name"`
	Kind   string      `json:"kind"`
	Inputs []caseInput `json:"inputs"`
	Attrs  []caseAttr  `json:"attrs"`
	DTypes []string    `json:"dtypes"`
	ULP    op.ULP      `json:"ulp"`
	NumPy  string      `json:"numpy"`
}

type caseInput struct {
	Name     string `json:"name"`
	Variadic bool   `json:"variadic,omitempty"`
	Optional bool   `json:"optional,omitempty"`
	Scalar   bool   `json:"scalar,omitempty"`
}

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

func caseOf(row *op.Row) caseRow {
	c := caseRow{
		ID: row.ID, Name: row.Name, Kind: row.Kind.String(), ULP: row.ULP, NumPy: row.NumPy,
		Inputs: []caseInput{}, Attrs: []caseAttr{},
	}
	for _, d := range row.Accepts.Members() {
		c.DTypes = append(c.DTypes, d.String())
	}
	for _, in := range row.In {
		c.Inputs = append(c.Inputs, caseInput(in))
	}
	for _, a := range row.Attrs {
		c.Attrs = append(c.Attrs, caseAttr{a.Name, a.Type.String(), a.Needed, plain(&a.Default)})
	}
	return c
}

// plain is a value as JSON has it; a dtype is its number.
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
	}
	return v.I
}
