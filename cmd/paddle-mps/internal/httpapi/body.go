package httpapi

import (
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/paddle-mps/paddle-mps/core/jsontext"
	"github.com/paddle-mps/paddle-mps/serve/inference"
)

// grace is the time that a client has for the first bytes of a body. Tests make it shorter.
var grace = 20 * time.Second

// pace is how many bytes a second a client then has to send.
const pace = 32 << 10

// AtPace is the time that bytes may take to arrive, or to be read, beside the grace that a client has.
func AtPace(bytes int64) time.Duration { return time.Duration(bytes/pace) * time.Second }

// piece is how much memory is taken before any byte has arrived, and how much is read before the pace is looked at.
const piece = 1 << 20

// chunks is how many pieces a body without a length may arrive in; tritonserver has the same limit.
const chunks = 65536

// buffers are those of bodies that were answered.
// The garbage collector empties the pool, so that a peak of load does not stay in memory.
var buffers = sync.Pool{New: func() any { return &buffer{} }}

// buffer is a body in memory that is used again, with lists of what is in it.
type buffer struct {
	bytes   []byte
	members [3][]jsontext.Member // of the body, of an input or output, and of its parameters
	inputs  []inference.Tensor
	dims    []int64 // of all inputs
}

// largestKept is the size of a buffer that is used again: one request of the largest size must not take its memory forever.
const largestKept = 16 << 20

// free gives a buffer back. Nothing refers to it any more.
func (b *buffer) free() {
	if cap(b.bytes) > largestKept || cap(b.inputs) > mostKept || cap(b.dims) > mostKept {
		return
	}
	clear(b.inputs) // their elements may be memory of their own
	b.inputs, b.dims = b.inputs[:0], b.dims[:0]
	buffers.Put(b)
}

// mostKept is the number of elements of a list that is used again.
const mostKept = 1024

// list is the members of an object of a level, which are there until the next one of that level. Other values have none.
func (b *buffer) list(level int, v jsontext.Value) []jsontext.Member {
	all := jsontext.OrNone(v.AppendMembers(b.members[level][:0]))
	if all != nil && cap(all) <= mostKept {
		b.members[level] = all
	}
	return all
}

// tooLarge is the error of a body that exceeds the limit.
func (c *call) tooLarge(size int64) error {
	return inference.Errorf(inference.InvalidArg, "request JSON size of %d bytes exceeds the maximum allowed input size of %d bytes. Use --http-max-input-size to increase the limit.", size, c.api.MaxInput)
}

// body reads the body of the request and decompresses it. lead bytes at the beginning of the buffer stay free, so that
// what follows the JSON can be aligned. The caller frees the buffer.
func (c *call) body(lead int) (b *buffer, err error) {
	// A client that states too much is refused before it sends anything.
	if c.r.ContentLength > c.api.MaxInput {
		c.w.Header().Set("Connection", "close") // the rest is not read
		return nil, c.tooLarge(c.r.ContentLength)
	}
	// The pace is that of the connection: it is looked at before decompression.
	from := io.Reader(c.r.Body)
	length := c.r.ContentLength
	switch encoding := c.r.Header.Get("Content-Encoding"); encoding {
	case "", "identity":
		from = c.paced(from)
	case "gzip", "deflate":
		if from, err = decompressor(encoding, c.paced(from)); err != nil {
			return nil, inference.Errorf(inference.InvalidArg, "failed to decompress the request body: %s", err)
		}
		length = -1
	default:
		c.w.Header().Set("Accept-Encoding", "gzip, deflate")
		return nil, inference.Errorf(inference.Unsupported, "Unsupported compression type")
	}
	b = buffers.Get().(*buffer)
	if err = c.fill(b, from, length, lead); err != nil {
		b.free()
		return nil, err
	}
	return b, nil
}

// errAnswered is the error of a request that has been answered already.
var errAnswered = errors.New("answered")

// decompressor decompresses a body. deflate is the format of RFC 1950, as HTTP has it.
func decompressor(encoding string, from io.Reader) (io.Reader, error) {
	if encoding == "gzip" {
		return gzip.NewReader(from)
	}
	return zlib.NewReader(from)
}

