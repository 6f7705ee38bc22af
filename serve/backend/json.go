package backend

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/paddle-mps/paddle-mps/core/status"
)

// The decoder of encoding/json adds 80 KB more to a library whose size is limited, and would have to keep the parts of a
// configuration that it does not know. What is read here is what a server has written.

// It takes all that RFC 8259 allows, to a depth of 100, and some that it does not: a number is any run of characters up to the
// next delimiter, which the caller parses if it wants a number. Texts are decoded, and raw keeps what was read, so that a value can be
// written again as it was.

// value is a JSON value with the text that it was read from.
type value struct {
	raw    string   // all of it, without space around
	text   string   // of a string
	fields []string // names of members, in order
	items  []*value // values of members, or elements of an array
}

// absent is a member that is not there.
var absent = &value{}

// get is a member of an object, or absent.
func (v *value) get(name string) *value {
	for i := range v.fields {
		if v.fields[i] == name {
			return v.items[i]
		}
	}
	return absent
}

// number is a whole number, which may be written as a string: 0 where there is none.
func (v *value) number() (int64, error) {
	text := v.raw
	if v.text != "" {
		text = v.text
	}
	if text == "" || text == "null" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, status.Errorf(status.Invalid, "got %s; want a whole number", text)
	}
	return n, nil
}

// numbers are the elements of an array.
func (v *value) numbers() (list []int64, err error) {
	list = make([]int64, len(v.items))
	for i := range v.items {
		if list[i], err = v.items[i].number(); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// truth is whether the value is true.
func (v *value) truth() bool { return v.raw == "true" }

// deepest is how many values may lie within each other.
const deepest = 100

// reader reads a text from at on.
type reader struct {
	text string
	at   int
}

// readJSON reads one value.
func readJSON(text string) (*value, error) {
	r := &reader{text: text}
	v, ok := r.value(deepest)
	if r.space(); !ok || r.at < len(text) {
		return nil, status.Errorf(status.Invalid, "the JSON is damaged at byte %d of %d", r.at, len(text))
	}
	return v, nil
}

// space skips what has no meaning.
func (r *reader) space() {
	for r.at < len(r.text) && strings.IndexByte(" \t\r\n", r.text[r.at]) >= 0 {
		r.at++
	}
}

// next skips space and one byte, if it is c.
func (r *reader) next(c byte) bool {
	r.space()
	if r.at < len(r.text) && r.text[r.at] == c {
		r.at++
		return true
	}
	return false
}

// value reads a value; depth is how many more may lie within it.
func (r *reader) value(depth int) (v *value, ok bool) {
	v = &value{}
	r.space()
	start := r.at
	switch {
	case depth == 0:
		return v, false
	case r.next('{'):
		ok = r.members(v, depth)
	case r.next('['):
		ok = r.elements(v, depth)
	case r.next('"'):
		v.text, ok = r.string()
	default: // a number, true, false or null
		for r.at < len(r.text) && strings.IndexByte(" \t\r\n,]}:\"[{", r.text[r.at]) < 0 {
			r.at++
		}
		ok = r.at > start
	}
	v.raw = r.text[start:r.at]
	return v, ok
}

// members reads the rest of an object.
func (r *reader) members(v *value, depth int) bool {
	if r.next('}') {
		return true
	}
	for {
		if !r.next('"') {
			return false
		}
		name, ok := r.string()
		if !ok || !r.next(':') {
			return false
		}
		item, ok := r.value(depth - 1)
		if !ok {
			return false
		}
		v.fields, v.items = append(v.fields, name), append(v.items, item)
		if !r.next(',') {
			return r.next('}')
		}
	}
}

// elements reads the rest of an array.
func (r *reader) elements(v *value, depth int) bool {
	if r.next(']') {
		return true
	}
	for {
		item, ok := r.value(depth - 1)
		if !ok {
			return false
		}
		v.items = append(v.items, item)
		if !r.next(',') {
			return r.next(']')
		}
	}
}

// string reads the rest of a string.
func (r *reader) string() (string, bool) {
	var made []byte
	for r.at < len(r.text) {
		c := r.text[r.at]
		r.at++
		switch c {
		case '"':
			return string(made), true
		case '\\':
			char, ok := r.escape()
			if !ok {
				return "", false
			}
			made = utf8.AppendRune(made, char)
		default:
			made = append(made, c)
		}
	}
	return "", false
}

// escape reads what is behind a backslash: one character, or the UTF-16 code of one, perhaps in two halves.
func (r *reader) escape() (rune, bool) {
	if r.at >= len(r.text) {
		return 0, false
	}
	c := r.text[r.at]
	r.at++
	if c != 'u' {
		i := strings.IndexByte("\"\\/bfnrt", c)
		if i < 0 {
			return 0, false
		}
		return rune("\"\\/\b\f\n\r\t"[i]), true
	}
	char, ok := r.unit()
	if ok && utf16.IsSurrogate(char) && strings.HasPrefix(r.text[r.at:], `\u`) {
		r.at += 2
		low, ok := r.unit()
		return utf16.DecodeRune(char, low), ok
	}
	return char, ok
}

// unit reads four hexadecimal digits.
func (r *reader) unit() (rune, bool) {
	if len(r.text)-r.at < 4 {
		return 0, false
	}
	n, err := strconv.ParseUint(r.text[r.at:r.at+4], 16, 16)
	r.at += 4
	return rune(n), err == nil
}

// quote writes a string.
func quote(text string) string {
	made := []byte{'"'}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"' || c == '\\':
			made = append(made, '\\', c)
		case c < ' ':
			made = append(made, `\u00`...)
			made = append(made, "0123456789abcdef"[c>>4], "0123456789abcdef"[c&15])
		default:
			made = append(made, c)
		}
	}
	return string(append(made, '"'))
}
