package httpapi

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"
)

// TestRoom: bodies of all requests together are bounded, however each of them comes, and leave nothing behind.
func TestRoom(t *testing.T) {
	a := newAPI(t)
	a.Room = NewRoom(100 << 10)
	large := strings.Repeat(" ", 60<<10) + `{"inputs":[{"name":"x","datatype":"FP32","shape":[1,2],"data":[1,2]}]}`
	small := strings.TrimSpace(large)

	// A body on its way holds its memory, though most of it has not arrived.
	from, to := io.Pipe()
	r := httptest.NewRequest(http.MethodPost, infer, from)
	r.ContentLength = int64(len(large))
	first := make(chan *httptest.ResponseRecorder)
	go func() {
		w := httptest.NewRecorder()
		a.ServeHTTP(w, r)
		first <- w
	}()
	_, err := to.Write([]byte(large[:10]))
	require.NoError(t, err)
	require.Eventually(t, func() bool { return a.Room.Used() >= int64(len(large)) }, 10*time.Second, time.Millisecond)

	w := ask(a, http.MethodPost, infer, large)
	require.Equal(t, http.StatusServiceUnavailable, w.Code)
	require.Contains(t, w.Body.String(), "Exceeds maximum memory of 102400 bytes for all requests together")
	require.Equal(t, "close", w.Header().Get("Connection"))
	require.Equal(t, http.StatusOK, ask(a, http.MethodPost, infer, small).Code)

	_, err = to.Write([]byte(large[10:]))
	require.NoError(t, err)
	require.NoError(t, to.Close())
	require.Equal(t, http.StatusOK, (<-first).Code)
	require.Equal(t, http.StatusOK, ask(a, http.MethodPost, infer, large).Code)
	require.Zero(t, a.Room.Used())
	a.MaxInput = 1 << 20
	// The elements of JSON are memory beside the body: 20,000 of them take 40,000 bytes here, and twice as many there.
	many := `{"inputs":[{"name":"x","datatype":"FP32","shape":[10000,2],"data":[` + strings.Repeat("0,", 19999) + `0]}]}`
	w = ask(a, http.MethodPost, infer, many)
	require.Equal(t, http.StatusServiceUnavailable, w.Code)
	require.Contains(t, w.Body.String(), "Exceeds maximum memory of 102400 bytes for all requests together")
	require.Contains(t, ask(a, http.MethodPost, infer, strings.Replace(many, "FP32", "INT8", 1)).Body.String(), "batch-size must be")
	require.Zero(t, a.Room.Used())
	// So are strings, and what a run makes of them: in JSON a string of 34,000 bytes takes them in the body, the tensor and the run,
	// and each of 350 short ones takes 256 bytes more.
	one := `{"inputs":[{"name":"x","datatype":"BYTES","shape":[1,1],"data":["` + strings.Repeat("a", 34000) + `"]}]}`
	short := `{"inputs":[{"name":"x","datatype":"BYTES","shape":[1,350],"data":[` + strings.Repeat(`"a",`, 349) + `"a"]}]}`
	for text, refused := range map[string]bool{one: false, strings.Replace(one, "aa", "aaaaaaaa", 50): true, strings.Replace(one, "aa", strings.Repeat("a", 1000), 1): true, short: false, strings.Replace(short, `"a"`, `"a","a"`, 150): true} {
		w = ask(a, http.MethodPost, infer, text)
		require.Equal(t, refused, w.Code == http.StatusServiceUnavailable, "%d bytes: %s", len(text), w.Body)
		require.Contains(t, w.Body.String(), map[bool]string{true: "Exceeds maximum memory", false: "data-type is 'BYTES'"}[refused])
		require.Zero(t, a.Room.Used())
	}
	// Neither a body without a length, nor one that is refused, nor one of another kind keeps any of it.
	r = httptest.NewRequest(http.MethodPost, infer, io.MultiReader(bytes.NewReader(make([]byte, 200<<10))))
	r.ContentLength = -1
	w = httptest.NewRecorder()
	a.ServeHTTP(w, r)
	require.Equal(t, http.StatusServiceUnavailable, w.Code)
	// Nor does one that arrives too slowly, whose client reads why.
	r = httptest.NewRequest(http.MethodPost, infer, io.MultiReader(strings.NewReader("{"), iotest.ErrReader(&net.OpError{Op: "read", Err: os.ErrDeadlineExceeded})))
	r.ContentLength = 10
	w = httptest.NewRecorder()
	a.ServeHTTP(w, r)
	require.Equal(t, http.StatusBadRequest, w.Code)
	require.JSONEq(t, `{"error":"failed to read the request body: it arrives too slowly; want 32768 bytes a second after 20s"}`, w.Body.String())
	ask(a, http.MethodPost, infer, "{")
	ask(a, http.MethodPost, "/v2/logging", "{}")
	ask(a, http.MethodPost, infer, small, lengthHeader, strconv.Itoa(len(small)))
	require.Zero(t, a.Room.Used())
}

