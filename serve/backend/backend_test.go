package backend

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/paddle-mps/paddle-mps/core/device"
	"github.com/paddle-mps/paddle-mps/core/runtime"
	"github.com/paddle-mps/paddle-mps/core/status"
	"github.com/paddle-mps/paddle-mps/kernels/host"
	"github.com/paddle-mps/paddle-mps/place"
	"github.com/paddle-mps/paddle-mps/serve/tensors"
)

// message is a message of protobuf that is being written.
type message []byte

func (m message) int(field protowire.Number, v int64) message {
	return protowire.AppendVarint(protowire.AppendTag(m, field, protowire.VarintType), uint64(v))
}

func (m message) sub(field protowire.Number, v []byte) message {
	return protowire.AppendBytes(protowire.AppendTag(m, field, protowire.BytesType), v)
}

func (m message) text(field protowire.Number, s string) message { return m.sub(field, []byte(s)) }

// port writes a ValueInfoProto; a dimension below 0 is open.
func portOf(name string, elem int64, dims ...int64) message {
	shape := message{}
	for _, d := range dims {
		if d < 0 {
			shape = shape.sub(1, message{}.text(2, "n"))
		} else {
			shape = shape.sub(1, message{}.int(1, d))
		}
	}
	return message{}.text(1, name).sub(2, message{}.sub(1, message{}.int(1, elem).sub(2, shape)))
}

// nodeOf writes a NodeProto.
func nodeOf(op, out string, in ...string) message {
	m := message{}
	for _, name := range in {
		m = m.text(1, name)
	}
	return m.text(2, out).text(4, op)
}

// modelOf writes a ModelProto of a graph.
func modelOf(graph message) []byte {
	return message{}.int(1, 8).sub(7, graph.text(2, "g")).sub(8, message{}.int(2, 17))
}

// scaled is y = x * scale, where scale is an input with the value [10, 100].
func scaled() []byte {
	value := message{}.int(1, 1).int(1, 2).int(2, 1).text(8, "scale").sub(9, floats(10, 100))
	return modelOf(message{}.sub(1, nodeOf("Mul", "y", "x", "scale")).sub(5, value).
		sub(11, portOf("x", 1, -1, 2)).sub(11, portOf("scale", 1, -1, 2)).sub(12, portOf("y", 1, -1, 2)))
}

// unary is y = op(x) on float[n, m].
func unary(op string) []byte {
	return modelOf(message{}.sub(1, nodeOf(op, "y", "x")).sub(11, portOf("x", 1, -1, -1)).sub(12, portOf("y", 1, -1, -1)))
}

func floats(list ...float32) (b []byte) {
	for _, v := range list {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}

func newRuntime(t testing.TB) *runtime.Runtime {
	mps := host.New(host.Config{Async: true, InlineLimit: -1})
	rt, err := runtime.New(runtime.Config{CPU: host.New(host.Config{}), MPS: []device.Device{mps}})
	require.NoError(t, err)
	t.Cleanup(func() {
		require.Zero(t, rt.Live(), "tensors leaked")
		for _, p := range []place.Place{place.CPU, place.MPS(0)} {
			c, err := rt.Context(p)
			require.NoError(t, err)
			require.NoError(t, c.Synchronize())
			require.Zero(t, c.Stats().Allocated.Current, "%s leaked", p)
		}
		require.NoError(t, rt.Close())
	})
	return rt
}

// loaded is a model of a file and a configuration; it is closed by the test's end.
func loaded(t testing.TB, rt *runtime.Runtime, file []byte, config string) (*Model, error) {
	folder := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(folder, "1"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "1", "model.onnx"), file, 0o600))
	m, err := Load(rt, &Options{Name: "m", Folder: folder, Version: 1, Config: []byte(config), Complete: true, DefaultMaxBatch: 4})
	if err == nil {
		t.Cleanup(m.Close)
	}
	return m, err
}

