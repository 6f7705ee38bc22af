package jsontext

import (
	"bytes"
	"errors"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The errors of values of another type than the one that is asked for, as Triton words them.
var (
	errString = errors.New("attempt to access JSON non-string as string")
	errBool   = errors.New("attempt to access JSON non-boolean as boolean")
	errInt    = errors.New("attempt to access JSON non-signed-integer as signed-integer")
	errUint   = errors.New("attempt to access JSON non-unsigned-integer as unsigned-integer")
	errFloat  = errors.New("attempt to access JSON non-number as double")
	errArray  = errors.New("attempt to access JSON non-array as array")
	errObject = errors.New("attempt to get members for non-object")
)

// ErrMissing is the error of a member that is not there.
func ErrMissing(name string) error {
	return errors.New("attempt to access non-existing object member '" + name + "'")
}

// Kind is the type of the value; that of the zero Value is Null.
func (v Value) Kind() Kind {
	if len(v.text) == 0 {
		return Null
	}
	// A number begins with a digit, a minus, or the N or I of its words.
	switch v.text[0] {
	case '{':
		return Object
	case '[':
		return Array
	case '"':
		return String
	case 't', 'f':
		return Bool
	case 'n':
		return Null
	}
	return Number
}

// Text is the value as it stands in the text.
func (v Value) Text() []byte { return v.text }

// Members lists the members of an object in their order.
// The first member of a name counts where there are several: see Find.
func (v Value) Members() (all []Member, err error) { return v.AppendMembers(nil) }

// AppendMembers is Members behind a list, whose memory is used.
func (v Value) AppendMembers(all []Member) ([]Member, error) {
	if v.Kind() != Object {
		return all, errObject
	}
	s := scanner{text: v.text, at: 1}
	for s.blanks(); s.next() != '}'; s.blanks() {
		if s.next() == ',' {
			s.at++
			s.blanks()
		}
		name := s.skip()
		s.blanks()
		s.at++ // the colon
		s.blanks()
		all = append(all, Member{name.name(), s.skip()})
	}
	return all, nil
}

// known are the names of members of requests: a name that is here takes no memory.
var known = func() map[string]string {
	m := map[string]string{}
	for _, name := range strings.Fields("id parameters inputs outputs name datatype shape data binary_data_size binary_data_output binary_data classification priority timeout") {
		m[name] = name
	}
	return m
}()

// name is the text of the name of a member, in which escapes are resolved so that it can be compared.
func (v Value) name() string {
	if text, plain := v.plain(); plain {
		if name, ok := known[string(text)]; ok {
			return name
		}
	}
	text, _ := v.String() // it is one: the text was checked
	return text
}

// plain is the text of a string that has no escapes.
func (v Value) plain() (text []byte, plain bool) {
	text = v.text[1 : len(v.text)-1]
	return text, bytes.IndexByte(text, '\\') < 0
}

// OrNone is a list without its error: RapidJSON finds no member in a value that is no object.
func OrNone(all []Member, err error) []Member {
	if err != nil {
		return nil
	}
	return all
}

// Find is the member of a name among members, the first one where there are several.
func Find(all []Member, name string) (v Value, ok bool) {
	for i := range all {
		if all[i].Name == name {
			return all[i].Value, true
		}
	}
	return v, false
}

// Cursor goes through an array. The zero Cursor is at the end of one.
type Cursor struct{ scanner }

// Array is a cursor before the first element of an array, or an error for other values.
func (v Value) Array() (Cursor, error) {
	if v.Kind() != Array {
		return Cursor{}, errArray
	}
	return Cursor{scanner{text: v.text, at: 1}}, nil
}

// Next is the next element of the array; false at its end.
func (c *Cursor) Next() (v Value, ok bool) {
	for c.at < len(c.text) {
		switch c.text[c.at] {
		case ' ', '\t', '\n', '\r', ',':
			c.at++
		case ']':
			return v, false
		default:
			return c.skip(), true
		}
	}
	return v, false
}

// Each calls f with each element of an array until it fails.
func (v Value) Each(f func(Value) error) error {
	cursor, err := v.Array()
	for v, ok := cursor.Next(); ok && err == nil; v, ok = cursor.Next() {
		err = f(v)
	}
	return err
}

// Leaf is the next element that is no array, of the array or of one within it; false at the end. Text is passed over once,
// however deep arrays are nested.
func (c *Cursor) Leaf() (v Value, ok bool) {
	for c.at < len(c.text) {
		switch c.text[c.at] {
		case ' ', '\t', '\n', '\r', ',', '[', ']':
			c.at++
		default:
			return c.skip(), true
		}
	}
	return v, false
}

// skip moves behind the value that begins here, and returns it. The text was checked.
func (s *scanner) skip() Value {
	// Brackets are counted and texts are skipped; nothing else can hold a bracket.
	start, depth := s.at, 0
	for s.at < len(s.text) {
		switch s.text[s.at] {
		case '{', '[':
			depth++
			s.at++
		case '}', ']':
			if depth == 0 {
				return Value{s.text[start:s.at]}
			}
			s.at++
			if depth--; depth == 0 {
				return Value{s.text[start:s.at]}
			}
		case '"':
			s.quoted()
			if depth == 0 {
				return Value{s.text[start:s.at]}
			}
		case ',', ' ', '\t', '\n', '\r', ':':
			if depth == 0 {
				return Value{s.text[start:s.at]}
			}
			s.at++
		default:
			s.at++
		}
	}
	return Value{s.text[start:s.at]}
}

// quoted moves behind a text in quotes.
func (s *scanner) quoted() {
	for s.at++; s.at < len(s.text); s.at++ {
		switch s.text[s.at] {
		// What is behind a backslash is no end of the text, whatever it is.
		case '\\':
			s.at++
		case '"':
			s.at++
			return
		}
	}
}

// String is the text of a string.
func (v Value) String() (string, error) {
	if v.Kind() != String {
		return "", errString
	}
	if text, plain := v.plain(); plain {
		return string(text), nil
	}
	b, err := v.Append(nil)
	return string(b), err
}

// Append appends the text of a string.
func (v Value) Append(to []byte) ([]byte, error) {
	if v.Kind() != String {
		return to, errString
	}
	text, plain := v.plain()
	if plain {
		return append(to, text...), nil
	}
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			to = append(to, text[i])
			continue
		}
		i++
		if text[i] != 'u' {
			to = append(to, unescaped[text[i]])
			continue
		}
		code, _ := hex4(text[i+1:]) // checked
		i += 4
		// A pair is one character.
		if code >= 0xD800 && code < 0xDC00 {
			low, _ := hex4(text[i+3:])
			code = (code-0xD800)<<10 + (low - 0xDC00) + 0x10000
			i += 6
		}
		to = utf8.AppendRune(to, code)
	}
	return to, nil
}