// TestRoomOfOutputs: outputs, and the text that is made of them, are memory beside the body until the client has read them.
func TestRoomOfOutputs(t *testing.T) {
	a := newAPI(t)
	body := `{"inputs":[{"name":"x","datatype":"FP32","shape":[4,2],"data":[1,2,3,4,5,6,7,8]}]}`
	taken := int64(len(body)) + 32 // and the elements
	for bound, code := range map[int64]int{taken: http.StatusServiceUnavailable, taken + 32: http.StatusServiceUnavailable, taken + 32 + 200: http.StatusOK} {
		a.Room = NewRoom(bound)
		w := ask(a, http.MethodPost, infer, body)
		require.Equal(t, code, w.Code, "%d: %s", bound, w.Body)
		require.Zero(t, a.Room.Used())
	}
}

// unread is the writer of a connection whose client does not read: a write ends when its deadline has passed, which is at once.
type unread struct {
	http.ResponseWriter
	deadline time.Time
}

// SetWriteDeadline is that of a connection; see http.ResponseController.
func (u *unread) SetWriteDeadline(at time.Time) error {
	u.deadline = at
	return nil
}

func (u *unread) Write([]byte) (int, error) {
	if u.deadline.IsZero() {
		panic("the write waits forever")
	}
	return 0, os.ErrDeadlineExceeded
}

// TestRoomOfClientsThatDoNotRead: a client has the time for a response that its size asks for, and what was held for it is there for
// others afterwards, however the response is encoded.
func TestRoomOfClientsThatDoNotRead(t *testing.T) {
	const n = 4 * pace // elements, so that the pace adds 16 seconds or more
	a, _ := served(t, "")
	a.Room = NewRoom(1 << 30)
	body := `{"inputs":[{"name":"x","datatype":"FP32","shape":[1,` + strconv.Itoa(n) + `],"data":[0` + strings.Repeat(",0", n-1) + `]}],"outputs":[{"name":"y","parameters":{"binary_data":BINARY}}]}`
	for _, binary := range []string{"true", "false"} {
		for _, encoding := range []string{"identity", "gzip", "deflate"} {
			w := &unread{ResponseWriter: httptest.NewRecorder()}
			r := httptest.NewRequest(http.MethodPost, infer, strings.NewReader(strings.Replace(body, "BINARY", binary, 1)))
			r.Header.Set("Accept-Encoding", encoding)
			before := time.Now()
			a.ServeHTTP(w, r)
			require.Zero(t, a.Room.Used())
			least, most := grace+AtPace(2*n), grace+AtPace(8*n) // zeros are two bytes as text, and four otherwise
			require.False(t, w.deadline.Before(before.Add(least)), "%s %s", binary, encoding)
			require.False(t, w.deadline.After(time.Now().Add(most)), "%s %s", binary, encoding)
		}
	}
}