const optional = `{"max_batch_size":8,"input":[{"name":"x","data_type":"TYPE_FP32","dims":[2]},
	{"name":"scale","data_type":"TYPE_FP32","dims":[2],"optional":true}],"output":[{"name":"y","data_type":"TYPE_FP32","dims":[2]}]}`

// given is an input of float32.
func given(dims []int64, list ...float32) Input {
	return Input{Given: true, Type: 11, Dims: dims, Pieces: [][]byte{floats(list...)}}
}

// Requests with and without an optional input are batches of their own, in any order.
func TestBatchesByWhatIsGiven(t *testing.T) {
	rt := newRuntime(t)
	m, err := loaded(t, rt, scaled(), optional)
	require.NoError(t, err)
	require.Nil(t, m.Config())
	for _, kind := range []Kind{OnCPU, OnModel} {
		i, err := m.Instance(kind)
		require.NoError(t, err)
		list := make([]Request, 5)
		for n := range list {
			v := float32(n)
			list[n] = Request{Inputs: []Input{given([]int64{1, 2}, v, v), {}}, Outputs: make([]Output, 1)}
			if n%2 == 1 {
				list[n].Inputs[1] = given([]int64{1, 2}, 3, 4)
			}
		}
		list[4].Inputs[0] = given([]int64{2, 2}, 1, 2, 3, 4)
		i.Run(list)
		for n, want := range [][]byte{floats(0, 0), floats(3, 4), floats(20, 200), floats(9, 12), floats(10, 200, 30, 400)} {
			require.NoError(t, list[n].Err)
			require.Equal(t, want, list[n].Outputs[0].Data)
			require.Equal(t, int64(len(want)/8), list[n].Batch)
			require.Equal(t, []int64{list[n].Batch, 2}, list[n].Outputs[0].Dims)
		}
		i.Close()
	}
}

// An input that a request may not leave out is an error of the request alone.
func TestMissingInput(t *testing.T) {
	rt := newRuntime(t)
	m, err := loaded(t, rt, scaled(), strings.Replace(optional, `,"optional":true`, "", 1))
	require.NoError(t, err)
	i, err := m.Instance(OnCPU)
	require.NoError(t, err)
	defer i.Close()
	list := []Request{{Inputs: []Input{given([]int64{1, 2}, 1, 2), {}}, Outputs: make([]Output, 1)}, {}}
	i.Run(list)
	require.ErrorContains(t, list[0].Err, "input 'scale' is missing")
	require.Equal(t, status.Internal, status.CodeOf(list[1].Err), "a row of another shape")
}

// What the file says of itself is completed by the rule of onnxruntime's backend.
func TestComplete(t *testing.T) {
	rt := newRuntime(t)
	m, err := loaded(t, rt, unary("Relu"), `{"name":"m","parameters":{"a":{"string_value":"]}"}},"max_batch_size":0,"input":[],"output":[]}`)
	require.NoError(t, err)
	require.JSONEq(t, `{"name":"m","parameters":{"a":{"string_value":"]}"}},"max_batch_size":4,"dynamic_batching":{},
		"input":[{"name":"x","data_type":"TYPE_FP32","dims":[-1]}],"output":[{"name":"y","data_type":"TYPE_FP32","dims":[-1]}]}`, string(m.Config()))
	m, err = loaded(t, rt, unary("Relu"), `{"max_batch_size":1}`)
	require.NoError(t, err)
	require.NotContains(t, string(m.Config()), "dynamic_batching")
	scalar := modelOf(message{}.sub(1, nodeOf("Neg", "y", "x")).sub(11, portOf("x", 1)).sub(12, portOf("y", 1)))
	m, err = loaded(t, rt, scalar, `{}`)
	require.NoError(t, err)
	require.JSONEq(t, `{"max_batch_size":0,"input":[{"name":"x","data_type":"TYPE_FP32","dims":[1]}],"output":[{"name":"y","data_type":"TYPE_FP32","dims":[1]}]}`, string(m.Config()))
	counts := modelOf(message{}.sub(1, nodeOf("NonZero", "y", "x")).sub(11, portOf("x", 1, -1)).sub(12, portOf("y", 7, -1, -1)))
	m, err = loaded(t, rt, counts, `{}`)
	require.NoError(t, err)
	require.Contains(t, string(m.Config()), `"max_batch_size":0`, "the first size of a result is no batch")
	_, err = loaded(t, rt, scalar, `{"max_batch_size":2}`)
	require.ErrorContains(t, err, "max_batch_size is 2; want 0")
}

