package backend

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestReadJSON(t *testing.T) {
	v, err := readJSON(` {"a": [1, "2", -3], "b": {"c\n\u00e9\ud83d\ude00": true}, "d": null, "e": "\/\\\""} `)
	require.NoError(t, err)
	list, err := v.get("a").numbers()
	require.NoError(t, err)
	require.Equal(t, []int64{1, 2, -3}, list)
	require.True(t, v.get("b").get("c\né😀").truth())
	require.Equal(t, `/\"`, v.get("e").text)
	require.Equal(t, `[1, "2", -3]`, v.get("a").raw)
	n, err := v.get("d").number()
	require.NoError(t, err)
	require.Zero(t, n)
	require.Same(t, absent, v.get("z").get("y"))
}

func TestDamagedJSON(t *testing.T) {
	for _, text := range []string{
		"", "{", "[", `"`, "[1", "[1,", "[1,]", `{"a"}`, `{"a":}`, `{"a":1,}`, `{1:2}`, `"\`, `"\u12`, `"\u12g4"`, `"\x"`, "1 2", "[] []",
		strings.Repeat("[", 200_000), strings.Repeat(`{"a":`, 200_000),
	} {
		_, err := readJSON(text)
		require.ErrorContains(t, err, "damaged")
	}
	v, err := readJSON(`{"a": 1.5, "b": "x", "c": [true], "d": 9223372036854775808}`)
	require.NoError(t, err)
	for _, name := range []string{"a", "b", "d"} {
		_, err := v.get(name).number()
		require.Error(t, err, name)
	}
	_, err = v.get("c").numbers()
	require.Error(t, err)
}

// What encoding/json takes is read, with the same texts; nothing that is written is damaged.
func FuzzReadJSON(f *testing.F) {
	f.Add(`{"name":"m","max_batch_size":4,"input":[{"name":"x","dims":[1,-1]}],"dynamic_batching":{}}`)
	f.Add(`["\ud83d\ude00\ud800","` + "\x80" + `", 1e5, [[[]]]]`)
	f.Fuzz(func(t *testing.T, text string) {
		v, err := readJSON(text)
		if !utf8.ValidString(text) || !json.Valid([]byte(text)) || strings.Count(text, "[")+strings.Count(text, "{") >= deepest {
			return
		}
		require.NoError(t, err)
		var want any
		if json.Unmarshal([]byte(text), &want) != nil { // a number that is too large
			return
		}
		if s, ok := want.(string); ok {
			require.Equal(t, s, v.text)
		}
		var again string
		require.NoError(t, json.Unmarshal([]byte(quote(text)), &again))
		if _, ok := want.(map[string]any); ok {
			c := &config{all: v, inputs: []*port{{name: text, dataType: "TYPE_FP32", dims: []int64{1}}}}
			require.True(t, json.Valid([]byte(c.with(true))), c.with(true))
		}
	})
}