// fill reads all of from into the buffer, behind lead bytes. Memory grows with what arrives.
// The buffer is the caller's also where it fails.
func (c *call) fill(b *buffer, from io.Reader, length int64, lead int) error {
	// A stated length is a hint and no more: one piece is taken at first, and what has arrived doubles it.
	want := int64(piece)
	if length >= 0 {
		want = min(length+1, piece) // one more byte, so that the end is seen without growing
	}
	// What may be read into counts against the room of all requests, and not what has arrived: it is memory from the first byte
	// on. A buffer that is used again may be larger.
	may := int64(0)
	b.bytes = b.bytes[:0]
	for next := want + int64(lead); ; next = min(2*may, c.api.MaxInput+int64(lead)+1) {
		if err := c.take(next - may); err != nil {
			c.w.Header().Set("Connection", "close") // the rest is not read
			return err
		}
		may = next
		if int64(cap(b.bytes)) < may {
			grown := make([]byte, len(b.bytes), may)
			copy(grown, b.bytes)
			b.bytes = grown
		}
		b.bytes = b.bytes[:max(len(b.bytes), lead)]
		if done, err := c.fillTo(b, from, may, lead); done || err != nil {
			return err
		}
	}
}

// fillTo reads until the buffer has size bytes, or done, until the end.
func (c *call) fillTo(b *buffer, from io.Reader, size int64, lead int) (done bool, err error) {
	for int64(len(b.bytes)) < size {
		// The limit is checked as bytes arrive, so that a body without a length and a decompressed one have it too.
		n, err := from.Read(b.bytes[len(b.bytes):size])
		b.bytes = b.bytes[:len(b.bytes)+n]
		if got := int64(len(b.bytes) - lead); got > c.api.MaxInput {
			c.w.Header().Set("Connection", "close")
			return false, c.tooLarge(got)
		}
		if err == io.EOF {
			return true, nil
		}
		if err != nil {
			c.w.Header().Set("Connection", "close")
			if errors.Is(err, os.ErrDeadlineExceeded) { // its text has addresses of the connection
				err = fmt.Errorf("it arrives too slowly; want %d bytes a second after %v", pace, grace)
			}
			return false, inference.Errorf(inference.InvalidArg, "failed to read the request body: %s", err)
		}
	}
	return false, nil
}

// paced is a body that ends with an error where it arrives too slowly or in too many pieces.
func (c *call) paced(from io.Reader) io.Reader {
	c.pacer = pacer{from: from, control: http.NewResponseController(c.w), start: time.Now(), unknown: c.r.ContentLength < 0}
	return &c.pacer
}

// pacer is a body with its pace.
// Deadlines belong to the connection: they hold for reads that wait below the decompressor as well.
type pacer struct {
	from    io.Reader
	control *http.ResponseController
	start   time.Time
	got     int64
	set     int64 // got when the deadline was last set
	reads   int
	unknown bool // the length
}

// Read reads, and moves the deadline of the connection with what has arrived.
func (p *pacer) Read(b []byte) (int, error) {
	// Setting a deadline costs little, but a large body has many reads. Between two of them a client at the pace must not
	// use up its grace.
	if p.got == 0 || p.got-p.set >= pace {
		p.set = p.got
		until := p.start.Add(grace + AtPace(p.got))
		_ = p.control.SetReadDeadline(until) // a writer of tests has none
	}
	// A chunk of one byte costs as much as one of many.
	if p.reads++; p.unknown && p.reads > chunks {
		//lint:ignore ST1005 it is Triton's text
		return 0, errors.New("Chunked request body exceeds maximum of 65536 non-empty chunks. Send fewer or larger HTTP chunks.")
	}
	n, err := p.from.Read(b)
	p.got += int64(n)
	return n, err
}

// object reads the body as a JSON object; nil members for an empty body.
func (c *call) object() ([]jsontext.Member, error) {
	b, err := c.body(0)
	if err != nil {
		return nil, err
	}
	// Members refer to the text, and what is made of them may outlive the call: the buffer is not used again.
	// An empty body is one without members: all of them have defaults.
	if len(b.bytes) == 0 {
		b.free()
		return nil, nil
	}
	root, err := parse(b.bytes)
	if err != nil {
		return nil, err
	}
	return jsontext.OrNone(root.Members()), nil
}

// parse is jsontext.Parse with errors of the protocol: text that is no JSON is Internal, as in tritonserver.
func parse(text []byte) (jsontext.Value, error) {
	root, err := jsontext.Parse(text)
	switch {
	case errors.Is(err, jsontext.ErrDeep), errors.Is(err, jsontext.ErrMany):
		return root, inference.Errorf(inference.InvalidArg, "%s", err)
	case err != nil:
		return root, inference.Errorf(inference.Internal, "%s", err)
	}
	return root, nil
}

// members are those of an object.
func members(v jsontext.Value) ([]jsontext.Member, error) {
	all, err := v.Members()
	if err != nil {
		return nil, inference.Errorf(inference.Internal, "%s", err)
	}
	return all, nil
}
