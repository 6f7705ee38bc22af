package grpcapi

import (
	"bytes"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/paddle-mps/paddle-mps/cmd/paddle-mps/internal/httpapi"
	"github.com/paddle-mps/paddle-mps/cmd/paddle-mps/internal/kserve"
)

// field is a field of bytes.
func field(number protowire.Number, inner []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), inner)
}

// entries are n entries of a map, each with another key.
func entries(number protowire.Number, n int) (all []byte) {
	for i := range n {
		all = append(all, field(number, field(1, []byte{byte('a' + i%26), byte('a' + i/26%26), byte('a' + i/676%26), byte('a' + i/17576%26)}))...)
	}
	return all
}

// TestFieldsWithin: messages of many small fields are refused before each of them takes a hundred bytes.
func TestFieldsWithin(t *testing.T) {
	const n = 1 << 20
	empty := bytes.Repeat(field(8, nil), n)
	var divided []byte
	for range n / 1024 {
		divided = append(divided, field(fieldInputs, field(5, empty[:2048]))...)
	}
	for name, c := range map[string]struct {
		text []byte
		to   any
	}{
		"contents":               {field(fieldInputs, field(5, empty)), &kserve.ModelInferRequest{}},
		"contents of inputs":     {divided, &kserve.ModelInferRequest{}},
		"parameters of inputs":   {field(fieldInputs, entries(4, n)), &kserve.ModelInferRequest{}},
		"parameters of outputs":  {field(6, entries(2, n)), &kserve.ModelInferRequest{}},
		"parameters":             {entries(4, n), &kserve.ModelInferRequest{}},
		"inputs behind a number": {append([]byte{9 << 3, 1}, bytes.Repeat(field(fieldInputs, nil), n)...), &kserve.ModelInferRequest{}},
		"loads":                  {entries(3, n), &kserve.RepositoryModelLoadRequest{}},
		"settings":               {entries(1, n), &kserve.LogSettingsRequest{}},
		"settings of traces":     {field(1, append(field(1, []byte("a")), field(2, bytes.Repeat(field(1, nil), n))...)), &kserve.TraceSettingRequest{}},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := newCodec(httpapi.NewRoom(8<<20)).Unmarshal(pieces(c.text, 1<<14), c.to)
			runtime.ReadMemStats(&after)
			t.Logf("%d bytes take %d", len(c.text), after.TotalAlloc-before.TotalAlloc)
			require.Error(t, err)
			require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(4*len(c.text)+8<<20), "65,536 fields of a hundred bytes each or the room of texts, and copies of the text")
		})
	}
}
