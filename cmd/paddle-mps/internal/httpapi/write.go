package httpapi

import (
	"compress/gzip"
	"compress/zlib"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/paddle-mps/paddle-mps/serve/inference"
)

// patient bounds the time that a client may take to read a response of a size. Each response sets it anew: a small one waits
// as well where those before were not read, and the time of the one before would end the connection.
func (c *call) patient(size int64) {
	until := time.Now().Add(grace + AtPace(size))
	_ = http.NewResponseController(c.w).SetWriteDeadline(until) // a writer of tests has none
}

// writeParts writes the JSON of a response and its outputs in binary form.
func (in *inferBody) writeParts(w io.Writer, text []byte, r *inference.Response) error {
	if _, err := w.Write(text); err != nil {
		return err
	}
	for i := range r.Outputs {
		if in.isBinary(r.Outputs[i].Name) {
			if _, err := w.Write(r.Outputs[i].Data); err != nil {
				return err
			}
		}
	}
	return nil
}

// compressed writes a response with an encoding.
func (c *call) compressed(encoding string, in *inferBody, text []byte, r *inference.Response) error {
	// The length of what is compressed is not known, so that the response comes in chunks.
	c.w.Header()["Content-Encoding"] = []string{encoding}
	c.w.WriteHeader(http.StatusOK)
	pool := compressors[encoding]
	w := pool.Get().(compressor)
	defer pool.Put(w)
	w.Reset(c.w)
	_ = in.writeParts(w, text, r) // a client that is gone is no error of ours
	_ = w.Close()
	return nil
}

// compressor is what the writers of both encodings have in common.
type compressor interface {
	io.WriteCloser
	Reset(to io.Writer)
}

// compressors are those that were used, by encoding: each has tables of most of a megabyte, which some clients ask for with
// every request, because their libraries do.
var compressors = map[string]*sync.Pool{
	"gzip":    {New: func() any { return gzip.NewWriter(nil) }},
	"deflate": {New: func() any { return zlib.NewWriter(nil) }},
}

// chosenEncoding is the encoding with the largest weight in a header Accept-Encoding, the first of equal ones.
// Encodings that the server lacks are passed over.
func chosenEncoding(header string) string {
	// A weight of 0 excludes an encoding; one that cannot be read does too.
	best, weight := "identity", 0.0
	if header == "" {
		return best
	}
	for one := range strings.SplitSeq(header, ",") {
		name, q, weighted := strings.Cut(strings.TrimLeft(one, " "), ";q=")
		w := 1.0
		if weighted {
			var err error
			if w, err = strconv.ParseFloat(strings.TrimSpace(q), 64); err != nil {
				continue
			}
		}
		if (name == "identity" || name == "deflate" || name == "gzip") && w > weight {
			best, weight = name, w
		}
	}
	return best
}
