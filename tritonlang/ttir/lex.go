// Tokens. The text is cut once, before parsing, so that aliases of locations, which stand at the end of a file, can be
// followed from the beginning.
//
// A shape such as 64x32xf16 is cut as MLIR's own lexer would not: into 64 and x32xf16. The parser of tensors expects that.

package ttir

import "strings"

// lexeme tells tokens apart.
type lexeme uint8

const (
	end lexeme = iota
	// Identifiers, keywords, names of operations.
	word
	num     // 12, -3, 1.5e+00, 0xFF80
	str     // "..."
	percent // %x
	caret   // ^bb0
	at      // @name, @"name"
	hash    // #loc4
	bang    // !tt.ptr
	// Punctuation.
	mark
)

type token struct {
	kind      lexeme
	text      string
	line, col int
}

// marks of more than one character come first.
var marks = []string{"->", "::"}

// letter reports whether a word may begin with a character.
func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' }

// digit reports whether a character is a decimal digit.
func digit(c byte) bool { return c >= '0' && c <= '9' }

// inName reports whether a name may go on with a character.
func inName(c byte) bool { return letter(c) || digit(c) || c == '$' || c == '.' }

// lexer cuts a text into tokens.
type lexer struct {
	text string
	at   int
	// The number of the line, and where it begins.
	line, bol int
	tokens    []token
}

// lex cuts the whole text; bad is where it has a character that begins no token, or -1.
func lex(text string) (tokens []token, bad int) {
	l := lexer{text: text, line: 1, tokens: make([]token, 0, len(text)/5+8)}
	for l.blank(); l.at < len(text); l.blank() {
		n, kind := l.size()
		if n == 0 {
			return l.tokens, l.at
		}
		l.tokens = append(l.tokens, token{kind, text[l.at : l.at+n], l.line, l.at - l.bol + 1})
		l.at += n
	}
	l.tokens = append(l.tokens, token{end, "", l.line, l.at - l.bol + 1})
	return l.tokens, -1
}

// blank skips white space and comments.
func (l *lexer) blank() {
	for l.at < len(l.text) {
		switch c := l.text[l.at]; {
		case c == '\n':
			l.at++
			l.line, l.bol = l.line+1, l.at
		case c == ' ' || c == '\t' || c == '\r':
			l.at++
		case strings.HasPrefix(l.text[l.at:], "//"):
			n := strings.IndexByte(l.text[l.at:], '\n')
			if n < 0 {
				n = len(l.text) - l.at
			}
			l.at += n
		default:
			return
		}
	}
}

// size is how long the token here is, and what it is; 0 if none begins here.
func (l *lexer) size() (int, lexeme) {
	rest := l.text[l.at:]
	// A string that does not end in its line is no token.
	switch c := rest[0]; {
	case c == '"':
		return quoted(rest), str
	case letter(c):
		return 1 + run(rest[1:], inName), word
	case digit(c) || c == '-' && len(rest) > 1 && digit(rest[1]):
		return number(rest), num
	case c == '%' || c == '^' || c == '#' || c == '!':
		// %c-1_i32 and ^bb0 and #loc4 and !tt.ptr: a sign and a name, in which - may stand.
		n := 1 + run(rest[1:], func(c byte) bool { return inName(c) || c == '-' })
		if n == 1 {
			return 0, 0
		}
		return n, map[byte]lexeme{'%': percent, '^': caret, '#': hash, '!': bang}[c]
	case c == '@':
		if len(rest) > 1 && rest[1] == '"' {
			if n := quoted(rest[1:]); n > 0 {
				return 1 + n, at
			}
			return 0, 0
		}
		return 1 + run(rest[1:], inName), at
	}
	for _, m := range marks {
		if strings.HasPrefix(rest, m) {
			return len(m), mark
		}
	}
	if strings.IndexByte("()[]{}<>,:=*|?#-+", rest[0]) >= 0 {
		return 1, mark
	}
	return 0, 0
}

// run is how many characters at the beginning belong to a set.
func run(s string, in func(byte) bool) int {
	n := 0
	for n < len(s) && in(s[n]) {
		n++
	}
	return n
}

// quoted is the length of a string that begins here, 0 if it does not end in its line.
func quoted(s string) int {
	// A backslash takes the next character with it.
	for i := 1; i < len(s) && s[i] != '\n'; i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return 0
}

// number is the length of a number. 0x begins a hexadecimal one: no shape has a dimension of 0.
func number(s string) int {
	n := 0
	if s[0] == '-' {
		n = 1
	}
	hex := func(c byte) bool { return digit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }
	// Bits of floats, or large integers.
	if strings.HasPrefix(s[n:], "0x") && len(s) > n+2 && hex(s[n+2]) {
		return n + 2 + run(s[n+2:], hex)
	}
	// A point is part of the number only before a digit, and an exponent only behind a point.
	n += run(s[n:], digit)
	if n+1 < len(s) && s[n] == '.' && digit(s[n+1]) {
		n += 1 + run(s[n+1:], digit)
		if n < len(s) && s[n]|0x20 == 'e' {
			k := n + 1
			if k < len(s) && (s[k] == '+' || s[k] == '-') {
				k++
			}
			if d := run(s[k:], digit); d > 0 {
				n = k + d
			}
		}
	}
	return n
}
