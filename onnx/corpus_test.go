package onnx

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The corpus of FuzzParse is what the fuzzer has found worth keeping in its hours: each test run reads all of it. It is one file,
// because it has a thousand entries: gzip of their lengths as varints and their bytes.
const corpusFile = "testdata/corpus.gz"

// corpus is the entries of the file.
func corpus(t testing.TB) (entries [][]byte) {
	packed, err := os.Open(corpusFile)
	require.NoError(t, err)
	defer packed.Close()
	plain, err := gzip.NewReader(packed)
	require.NoError(t, err)
	all, err := io.ReadAll(plain)
	require.NoError(t, err)
	for len(all) > 0 {
		n, size := binary.Uvarint(all)
		require.Positive(t, size)
		entries, all = append(entries, all[size:size+int(n)]), all[size+int(n):]
	}
	return entries
}

// TestPackCorpus adds the entries that the fuzzer keeps in Go's cache to the file. It does so where PADDLE_MPS_FUZZ_CORPUS names
// their folder: $(go env GOCACHE)/fuzz/github.com/paddle-mps/paddle-mps/onnx/FuzzParse.
func TestPackCorpus(t *testing.T) {
	folder := os.Getenv("PADDLE_MPS_FUZZ_CORPUS")
	if folder == "" {
		require.NotEmpty(t, corpus(t))
		return
	}
	all := map[string]bool{}
	if _, err := os.Stat(corpusFile); err == nil {
		for _, entry := range corpus(t) {
			all[string(entry)] = true
		}
	}
	files, err := filepath.Glob(filepath.Join(folder, "*"))
	require.NoError(t, err)
	const longest = 2 << 10 // longer ones are few, and shorter ones reach the same code
	for _, name := range files {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		_, quoted, _ := strings.Cut(strings.TrimSpace(string(text)), "[]byte(")
		entry, err := strconv.Unquote(strings.TrimSuffix(quoted, ")"))
		require.NoError(t, err, name)
		if len(entry) <= longest {
			all[entry] = true
		}
	}
	sorted := make([]string, 0, len(all))
	for entry := range all {
		sorted = append(sorted, entry)
	}
	slices.Sort(sorted)
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	require.NoError(t, err)
	for _, entry := range sorted {
		_, err = w.Write(append(binary.AppendUvarint(nil, uint64(len(entry))), entry...))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	require.NoError(t, os.WriteFile(corpusFile, packed.Bytes(), 0o644))
}
