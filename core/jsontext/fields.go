package jsontext

import "fmt"

// Fields are where members of an object are read to, by name: a *bool, a *string, an *int, a *[]string or an *[]int. A nil takes any value
// and reads none.
type Fields map[string]any

// Read reads the members of an object. A null leaves the variable as it is. A member that is not in the list is an error.
func (f Fields) Read(object Value) error {
	members, err := object.Members()
	for i := 0; i < len(members) && err == nil; i++ {
		name, value := members[i].Name, members[i].Value
		to, known := f[name]
		switch {
		case !known:
			err = fmt.Errorf("unknown field %q", name)
		case value.Kind() != Null:
			if err = value.to(to); err != nil {
				err = fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return err
}

// to reads a value to a variable.
func (v Value) to(variable any) (err error) {
	switch to := variable.(type) {
	case *bool:
		*to, err = v.Bool()
	case *string:
		*to, err = v.String()
	case *int:
		var n int64
		n, err = v.Int()
		*to = int(n)
	case *[]string:
		err = v.Each(func(element Value) error {
			*to = append(*to, "")
			return element.to(&(*to)[len(*to)-1])
		})
	case *[]int:
		err = v.Each(func(element Value) error {
			*to = append(*to, 0)
			return element.to(&(*to)[len(*to)-1])
		})
	}
	return err
}