// BOOL is any byte; tensors have 0 and 1.
func TestTruths(t *testing.T) {
	rt := newRuntime(t)
	file := modelOf(message{}.sub(1, nodeOf("Identity", "y", "x")).sub(11, portOf("x", 9, 4)).sub(12, portOf("y", 9, 4)))
	m, err := loaded(t, rt, file, `{}`)
	require.NoError(t, err)
	i, err := m.Instance(OnCPU)
	require.NoError(t, err)
	defer i.Close()
	sent := []byte{0, 1, 2, 255}
	list := []Request{{Inputs: []Input{{Given: true, Type: 1, Dims: []int64{4}, Pieces: [][]byte{sent}}}, Outputs: make([]Output, 1)}}
	i.Run(list)
	require.NoError(t, list[0].Err)
	require.Equal(t, []byte{0, 1, 1, 1}, list[0].Outputs[0].Data)
	require.Equal(t, []byte{0, 1, 2, 255}, sent, "memory of the server")
}

// Instances on two places run at once, with one program a place.
func TestInstancesShareAProgram(t *testing.T) {
	rt := newRuntime(t)
	m, err := loaded(t, rt, unary("Exp"), `{}`)
	require.NoError(t, err)
	var wait sync.WaitGroup
	for n := range 6 {
		i, err := m.Instance([]Kind{OnCPU, OnModel}[n%2])
		require.NoError(t, err)
		wait.Go(func() {
			defer i.Close()
			for k := range 50 {
				list := make([]Request, 1+k%4)
				for r := range list {
					width := int64(1 + (r+n)%3)
					list[r] = Request{Inputs: []Input{given([]int64{1, width}, make([]float32, width)...)}, Outputs: make([]Output, 1)}
				}
				i.Run(list)
				for r := range list {
					if list[r].Err != nil || list[r].Outputs[0].Dims[1] != int64(1+(r+n)%3) || fmt.Sprint(list[r].Outputs[0].Data[:4]) != fmt.Sprint(floats(1)) {
						t.Errorf("request %d: %+v", r, list[r])
						return
					}
				}
			}
		})
	}
	wait.Wait()
	require.Len(t, m.programs, 2)
}

// TestSequencesAreRefused: the server has no input that is a list of tensors.
func TestSequencesAreRefused(t *testing.T) {
	list := message{}.text(1, "x").sub(2, message{}.sub(4, message{}.sub(1, message{}.sub(1, message{}.int(1, 1)))))
	_, err := loaded(t, newRuntime(t), modelOf(message{}.sub(1, nodeOf("SequenceLength", "y", "x")).sub(11, list).sub(12, portOf("y", 7))), "{}")
	require.ErrorContains(t, err, `[onnx] "x" is a sequence of float; want a tensor`)
}

// stringsOf are strings as the server gives them.
func stringsOf(list ...string) (data []byte) {
	for _, s := range list {
		data = tensors.AppendElement(data, []byte(s))
	}
	return data
}

