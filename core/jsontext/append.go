package jsontext

import (
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"
)

// Pairs is an object that is written: its members, in their order.
type Pairs []pair

type pair struct {
	name  string
	value any
}

// Make is an object of names and values by turns.
func Make(members ...any) Pairs {
	made := make(Pairs, 0, len(members)/2+2)
	for i := 0; i < len(members); i += 2 {
		made = append(made, pair{members[i].(string), members[i+1]})
	}
	return made
}

// And is the object with one member more.
func (p Pairs) And(name string, value any) Pairs { return append(p, pair{name, value}) }

// Known is And, unless the value is nil.
func (p Pairs) Known(name string, value any) Pairs {
	if value == nil {
		return p
	}
	return p.And(name, value)
}

// With is And, unless the value is false, "", 0 or an empty list.
func (p Pairs) With(name string, value any) Pairs {
	switch v := value.(type) {
	case bool:
		if !v {
			return p
		}
	case string:
		if v == "" {
			return p
		}
	case uint64:
		if v == 0 {
			return p
		}
	case []any:
		if len(v) == 0 {
			return p
		}
	}
	return append(p, pair{name, value})
}

// List is a list of values that Append writes.
func List[T any](list []T) []any {
	made := make([]any, len(list))
	for i := range list {
		made[i] = list[i]
	}
	return made
}

// Sorted is a map as an object, by name.
func Sorted[T any](m map[string]T) Pairs {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	made := make(Pairs, len(names))
	for i, name := range names {
		made[i] = pair{name, m[name]}
	}
	return made
}

// Append appends a value as encoding/json writes it: nil, a bool, a string, a whole number, a [Value], whose text stays but for
// blanks, a list or an object. Another type is a mistake of the program.
func Append(to []byte, value any) []byte {
	switch v := value.(type) {
	case nil:
		return append(to, "null"...)
	case bool:
		return strconv.AppendBool(to, v)
	case string:
		return AppendString(to, v)
	case int:
		return strconv.AppendInt(to, int64(v), 10)
	case int64:
		return strconv.AppendInt(to, v, 10)
	case uint64:
		return strconv.AppendUint(to, v, 10)
	case uintptr:
		return strconv.AppendUint(to, uint64(v), 10)
	case Value:
		return v.appendCompact(to)
	case []any:
		to = append(to, '[')
		for i := range v {
			to = Append(separated(to, i), v[i])
		}
		return append(to, ']')
	case Pairs:
		to = append(to, '{')
		for i := range v {
			to = append(AppendString(separated(to, i), v[i].name), ':')
			to = Append(to, v[i].value)
		}
		return append(to, '}')
	}
	panic(fmt.Sprintf("jsontext: a value of type %T", value))
}

// appendCompact appends the text without the blanks outside of strings.
func (v Value) appendCompact(to []byte) []byte {
	s := scanner{text: v.text}
	for s.at < len(s.text) {
		start := s.at
		switch s.next() {
		case ' ', '\t', '\n', '\r':
			s.at++
			continue
		case '"':
			s.quoted()
		default:
			s.at++
		}
		to = append(to, s.text[start:s.at]...)
	}
	return to
}

// separated appends the comma in front of element i.
func separated(to []byte, i int) []byte {
	if i > 0 {
		to = append(to, ',')
	}
	return to
}

// AppendString appends a string in quotes. As encoding/json does, it replaces bytes that are no UTF-8 by U+FFFD, and escapes what a page
// of HTML or a program in JavaScript would take for its own.
func AppendString(to []byte, s string) []byte {
	const hex = "0123456789abcdef"
	to = append(to, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			to = append(to, '\\', byte(r))
		case r == '\n':
			to = append(to, `\n`...)
		case r == '\r':
			to = append(to, `\r`...)
		case r == '\t':
			to = append(to, `\t`...)
		case r == '\b':
			to = append(to, `\b`...)
		case r == '\f':
			to = append(to, `\f`...)
		case r < ' ' || r == '<' || r == '>' || r == '&' || r == '\u2028' || r == '\u2029' || r == utf8.RuneError:
			to = append(to, '\\', 'u', hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15])
		default:
			to = utf8.AppendRune(to, r)
		}
	}
	return append(to, '"')
}
