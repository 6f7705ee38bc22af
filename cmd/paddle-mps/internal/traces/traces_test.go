package traces

import (
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paddle-mps/paddle-mps/serve/inference"
)

// tracer is one with the settings of a command line, and the path of its file.
func tracer(t testing.TB, lines ...string) (*Tracer, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "t.json")
	var c Config
	for _, line := range append(lines, "triton,file="+path) {
		require.NoError(t, c.Add(line))
	}
	o, err := c.Options()
	require.NoError(t, err)
	one, err := New(o, slog.New(slog.NewTextHandler(io.Discard, nil)))
	require.NoError(t, err)
	return one, path
}

// each is the number of objects of a request of ask.
const each = 9

// none is a request without headers.
func none(string) string { return "" }

// ask is a request for a model, which is answered.
func ask(t *Tracer, model string) (traced bool) {
	r := t.Start(model, none)
	r.Now("HTTP_RECV_START")
	if r != nil {
		now := time.Now()
		r.Model, r.Version, r.ID, r.Started, r.Ended = model, 1, `"`, now, now
		r.Times = inference.Times{Queued: now, Start: now, Inputs: now, Outputs: now, End: now}
	}
	r.End()
	return r != nil
}

// read are the objects of a file.
func read(t *testing.T, path string) (all []map[string]any) {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &all))
	return all
}

// TestRate: each n-th request is traced, until the count is used up; the files are those that tritonserver 2.51 made of the
// same requests.
func TestRate(t *testing.T) {
	one, path := tracer(t, "level=TIMESTAMPS", "rate=2", "count=3", "triton,log-frequency=2")
	var got []bool
	for range 10 {
		got = append(got, ask(one, "m"))
	}
	require.Equal(t, []bool{false, true, false, true, false, true, false, false, false, false}, got)
	require.EqualValues(t, 0, one.Get("").Count)
	require.Equal(t, 2*each, len(read(t, path+".0")))
	require.NoFileExists(t, path+".1")
	one.Close(t.Context())
	require.Equal(t, each, len(read(t, path+".1")))
	require.NoFileExists(t, path)
	require.False(t, ask(one, "m"))
}

// TestFile: without log-frequency there is one file, which is complete at the end, but for a count that is used up.
func TestFile(t *testing.T) {
	one, path := tracer(t, "level=TIMESTAMPS", "rate=1")
	for range 3 {
		require.True(t, ask(one, "m"))
	}
	require.NoFileExists(t, path)
	one.Close(t.Context())
	all := read(t, path)
	require.Equal(t, 3*each, len(all))
	require.Equal(t, `"`, all[1]["request_id"])
	require.Equal(t, "m", all[1]["model_name"])

	one, path = tracer(t, "level=TIMESTAMPS", "rate=1", "count=2")
	for range 4 {
		ask(one, "m")
	}
	require.Equal(t, 2*each, len(read(t, path+".0")))
	one.Close(t.Context())
	require.NoFileExists(t, path)
}

// TestBound: what a setting holds is written when it is large, and the file is one array all the same.
func TestBound(t *testing.T) {
	one, path := tracer(t, "level=TIMESTAMPS", "rate=1")
	long := strings.Repeat("m", mostText/4)
	for range 9 {
		require.True(t, ask(one, long))
	}
	require.FileExists(t, path)
	require.Less(t, one.global.text.Len(), mostText)
	one.Close(t.Context())
	require.Equal(t, 9*each, len(read(t, path)))
}

// change is an update by names and texts; "null" clears.
func change(t *testing.T, one *Tracer, model string, pairs ...string) error {
	t.Helper()
	u := &Update{}
	for i := 0; i < len(pairs); i += 2 {
		texts := []string{pairs[i+1]}
		if pairs[i+1] == "null" {
			texts = nil
		}
		if err := u.Set(pairs[i], texts, ""); err != nil {
			return err
		}
	}
	return one.Update(model, u)
}

// TestUpdates: models follow what they do not set, in the order of changes that tritonserver 2.51 was asked for.
func TestUpdates(t *testing.T) {
	one, _ := tracer(t)
	require.False(t, one.On())
	values := func(model string, rate uint32, count int32) {
		t.Helper()
		v := one.Get(model)
		require.Equal(t, []any{rate, count}, []any{v.Rate, v.Count})
	}
	require.NoError(t, change(t, one, "c", "trace_rate", "12"))
	values("c", 12, -1)
	require.NoError(t, change(t, one, "c", "trace_count", "4"))
	require.NoError(t, change(t, one, "", "trace_rate", "9", "trace_count", "8"))
	values("c", 12, 4)
	values("", 9, 8)
	require.NoError(t, change(t, one, "c", "trace_rate", "null"))
	values("c", 9, 4)
	require.NoError(t, change(t, one, "", "trace_rate", "7"))
	values("c", 7, 4)
	require.NoError(t, change(t, one, "c", "trace_count", "null"))
	values("c", 7, 8)
	require.Empty(t, one.models)
	require.NoError(t, change(t, one, "", "trace_rate", "null", "trace_count", "null"))
	values("", 1000, -1)

	require.NoError(t, change(t, one, "c", "trace_level", "TIMESTAMPS", "trace_rate", "1"))
	require.True(t, one.On())
	require.True(t, ask(one, "c"))
	require.False(t, ask(one, "d"))
	require.NoError(t, change(t, one, "c", "trace_level", "OFF"))
	require.False(t, one.On())
	require.False(t, ask(one, "c"))
}

