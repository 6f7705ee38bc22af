// Package jsontext reads JSON in place: the text is checked once as a whole, and values are then read directly from it. A request
// therefore needs no memory besides its text, however many elements it has. [Append] writes JSON.
//
// It accepts what Triton Inference Server accepts: RFC 8259 and, as numbers, NaN, Inf and Infinity. Error messages
// are those of tritonserver's parser (RapidJSON), which clients may rely on. The invariant: methods of a [Value]
// rely on the check and never fail because of malformed text, only because of a wrong type.
//
// # How it is used
//
//	root, err := jsontext.Parse(body)       // checks all of it, and takes no memory
//	members, err := root.Members()          // the spans of names and values
//	inputs, ok := jsontext.Find(members, "inputs")
//	cursor, err := inputs.Array()
//	for input, ok := cursor.Next(); ok; input, ok = cursor.Next() { // each is a span as well
//		...
//	}
//
// A value is a span of the text. Reading its members skips over theirs, so text at depth n is scanned n times.
// Requests have their elements at depth 4 or 5, and skipping is cheap compared with converting numbers.
//
// encoding/json is not suitable for requests: it refuses NaN and Infinity, allocates a value for each element, and its messages
// differ from those that clients of tritonserver know. With what it needs of reflect, sort and time it also takes 300 KB of the library,
// where the other texts are short.
package jsontext

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
)

// Deepest is how many arrays and objects may be within each other.
const Deepest = 100

// ErrDeep is the error of text that is nested deeper than that.
var ErrDeep = fmt.Errorf("JSON nesting depth exceeds maximum allowed limit (%d)", Deepest) //nolint:staticcheck // Triton's text

// MostMembers is how many members the objects of a text may have together: six bytes of text are one, which takes 40 bytes when
// it is looked at.
const MostMembers = 1 << 16

// ErrMany is the error of text with more members than that.
var ErrMany = fmt.Errorf("JSON has more than %d members", MostMembers)

// Kind is the type of a value.
type Kind uint8

// The kinds of values.
const (
	Null Kind = iota
	Bool
	Number
	String
	Array
	Object
)

// Value is a value within checked text.
type Value struct{ text []byte }

// Member is a member of an object.
type Member struct {
	Name  string
	Value Value
}

// Parse checks the text of a request, which must stay as it is while its values are used. The error is ErrDeep, ErrMany or says what is
// wrong where.
func Parse(text []byte) (Value, error) {
	v, err := Read(text)
	if wrong := (*Error)(nil); errors.As(err, &wrong) {
		return v, errors.New("failed to parse the request JSON buffer: " + wrong.Error()) // Triton's message
	}
	return v, err
}

// Error is the error of a text that is not JSON.
type Error struct {
	What string
	At   int // the byte
}

func (e *Error) Error() string { return e.What + " at " + strconv.Itoa(e.At) }

// Read is Parse for other texts than requests: it returns what is wrong as an *Error.
func Read(text []byte) (Value, error) {
	// The scanner checks everything once; what reads values later can then skip over text without looking at it closely.
	// RapidJSON ends at a byte 0, wherever it stands: what is behind it is no part of the document. It passes over a byte
	// order mark, which RFC 8259 allows, and counts it in the places of errors.
	if end := bytes.IndexByte(text, 0); end >= 0 {
		text = text[:end]
	}
	s := scanner{text: text}
	s.word("\xEF\xBB\xBF")
	s.blanks()
	if s.at == len(text) {
		return Value{}, s.wrong("The document is empty.")
	}
	start := s.at
	if err := s.value(0); err != nil {
		return Value{}, err
	}
	end := s.at
	if s.blanks(); s.at != len(text) {
		return Value{}, s.wrong("The document root must not be followed by other values.")
	}
	return Value{text[start:end]}, nil
}

// scanner checks text.
type scanner struct {
	text    []byte
	at      int
	members int // of objects, so far
}

// wrong is an error at the current place.
func (s *scanner) wrong(what string) error { return &Error{what, s.at} }

// next is the current byte, 0 at the end. A byte 0 is no part of JSON, so that the two need not be told apart.
func (s *scanner) next() byte {
	if s.at < len(s.text) {
		return s.text[s.at]
	}
	return 0
}

// blanks skips white space.
func (s *scanner) blanks() {
	for s.at < len(s.text) {
		switch s.text[s.at] {
		case ' ', '\t', '\n', '\r':
			s.at++
		default:
			return
		}
	}
}

// value checks a value that begins here.
func (s *scanner) value(depth int) error {
	// A number does not begin with zeros: 01 is a 0 that something else follows, which the caller reports.
	switch c := s.next(); {
	case c == '{' || c == '[':
		// The limit is on the depth of calls here: each level is one of value, and one of array or object.
		if depth++; depth > Deepest {
			return ErrDeep
		}
		if c == '{' {
			return s.object(depth)
		}
		return s.array(depth)
	case c == '"':
		return s.string()
	case c == '-' || c >= '0' && c <= '9' || c == 'N' || c == 'I':
		return s.number()
	}
	// These are the only words that are values. The place of an error is behind what is right of a word.
	for _, word := range [...]string{"true", "false", "null"} {
		if s.next() != word[0] {
			continue
		}
		for i := range len(word) {
			if s.next() != word[i] {
				return s.wrong("Invalid value.")
			}
			s.at++
		}
		return nil
	}
	return s.wrong("Invalid value.")
}

