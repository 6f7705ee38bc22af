package clean

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/paddle-mps/paddle-mps/tritonlang/ttir"
)

// FuzzRun: what the parser and the verifier take is cleaned or refused, and what is cleaned passes the verifier.
func FuzzRun(f *testing.F) {
	files, err := filepath.Glob("../testdata/raw/*.ttir")
	if err != nil || len(files) == 0 {
		f.Fatal("no seeds", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Add("module attributes {paddle_mps.raw = \"3.6.0\"} {\n" + callee + blocks + "%d = tt.make_tensor_descriptor %p, %m, %n, %s, %one {padding = 1 : i32} : " +
		"(!tt.ptr<f32>, i32, i32, i64, i64) -> !tt.tensordesc<8x16xf32>\n%v = tt.descriptor_load %d, %i, %zero : (!tt.tensordesc<8x16xf32>, i32, i32) -> tensor<8x16xf32>\n" +
		"tt.descriptor_reduce %d, %i, %i, %v {kind = \"add\"} : (!tt.tensordesc<8x16xf32>, i32, i32, tensor<8x16xf32>) -> ()\n%q = tt.call @g(%m) : (i32) -> i32\ntt.return\n}\n}")
	f.Fuzz(func(t *testing.T, text string) {
		m, err := ttir.Parse(text, "x.ttir")
		if err != nil || ttir.Verify(m) != nil {
			return
		}
		err = Run(m)
		var unsupported *ttir.Unsupported
		switch {
		case errors.As(err, &unsupported):
		case err != nil:
			t.Fatal(err)
		default:
			if err := ttir.Verify(m); err != nil {
				t.Fatal(err, ttir.Print(m))
			}
			ttir.Print(m)
		}
	})
}
