package serve

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/internal/onnxtest"
)

// TestLinkedFolders: a model behind symbolic links is loaded again when its files change, whether the link is that of the
// model or of the version.
func TestLinkedFolders(t *testing.T) {
	store := repository(t, map[string]string{
		"a/1/model.onnx": string(onnxtest.Unary("Neg", onnxtest.Float, -1, 1)),
		"b/model.onnx":   string(onnxtest.Unary("Neg", onnxtest.Float, -1, 1)),
		"loop/nothing":   "",
	})
	s := started(t, nil, Options{Control: ControlExplicit})
	folder := s.options.Repositories[0]
	require.NoError(t, os.Symlink(filepath.Join(store, "a"), filepath.Join(folder, "model")))
	require.NoError(t, os.Mkdir(filepath.Join(folder, "version"), 0o755))
	require.NoError(t, os.Symlink(filepath.Join(store, "b"), filepath.Join(folder, "version", "1")))
	require.NoError(t, os.Symlink(filepath.Join(folder, "version"), filepath.Join(folder, "version", "loop")))
	for name, file := range map[string]string{"model": "a/1/model.onnx", "version": "b/model.onnx"} {
		require.NoError(t, s.Load(name, Overrides{}))
		got, err := s.Infer(t.Context(), input(name, []int64{1, 1}, -3))
		require.NoError(t, err)
		require.Equal(t, []float32{3}, numbers(got.Outputs[0].Data))
		path := filepath.Join(store, file)
		require.NoError(t, os.WriteFile(path, onnxtest.Unary("Relu", onnxtest.Float, -1, 1), 0o644))
		require.NoError(t, os.Chtimes(path, time.Time{}, time.Now().Add(time.Hour)))
		require.NoError(t, s.Load(name, Overrides{}))
		got, err = s.Infer(t.Context(), input(name, []int64{1, 1}, -3))
		require.NoError(t, err)
		require.Equal(t, []float32{0}, numbers(got.Outputs[0].Data), name)
	}
}