// TestReplaced: a request that was sampled by a setting is written by it, and what it held is written when it is over.
func TestReplaced(t *testing.T) {
	one, path := tracer(t, "level=TIMESTAMPS", "rate=1", "triton,log-frequency=5")
	ask(one, "m")
	open := one.Start("m", none)
	require.NoError(t, change(t, one, "", "trace_level", "OFF"))
	require.NoFileExists(t, path+".0")
	open.Now("HTTP_RECV_START")
	open.End()
	require.Equal(t, each+1, len(read(t, path+".0")))
	one.Close(t.Context())
}

// TestRefused: the messages of tritonserver 2.51.
func TestRefused(t *testing.T) {
	one, _ := tracer(t)
	for _, row := range [][3]string{
		{"trace_rate", "x", "Unable to parse 'trace_rate', got: x"},
		{"trace_rate", "", "Unable to parse 'trace_rate', got: "},
		{"trace_rate", "99999999999", "Unable to parse 'trace_rate', value is out of range [ 0, 4294967295 ], got: 99999999999"},
		{"trace_count", "-2", "Unable to parse 'trace_count'. Expecting value >= -1, got:-2"},
		{"trace_count", "99999999999", "Unable to parse 'trace_count', value is out of range [ -1, 2147483647 ], got: 99999999999"},
		{"log_frequency", "z", "Unable to parse 'log_frequency', got: z"},
	} {
		require.EqualError(t, change(t, one, "", row[0], row[1]), row[2])
	}
	require.ErrorContains(t, change(t, one, "", "trace_level", "TENSORS"), "TENSORS")
	require.EqualError(t, (&Update{}).Set("trace_level", []string{"OFF", "TIMESTAMPS"}, ""), "Expect only one trace level 'OFF' is specified")
	require.NoError(t, change(t, one, "", "trace_rate", " 6x"))
	require.EqualValues(t, 6, one.Get("").Rate)
	require.NoError(t, change(t, one, "", "trace_rate", "-1"))
	require.EqualValues(t, 1<<32-1, one.Get("").Rate)

	without, err := New(*blank(), slog.Default())
	require.NoError(t, err)
	require.EqualError(t, change(t, without, "", "trace_level", "TIMESTAMPS"), "Attempting to set invalid trace setting :trace file name is not given")
}

// TestLines: what a command line may say.
func TestLines(t *testing.T) {
	for _, wrong := range []string{"rate", "rate=", ",x=1", "foo,x=1", "rate=abc", "count=-5", "level=bogus", "level=TENSORS", "mode=zz", "zz=1", "triton,bogus=1", "triton,log-frequency=a", "opentelemetry,url=ftp://a", "opentelemetry,resource=a", "opentelemetry,bsp_schedule_delay=x"} {
		require.Error(t, (&Config{}).Add(wrong), wrong)
	}
	var c Config
	for _, line := range []string{"mode=opentelemetry", "opentelemetry,url=http://h:1/v1/traces", "opentelemetry,resource=a=b,c", "opentelemetry,bsp_schedule_delay=7", "level=OFF", "level=TIMESTAMPS"} {
		require.NoError(t, c.Add(line))
	}
	o, err := c.Options()
	require.NoError(t, err)
	require.Equal(t, []Named{{"a", "b,c"}}, o.Resource)
	require.Equal(t, 7*time.Millisecond, o.Delay)
	require.Equal(t, LevelOff, o.Level)
	require.Len(t, o.Extra, 5)
}

// TestOff: a request that is not traced takes no memory, and hardly time.
func TestOff(t *testing.T) {
	one, _ := tracer(t)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		r := one.Start("m", none)
		r.Now("HTTP_RECV_START")
		r.Answered()
		r.End()
	}))
	var nobody *Tracer
	require.Nil(t, nobody.Start("m", none))
}

// TestTogether: requests, changes and the end at one time.
func TestTogether(t *testing.T) {
	one, path := tracer(t, "level=TIMESTAMPS", "rate=1")
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 200 {
				ask(one, "m")
			}
		})
	}
	all.Go(func() {
		for i := range 50 {
			u := &Update{}
			_ = u.Set("trace_rate", []string{"1"}, "")
			_ = one.Update([]string{"", "m"}[i%2], u)
		}
	})
	all.Wait()
	one.Close(t.Context())
	require.Equal(t, 800*each, len(read(t, path)))
}
