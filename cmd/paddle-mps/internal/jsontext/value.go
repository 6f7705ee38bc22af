package jsontext

import (
	"errors"
	"iter"
	"math"
	"strconv"
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
func (v Value) Members() (all []Member, err error) {
	if v.Kind() != Object {
		return nil, errObject
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
		// Names may have escapes, which are resolved so that they can be compared.
		text, _ := name.String() // it is one: the text was checked
		all = append(all, Member{text, s.skip()})
	}
	return all, nil
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

// Elements are those of an array in their order; none for other values.
func (v Value) Elements() iter.Seq[Value] {
	return func(yield func(Value) bool) {
		if v.Kind() != Array {
			return
		}
		s := scanner{text: v.text, at: 1}
		for s.blanks(); s.next() != ']'; s.blanks() {
			if s.next() == ',' {
				s.at++
				s.blanks()
			}
			if !yield(s.skip()) {
				return
			}
		}
	}
}

// Array is Elements, or an error for other values.
func (v Value) Array() (iter.Seq[Value], error) {
	if v.Kind() != Array {
		return nil, errArray
	}
	return v.Elements(), nil
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
	b, err := v.Append(nil)
	return string(b), err
}

// Append appends the text of a string.
func (v Value) Append(to []byte) ([]byte, error) {
	if v.Kind() != String {
		return to, errString
	}
	// The quotes were checked.
	text := v.text[1 : len(v.text)-1]
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
	// Without escapes the length is that of the text between the quotes.
	n = len(v.text) - 2
	for i := 1; i < len(v.text)-1; i++ {
		if v.text[i] == '\\' { // the length of what is escaped is counted by making it: that is rare
			b, err := v.Append(nil)
			return len(b), err
		}
	}
	return n, nil
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
	n, err := strconv.ParseUint(string(v.text), 10, 64)
	if v.Kind() != Number || err != nil {
		return 0, errUint
	}
	return n, nil
}

// Float is the value of a number, the nearest one that a float64 holds. One that is too large is infinite.
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
	}
	// A number that is out of range is infinite with an error, which is dropped: RapidJSON would refuse it.
	x, err := strconv.ParseFloat(string(v.text), 64)
	if err != nil && !math.IsInf(x, 0) {
		return 0, errFloat
	}
	return x, nil
}