// word skips a word if it stands here.
func (s *scanner) word(word string) bool {
	if len(s.text)-s.at < len(word) || string(s.text[s.at:s.at+len(word)]) != word {
		return false
	}
	s.at += len(word)
	return true
}

// object checks an object.
func (s *scanner) object(depth int) error {
	s.at++
	if s.blanks(); s.next() == '}' {
		s.at++
		return nil
	}
	// Each turn is one member: its name, a colon, its value, and a comma or the end.
	for {
		if s.next() != '"' {
			return s.wrong("Missing a name for object member.")
		}
		if s.members++; s.members > MostMembers {
			return ErrMany
		}
		if err := s.string(); err != nil {
			return err
		}
		if s.blanks(); s.next() != ':' {
			return s.wrong("Missing a colon after a name of object member.")
		}
		s.at++
		s.blanks()
		if err := s.value(depth); err != nil {
			return err
		}
		s.blanks()
		switch s.next() {
		case ',':
			s.at++
			s.blanks()
		case '}':
			s.at++
			return nil
		default:
			return s.wrong("Missing a comma or '}' after an object member.")
		}
	}
}

// array checks an array.
func (s *scanner) array(depth int) error {
	s.at++
	if s.blanks(); s.next() == ']' {
		s.at++
		return nil
	}
	for {
		if err := s.value(depth); err != nil {
			return err
		}
		s.blanks()
		switch s.next() {
		case ',':
			s.at++
			s.blanks()
		case ']':
			s.at++
			return nil
		default:
			return s.wrong("Missing a comma or ']' after an array element.")
		}
	}
}

// string checks a text in quotes. Bytes that are no UTF-8 pass, as in Triton.
func (s *scanner) string() error {
	// Most bytes of a text are plain: the loop looks at one of them at a time and calls nothing.
	// Where it has no end, the error is at the end of the document.
	for s.at++; s.at < len(s.text); s.at++ {
		switch c := s.text[s.at]; {
		case c == '"':
			s.at++
			return nil
		case c < 0x20:
			return s.wrong("Invalid escape character in string.")
		case c == '\\':
			if err := s.escape(); err != nil {
				return err
			}
		}
	}
	return s.wrong("Missing a closing quotation mark in string.")
}

// escape checks what follows a backslash, and leaves its last byte as the current one.
func (s *scanner) escape() error {
	// RapidJSON names the place of the backslash, whatever is wrong behind it.
	start := s.at
	s.at++
	switch s.next() {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return nil
	case 'u':
		// Four digits have to follow, whatever they are.
		code, ok := hex4(s.text[s.at+1:])
		if !ok {
			s.at--
			return s.wrong("Incorrect hex digit after \\u escape in string.")
		}
		s.at += 4
		// Outside the surrogates a code is a character by itself.
		if code < 0xD800 || code > 0xDFFF {
			return nil
		}
		// A high surrogate needs a low one right behind it. A low one by itself is wrong.
		rest := s.text[s.at+1:]
		if code < 0xDC00 && len(rest) >= 6 && rest[0] == '\\' && rest[1] == 'u' {
			if low, ok := hex4(rest[2:]); ok && low >= 0xDC00 && low <= 0xDFFF {
				s.at += 6
				return nil
			}
		}
		s.at = start
		return s.wrong("The surrogate pair in string is invalid.")
	}
	s.at--
	return s.wrong("Invalid escape character in string.")
}

// hex4 reads four digits.
func hex4(text []byte) (code rune, ok bool) {
	if len(text) < 4 {
		return 0, false
	}
	for _, c := range text[:4] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		code = code<<4 | rune(c)
	}
	return code, true
}

// number checks a number.
func (s *scanner) number() error {
	start := s.at
	if s.next() == '-' {
		s.at++
	}
	// Triton's parser takes these words as numbers, also behind a minus.
	if s.word("NaN") || s.word("Infinity") || s.word("Inf") {
		return nil
	}
	switch c := s.next(); {
	case c == '0':
		s.at++
	case c >= '1' && c <= '9':
		s.digits()
	default:
		return s.wrong("Invalid value.")
	}
	if s.next() == '.' {
		// A point needs a digit behind it.
		if s.at++; s.digits() == 0 {
			return s.wrong("Miss fraction part in number.")
		}
	}
	if c := s.next(); c == 'e' || c == 'E' {
		s.at++
		if c := s.next(); c == '+' || c == '-' {
			s.at++
		}
		if s.digits() == 0 {
			return s.wrong("Miss exponent in number.")
		}
	} else if s.at-start < longest {
		return nil // no number without an exponent is too large that has so few digits
	}
	// RapidJSON refuses a number that would be infinite, though it takes the word. What is too small becomes 0 there too: an
	// error of ParseFloat that is not about size cannot come, because the form was checked.
	if x, _ := strconv.ParseFloat(string(s.text[start:s.at]), 64); math.IsInf(x, 0) {
		s.at = start
		return s.wrong("Number too big to be stored in double.")
	}
	return nil
}

// longest is the number of digits of the largest float64.
const longest = 309

// digits skips digits and returns how many there are.
func (s *scanner) digits() (n int) {
	for c := s.next(); c >= '0' && c <= '9'; c = s.next() {
		s.at++
		n++
	}
	return n
}
