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

func newRuntime(t *testing.T) *runtime.Runtime {
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
func loaded(t *testing.T, rt *runtime.Runtime, file []byte, config string) (*Model, error) {
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