// unescaped are the bytes that letters behind a backslash stand for.
var unescaped = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// Len is the number of bytes that Append appends.
func (v Value) Len() (n int, err error) {
	if v.Kind() != String {
		return 0, errString
	}
	if text, plain := v.plain(); plain {
		return len(text), nil
	}
	// The length of what is escaped is counted by making it: that is rare.
	b, err := v.Append(nil)
	return len(b), err
}

// Bool is the value of a boolean.
func (v Value) Bool() (bool, error) {
	if v.Kind() != Bool {
		return false, errBool
	}
	return v.text[0] == 't', nil
}

// Int is the value of a whole number that an int64 holds.
func (v Value) Int() (int64, error) {
	// A point or an exponent makes a number no whole one, also where its value is whole: that is RapidJSON's rule.
	n, err := strconv.ParseInt(string(v.text), 10, 64)
	if v.Kind() != Number || err != nil {
		return 0, errInt
	}
	return n, nil
}

// Uint is the value of a whole number that a uint64 holds.
func (v Value) Uint() (uint64, error) {
	text := v.text
	if string(text) == "-0" {
		text = text[1:] // RapidJSON reads it as 0
	}
	n, err := strconv.ParseUint(string(text), 10, 64)
	if v.Kind() != Number || err != nil {
		return 0, errUint
	}
	return n, nil
}

// Float is the value of a number, the nearest one that a float64 holds.
func (v Value) Float() (float64, error) {
	if v.Kind() != Number {
		return 0, errFloat
	}
	// ParseFloat takes such words in more spellings than JSON should.
	switch string(v.text) {
	case "NaN", "-NaN":
		return math.NaN(), nil
	case "Infinity", "Inf":
		return math.Inf(1), nil
	case "-Infinity", "-Inf":
		return math.Inf(-1), nil
	case "-0":
		return 0, nil // a whole number, which has no sign at 0; -0.0 has one
	}
	x, err := strconv.ParseFloat(string(v.text), 64)
	if err != nil {
		return 0, errFloat
	}
	return x, nil
}
