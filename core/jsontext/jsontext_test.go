package jsontext

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestErrors: the messages of the parser that Triton has.
func TestErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":            "The document is empty. at 0",
		"{} {}":       "The document root must not be followed by other values. at 3",
		"{1:2}":       "Missing a name for object member. at 1",
		`{"a" 2}`:     "Missing a colon after a name of object member. at 5",
		`{"a":2 "b"}`: "Missing a comma or '}' after an object member. at 7",
		`[1 2]`:       "Missing a comma or ']' after an array element. at 3",
		`["a]`:        "Missing a closing quotation mark in string. at 4",
		`["\x"]`:      "Invalid escape character in string. at 2",
		`["\u12g4"]`:  `Incorrect hex digit after \u escape in string. at 2`,
		`["\ud800"]`:  "The surrogate pair in string is invalid. at 2",
		`[1.]`:        "Miss fraction part in number. at 3",
		`[1e]`:        "Miss exponent in number. at 3",
		`[tru]`:       "Invalid value. at 4",
		`[nan]`:       "Invalid value. at 2",
		"[\"\n\"]":    "Invalid escape character in string. at 2",
		"\x00{}":      "The document is empty. at 0",
		`[1e309]`:     "Number too big to be stored in double. at 1",
		`[1, -1e400]`: "Number too big to be stored in double. at 4",

		"[1" + strings.Repeat("0", 309) + "]": "Number too big to be stored in double. at 1",
		`[-]`:                                 "Invalid value. at 2",
	} {
		_, err := Parse([]byte(text))
		require.EqualError(t, err, "failed to parse the request JSON buffer: "+want, text)
	}
	for _, text := range []string{"\xef\xbb\xbf{}", "{}\x00rubbish"} {
		v, err := Parse([]byte(text))
		require.NoError(t, err)
		require.Equal(t, "{}", string(v.Text()))
	}
	_, err := Parse([]byte(strings.Repeat("[", 200000)))
	require.ErrorIs(t, err, ErrDeep)
	_, err = Parse([]byte(strings.Repeat("[", Deepest) + strings.Repeat("]", Deepest)))
	require.NoError(t, err)
}

// TestNumbers: what is a number of which type.
func TestNumbers(t *testing.T) {
	of := func(text string) Value {
		v, err := Parse([]byte(text))
		require.NoError(t, err)
		return v
	}
	n, err := of("-9223372036854775808").Int()
	require.NoError(t, err)
	require.EqualValues(t, math.MinInt64, n)
	u, err := of("18446744073709551615").Uint()
	require.NoError(t, err)
	require.EqualValues(t, uint64(math.MaxUint64), u)
	for _, text := range []string{"1.5", "1e3", `"1"`, "true", "9223372036854775808"} {
		_, err := of(text).Int()
		require.Equal(t, errInt, err)
	}
	_, err = of("-1").Uint()
	require.Equal(t, errUint, err)
	for text, want := range map[string]float64{"1": 1, "-0.5e1": -5, "Infinity": math.Inf(1), "-Inf": math.Inf(-1), "-0": 0, "1e308": 1e308, "1e-999": 0} {
		x, err := of(text).Float()
		require.NoError(t, err)
		require.InDelta(t, want, x, 0)
	}
	u, err = of("-0").Uint()
	require.NoError(t, err)
	require.Zero(t, u)
	x, err := of("-0").Float()
	require.NoError(t, err)
	require.False(t, math.Signbit(x), "a whole number has no sign at 0")
	x, err = of("NaN").Float()
	require.NoError(t, err)
	require.True(t, math.IsNaN(x))
}

// plain is a value as encoding/json would have it.
func plain(v Value) any {
	switch v.Kind() {
	case Object:
		m := map[string]any{}
		all, _ := v.Members()
		for _, one := range all {
			m[one.Name] = plain(one.Value)
		}
		return m
	case Array:
		list := []any{}
		c, _ := v.Array()
		for e, ok := c.Next(); ok; e, ok = c.Next() {
			list = append(list, plain(e))
		}
		return list
	case String:
		text, _ := v.String()
		return strings.ToValidUTF8(text, "\uFFFD")
	case Bool:
		b, _ := v.Bool()
		return b
	case Number:
		x, _ := v.Float()
		return fmt.Sprint(x)
	}
	return nil
}

// TestLeaves: the elements of nested arrays, in their order, whatever stands between them.
func TestLeaves(t *testing.T) {
	v, err := Parse([]byte("[[1, [2]] ,[], [[\"a]\" ],{\"b\":[3]}, null]]"))
	require.NoError(t, err)
	c, err := v.Array()
	require.NoError(t, err)
	var all []string
	for e, ok := c.Leaf(); ok; e, ok = c.Leaf() {
		all = append(all, string(e.Text()))
	}
	require.Equal(t, []string{"1", "2", `"a]"`, `{"b":[3]}`, "null"}, all)
	_, err = Value{}.Array()
	require.Equal(t, errArray, err)
}

// TestManyMembers: objects with millions of members are refused before a list of them is made.
func TestManyMembers(t *testing.T) {
	members := func(n int) []byte { return []byte(`{"a":0` + strings.Repeat(`,"a":0`, n-1) + `}`) }
	_, err := Parse(members(MostMembers))
	require.NoError(t, err)
	_, err = Parse(members(MostMembers + 1))
	require.ErrorIs(t, err, ErrMany)
	_, err = Parse([]byte("[" + strings.Repeat(`{"a":{"b":0}},`, MostMembers) + "0]"))
	require.ErrorIs(t, err, ErrMany)
}

// FuzzParse: no text is a fault, and what encoding/json accepts is accepted with the same contents.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{`{"a":[1,2.5e3,"x\u00e9\ud83d\ude00",{}],"b":null}`, `[[[[]]]]`, `{"inputs":[{"name":"x","shape":[1,2],"data":[true,false]}]}`, `[NaN,-Infinity]`, "[\"\\", `{"":`, "1E700"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		v, err := Parse(text)
		if err == nil {
			_ = plain(v)
		}
		d := json.NewDecoder(strings.NewReader(string(text)))
		d.UseNumber()
		var want any
		if !json.Valid(text) || d.Decode(&want) != nil || err == ErrDeep || err == ErrMany || strings.Contains(fmt.Sprint(err), "surrogate") || strings.Contains(fmt.Sprint(err), "too big") {
			return
		}
		require.NoError(t, err)
		_, isObject := want.(map[string]any)
		if !isObject { // a name that comes twice is another member in each
			require.Equal(t, v.Kind() == Array, strings.HasPrefix(strings.TrimLeft(string(text), " \t\r\n"), "["))
		}
	})
}
