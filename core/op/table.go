package op

import (
	"slices"

	"github.com/paddle-mps/paddle-mps/core/dtype"
	"github.com/paddle-mps/paddle-mps/core/status"
)

//go:generate go run ./gen

// Table is every operator in ascending order of ID.
var Table = slices.Concat(binaryRows, bitwiseRows, compareRows, unaryRows, activationRows, selectRows,
	reduceRows, viewRows, assembleRows, indexRows, createRows)

var (
	byID   [256]*Row
	byName = map[string]*Row{}
)

func init() {
	slices.SortFunc(Table, func(a, b Row) int { return int(a.ID) - int(b.ID) })
	for i := range Table {
		row := &Table[i]
		if row.Kind == View {
			row.Types, row.Shape = same, likeInput
		}
		row.precompute()
		byID[row.ID], byName[row.Name] = row, row
	}
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
func (row *Row) AttrIndex(name string) int {
	return slices.IndexFunc(row.Attrs, func(a Attr) bool { return a.Name == name })
}

// Fill completes attributes whose absent entries are Kind None: defaults are filled in, types
// checked (an int serves as float, one int as ints), and what is needed but missing refused.
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

// accept converts v to the declared type where nothing is lost.
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
	}
	return false
}

// String names the kind in messages.
func (k ValueKind) String() string {
	return [...]string{"none", "a bool", "an int", "a float", "a list of ints", "a dtype"}[k]
}

// String names the type in messages and signatures.
func (t AttrType) String() string {
	return [...]string{"", "bool", "int", "float", "list of int", "dtype", "bool, int or float"}[t]
}
