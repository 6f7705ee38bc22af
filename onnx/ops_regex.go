package onnx

import (
	"regexp"

	"github.com/paddle-mps/paddle-mps/core/dtype"
)

// The one operator that needs package regexp, which is a large part of the library for it: its tables of Unicode's classes and
// scripts, its parser and three ways to match.

// regexFullMatch reports of each string whether all of it matches a pattern in the syntax of RE2, which is that of package regexp. Its
// time is linear in the length of a string, whatever the pattern of a file is. A dot is no newline, as in RE2 without flags.
func regexFullMatch(c *call) []*value {
	x, pattern := c.strings(0), c.text("pattern", "")
	if _, err := regexp.Compile(pattern); err != nil { // alone: a pattern may close a group that is not its own
		c.wrong("pattern %s is no regular expression: %s", shown(pattern), err)
	}
	full, err := regexp.Compile(`\A(?:` + pattern + `)\z`)
	if err != nil {
		c.wrong("pattern %s is no regular expression: %s", shown(pattern), err)
	}
	return one(c.ofEachString(x, dtype.Bool, func(raw []byte, s string) ([]byte, error) {
		if full.MatchString(s) {
			return append(raw, 1), nil
		}
		return append(raw, 0), nil
	}))
}
