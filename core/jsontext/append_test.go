package jsontext_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/core/jsontext"
)

// Texts are those of encoding/json, byte for byte.
func TestAppendString(t *testing.T) {
	for r := range rune(0x3000) {
		want, err := json.Marshal("a" + string(r))
		require.NoError(t, err)
		require.Equal(t, string(want), string(jsontext.AppendString(nil, "a"+string(r))), "%U", r)
	}
	for _, s := range []string{"", "plain", `"\/`, "\xff\xfea\xc3", "\ud7ff\U0001F600\U0010ffff", "</script>&"} {
		want, err := json.Marshal(s)
		require.NoError(t, err)
		require.Equal(t, string(want), string(jsontext.AppendString(nil, s)))
	}
	// The character that stands for bytes that are no UTF-8 may be in a text by itself. It is escaped as well, which means the same.
	require.Equal(t, `"\ufffd"`, string(jsontext.AppendString(nil, "\ufffd")))
}

func TestAppend(t *testing.T) {
	inner, err := jsontext.Parse([]byte("{\"x y\" :\t[1, 2.50,\n\"a \\\" b\" ]}"))
	require.NoError(t, err)
	object := jsontext.Make(
		"none", nil,
		"yes", true,
		"text", "a\n",
		"numbers", []any{-1, int64(-1) << 63, ^uint64(0), uintptr(7)},
		"as it is", inner,
		"empty", []any{},
		"sorted", jsontext.Sorted(map[string]int64{"b": 2, "a": 1, "c": 3}),
		"strings", jsontext.List([]string{"x", "y"}),
		"object", jsontext.Pairs{},
	)
	require.Equal(t, `{"none":null,"yes":true,"text":"a\n","numbers":[-1,-9223372036854775808,18446744073709551615,7],`+
		`"as it is":{"x y":[1,2.50,"a \" b"]},"empty":[],"sorted":{"a":1,"b":2,"c":3},"strings":["x","y"],"object":{}}`, string(jsontext.Append(nil, object)))
	require.Panics(t, func() { jsontext.Append(nil, 1.5) })
}

func TestWith(t *testing.T) {
	p := jsontext.Make("a", 1)
	p = p.With("b", false).With("c", "").With("d", uint64(0)).With("e", []any{}).Known("f", nil)
	require.Equal(t, jsontext.Make("a", 1), p)
	p = p.With("b", true).With("c", "x").With("d", uint64(1)).With("e", []any{0}).Known("f", uint64(0))
	require.Equal(t, `{"a":1,"b":true,"c":"x","d":1,"e":[0],"f":0}`, string(jsontext.Append(nil, p)))
}

func TestFields(t *testing.T) {
	read := func(text string) (yes bool, name string, n int, names []string, numbers []int, err error) {
		v, err := jsontext.Read([]byte(text))
		require.NoError(t, err)
		n = 7
		err = jsontext.Fields{"yes": &yes, "name": &name, "n": &n, "names": &names, "numbers": &numbers, "any": nil}.Read(v)
		return yes, name, n, names, numbers, err
	}
	yes, name, n, names, numbers, err := read(`{"yes":true,"name":"a\u00e9","n":null,"names":["x",""],"numbers":[1,-2],"any":{"b":[1.5]}}`)
	require.NoError(t, err)
	require.True(t, yes)
	require.Equal(t, "a\u00e9", name)
	require.Equal(t, 7, n)
	require.Len(t, names, 2)
	require.Equal(t, []int{1, -2}, numbers)
	for text, want := range map[string]string{
		`[]`: "non-object", `{"other":1}`: `unknown field "other"`, `{"n":1.5}`: "n: attempt", `{"names":[1]}`: "names: attempt", `{"yes":"true"}`: "yes: attempt",
	} {
		_, _, _, _, _, err := read(text)
		require.ErrorContains(t, err, want, text)
	}
}
