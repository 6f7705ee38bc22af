package modelconfig

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/prototext"
)

// largest is the size of a configuration in bytes: a file of a megabyte is no configuration.
const largest = 1 << 20

// deepest is how deep messages of a configuration may be nested. The message itself ends at 7, but the parser descends
// into what it is about to refuse.
const deepest = 32

// Parse reads the text form, as in config.pbtxt. A field that the message lacks is an error.
func Parse(text []byte) (*ModelConfig, error) {
	if err := bounded(text, "{<", "}>"); err != nil {
		return nil, err
	}
	c := &ModelConfig{}
	if err := prototext.Unmarshal(text, c); err != nil {
		return nil, readable(err)
	}
	return c, nil
}

// ParseJSON reads the JSON form, as in a request to load a model.
func ParseJSON(text []byte) (*ModelConfig, error) {
	if err := bounded(text, "{[", "}]"); err != nil {
		return nil, err
	}
	c := &ModelConfig{}
	if err := protojson.Unmarshal(text, c); err != nil {
		return nil, readable(err)
	}
	return c, nil
}

// bounded refuses text that is too large, or has more than deepest brackets open. Brackets within strings count too: they
// are rare, and a limit needs no parser.
func bounded(text []byte, opening, closing string) error {
	if len(text) > largest {
		return fmt.Errorf("the configuration has %d bytes; want at most %d", len(text), largest)
	}
	// A bracket that is closed before it was opened makes the depth negative, which the parser refuses.
	depth := 0
	for _, b := range text {
		switch {
		case strings.IndexByte(opening, b) >= 0:
			depth++
		case strings.IndexByte(closing, b) >= 0:
			depth--
		}
		if depth > deepest {
			return fmt.Errorf("the configuration is nested deeper than %d levels", deepest)
		}
	}
	return nil
}

// readable is an error of the protobuf packages without the blanks that they vary on purpose, to keep programs from comparing
// messages. Users of this server read them.
func readable(err error) error {
	// The blank is U+00A0 in some builds and not in others.
	text := strings.ReplaceAll(err.Error(), "\u00a0", " ")
	return fmt.Errorf("%s", strings.TrimPrefix(text, "proto: "))
}
