package op

import (
	"slices"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/status"
)

//go:generate go run ./gen

// Table is every operator in ascending order of ID. Package core/op/table fills it before any package that imports it.
var Table []Row

var (
	// Two indices of the table, which stays as it is after init: they need no lock.
	byID   []*Row // as long as the largest number wants
	byName = map[string]*Row{}
)

// Define makes rows the table. It is called once, while packages are initialized.
func Define(rows []Row) {
	Table = inOrder(rows)
	byID = index(Table)
	for i := range Table {
		row := &Table[i]
		row.complete()
		row.precompute()
		byName[row.Name] = row
	}
}

// complete gives a row what it leaves out: a wrapper that is a function of paddle. Rows share it by address: copies would be made by
// instructions, row by row.
func (row *Row) complete() {
	if row.Python == nil {
		row.Python = &Python{}
	}
}

// inOrder puts rows in ascending order of ID. A sort of the standard library would be compiled for rows alone, which
// are large: 18 KB.
func inOrder(rows []Row) []Row {
	var last ID
	for i := range rows {
		last = max(last, rows[i].ID)
	}
	places := make([]*Row, int(last)+1)
	for i := range rows {
		if places[rows[i].ID] != nil {
			panic("op: " + rows[i].Name + " and " + places[rows[i].ID].Name + " have one ID")
		}
		places[rows[i].ID] = &rows[i]
	}
	sorted := make([]Row, 0, len(rows))
	for _, row := range places {
		if row != nil {
			sorted = append(sorted, *row)
		}
	}
	return sorted
}

// index finds the rows of a table, which is in ascending order, by their numbers.
// A lookup is part of every call, and numbers are dense enough for a list.
func index(table []Row) []*Row {
	if len(table) == 0 {
		return nil
	}
	rows := make([]*Row, int(table[len(table)-1].ID)+1)
	for i := range table {
		rows[table[i].ID] = &table[i]
	}
	return rows
}

// ByID finds a row by its number; nil where there is none.
func ByID(id ID) *Row {
	if int(id) >= len(byID) {
		return nil
	}
	return byID[id]
}

// ByName finds a row by its name; status.NotFound where there is none.
func ByName(name string) (*Row, error) {
	if row := byName[name]; row != nil {
		return row, nil
	}
	return nil, status.Errorf(status.NotFound, "[op] no operator is named %q", name)
}

// MustByName is ByName for names that stand in the source; it panics on a misspelt one.
func MustByName(name string) *Row {
	row, err := ByName(name)
	if err != nil {
		panic(err)
	}
	return row
}

// AttrIndex finds an attribute by its name, -1 where there is none.
// It is for callers that got the name from outside, and for rules that several rows share.
func (row *Row) AttrIndex(name string) int {
	return slices.IndexFunc(row.Attrs, func(a Attr) bool { return a.Name == name })
}

// Fill completes attributes whose absent entries are Kind None: defaults are filled in, types
// checked (an int serves as float, one element as a list of it), and what is needed but missing refused.
//
// It changes at, and copies nothing: lists stay those of the caller, who must not change them as long as a program may
// keep them.
func (row *Row) Fill(at Attrs) error {
	for i := range row.Attrs {
		decl, v := &row.Attrs[i], &at[i]
		if !v.Set() {
			if decl.Needed {
				return status.Errorf(status.Invalid, "[%s] attribute %s is missing", row.Name, decl.Name)
			}
			*v = decl.Default
			continue
		}
		if !decl.accept(v) {
			return status.Errorf(status.Type, "[%s] attribute %s is %s; want %s", row.Name, decl.Name, v.Kind, decl.Type)
		}
	}
	return nil
}

// Arity checks operands against the row's declaration.
//
// What is wrong with the kind of an operand is said here, by its name, so that no rule has to look for scalars that it
// cannot take or operands that are missing.
func (row *Row) Arity(in []Arg) error {
	last := len(row.In) - 1
	variadic := last >= 0 && row.In[last].Variadic
	if len(in) < len(row.In) || len(in) > len(row.In) && !variadic {
		return status.Errorf(status.Invalid, "[%s] got %d operands; want %d", row.Name, len(in), len(row.In))
	}
	for i := range in {
		decl := &row.In[min(i, last)]
		switch {
		case in[i].Absent && !decl.Optional:
			return status.Errorf(status.Invalid, "[%s] operand %s is missing", row.Name, decl.Name)
		case in[i].Scalar && !in[i].Absent && !decl.Scalar:
			return status.Errorf(status.Invalid, "[%s] operand %s is a scalar; want a tensor", row.Name, decl.Name)
		case in[i].Form != decl.Form && !in[i].Absent:
			return status.Errorf(status.Invalid, "[%s] operand %s is %s; want %s", row.Name, decl.Name, in[i].Form, decl.Form)
		}
	}
	return nil
}

// accept converts v to the declared type where nothing is lost.
//
// What is accepted follows Python: a bool is an int, an int is a float, and one element is a list of it. The other way
// round something could be lost, so that a caller has to say it.
func (a *Attr) accept(v *Value) bool {
	switch a.Type {
	case BoolAttr:
		return v.Kind == Bool || v.Kind == Int && (v.I == 0 || v.I == 1)
	case IntAttr:
		return v.Kind == Int || v.Kind == Bool
	case FloatAttr:
		if v.Kind == Int || v.Kind == Bool {
			v.Kind, v.F = Float, float64(v.I)
		}
		return v.Kind == Float
	case IntsAttr:
		if v.Kind == Int {
			v.Kind, v.Ints = Ints, []int64{v.I}
		}
		return v.Kind == Ints
	case DTypeAttr:
		return (v.Kind == DType || v.Kind == Int) && v.I > 0 && dtype.DType(v.I).Valid() && v.I <= int64(dtype.Last)
	case ScalarAttr:
		return v.Kind == Bool || v.Kind == Int || v.Kind == Float
	case FloatsAttr:
		return a.acceptFloats(v)
	case StringAttr:
		return v.Kind == String
	case StringsAttr:
		if v.Kind == String {
			v.Kind, v.Ref = Strings, []string{v.Str()}
		}
		return v.Kind == Strings
	case TensorAttr:
		return v.Kind == Tensor
	case GraphAttr:
		return v.Kind == Graph
	}
	return false
}

// acceptFloats makes a list of one number, and of ints.
func (a *Attr) acceptFloats(v *Value) bool {
	switch v.Kind {
	case Bool, Int, Float:
		v.Kind, v.Ref = Floats, []float64{v.Float64()}
	case Ints:
		list := make([]float64, len(v.Ints))
		for i, n := range v.Ints {
			list[i] = float64(n)
		}
		v.Kind, v.Ref, v.Ints = Floats, list, nil
	}
	return v.Kind == Floats
}

// String names the kind in messages.
func (k ValueKind) String() string {
	return [...]string{"none", "a bool", "an int", "a float", "a list of ints", "a dtype", "a string", "a list of floats", "a list of strings", "a tensor", "a graph"}[k]
}

// String names the type in messages and signatures.
func (t AttrType) String() string {
	return [...]string{"", "bool", "int", "float", "list of int", "dtype", "bool, int or float", "string", "list of float", "list of string", "tensor", "graph"}[t]
}