// textsModel is y = text, where text is an input of strings with the value ["a", "bc"] that may be left out, and x has the batch.
func textsModel() []byte {
	value := message{}.int(1, 1).int(1, 2).int(2, 8).sub(6, []byte("a")).sub(6, []byte("bc")).text(8, "text")
	return modelOf(message{}.sub(1, nodeOf("Identity", "y", "text")).sub(1, nodeOf("Identity", "z", "x")).sub(5, value).
		sub(11, portOf("x", 8, -1, 2)).sub(11, portOf("text", 8, -1, 2)).sub(12, portOf("y", 8, -1, 2)).sub(12, portOf("z", 8, -1, 2)))
}

// TestStrings: strings in several pieces, in batches, and left out; lengths that lie are errors of their requests alone.
func TestStrings(t *testing.T) {
	rt := newRuntime(t)
	m, err := loaded(t, rt, modelOf(message{}.sub(1, nodeOf("Identity", "y", "x")).sub(11, portOf("x", 8, -1, 2)).sub(12, portOf("y", 8, -1, 2))), `{}`)
	require.NoError(t, err)
	require.Contains(t, string(m.Config()), `{"name":"x","data_type":"TYPE_STRING","dims":[2]}`)
	for _, kind := range []Kind{OnCPU, OnModel} {
		i, err := m.Instance(kind)
		require.NoError(t, err)
		sent := [][]byte{stringsOf("", "é"), stringsOf("long"+strings.Repeat("er", 1000), "b", "c", "a\x00"), stringsOf("x", "y")[:9], stringsOf("a", "b", "c"), stringsOf("\xff", ""), {}}
		list := make([]Request, len(sent))
		for n, data := range sent {
			rows := int64(1)
			if n == 1 {
				rows = 2
			}
			cut := min(6, len(data)) // within a string, or within its length
			list[n] = Request{Inputs: []Input{{Given: true, Type: stringType, Dims: []int64{rows, 2}, Pieces: [][]byte{data[:cut], data[cut:]}}}, Outputs: make([]Output, 1)}
		}
		i.Run(list)
		for n := range 2 {
			require.NoError(t, list[n].Err)
			require.Equal(t, sent[n], list[n].Outputs[0].Data)
			require.Equal(t, stringType, list[n].Outputs[0].Type)
			require.Equal(t, []int64{int64(n + 1), 2}, list[n].Outputs[0].Dims)
		}
		for n, want := range []string{
			"incomplete string data for input 'x', expecting string of length 1 but only 0 bytes available.", "unexpected number of string elements 3 for input 'x', expecting 2",
			"string element 0 of input 'x' is not UTF-8, as strings of ONNX models are", "expected 2 string elements for input 'x', got 0",
		} {
			require.EqualError(t, list[n+2].Err, "[metal_mps] "+want)
		}
		i.Close()
	}
}

// TestDefaultStrings: an input of strings that a request leaves out has the strings of the file.
func TestDefaultStrings(t *testing.T) {
	const p = `{"name":"%s","data_type":"TYPE_STRING","dims":[2]%s}`
	config := `{"max_batch_size":4,"input":[` + fmt.Sprintf(p, "x", "") + "," + fmt.Sprintf(p, "text", `,"optional":true`) + `],"output":[` + fmt.Sprintf(p, "y", "") + "," + fmt.Sprintf(p, "z", "") + `]}`
	m, err := loaded(t, newRuntime(t), textsModel(), config)
	require.NoError(t, err)
	for _, kind := range []Kind{OnCPU, OnModel} {
		i, err := m.Instance(kind)
		require.NoError(t, err)
		list := []Request{{Inputs: []Input{{Given: true, Type: stringType, Dims: []int64{1, 2}, Pieces: [][]byte{stringsOf("b", "bc")}}, {}}, Outputs: make([]Output, 2)}}
		i.Run(list)
		require.NoError(t, list[0].Err)
		require.Equal(t, stringsOf("a", "bc"), list[0].Outputs[0].Data)
		require.Equal(t, stringsOf("b", "bc"), list[0].Outputs[1].Data)
		i.Close()
	}
}
