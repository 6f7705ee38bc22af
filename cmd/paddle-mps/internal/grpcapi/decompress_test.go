package grpcapi

import (
	"bytes"
	"compress/gzip"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// compressed is a text as gzip.
func compressed(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := io.WriteString(z, text)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return b.Bytes()
}

// slow is a reader that says how many of its kind are being read.
type slow struct {
	io.Reader
	now, most *atomic.Int64
}

// Read takes a while.
func (s slow) Read(b []byte) (int, error) {
	if n := s.now.Add(1); n > s.most.Load() {
		s.most.Store(n)
	}
	defer s.now.Add(-1)
	time.Sleep(time.Millisecond)
	return s.Reader.Read(b)
}

// TestDecompressor: few messages are decompressed at a time, whole ones, and no further than they may go.
func TestDecompressor(t *testing.T) {
	d := newDecompressor(1000)
	d.slots = make(chan struct{}, 2)
	var now, most atomic.Int64
	results := make(chan int)
	for i := range 16 {
		text := compressed(t, strings.Repeat("a", 900+20*i)) // eleven that are larger than they may be
		go func() {
			got, err := d.Do(slow{bytes.NewReader(text), &now, &most})
			if err != nil {
				t.Error(err)
			}
			results <- len(got)
		}()
	}
	sizes := map[int]int{}
	for range 16 {
		sizes[<-results]++
	}
	require.Equal(t, map[int]int{900: 1, 920: 1, 940: 1, 960: 1, 980: 1, 1000: 1, 1001: 10}, sizes)
	require.LessOrEqual(t, most.Load(), int64(2))
	_, err := d.Do(strings.NewReader("no gzip"))
	require.Error(t, err)
}

// TestCompressedCalls: calls and streams take gzip, and a message that becomes too large is refused.
func TestCompressedCalls(t *testing.T) {
	client, _ := served(t, func(c *Config) { c.MaxInput = 1 << 16 })
	zip := grpc.UseCompressor("gzip")
	r, err := client.ModelInfer(t.Context(), request(1000, 1), zip)
	require.NoError(t, err)
	require.Equal(t, int64(1000), r.Outputs[0].Shape[1])
	_, err = client.ModelInfer(t.Context(), request(1<<15, 1), zip)
	require.Equal(t, codes.ResourceExhausted, status.Code(err))
	s, err := client.ModelStreamInfer(t.Context(), zip)
	require.NoError(t, err)
	require.NoError(t, s.Send(request(1000, 1)))
	answer, err := s.Recv()
	require.NoError(t, err)
	require.Empty(t, answer.ErrorMessage)
}
