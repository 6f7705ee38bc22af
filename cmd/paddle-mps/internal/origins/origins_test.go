package origins

import (
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// loopback and everywhere are addresses of listeners.
var (
	loopback   = &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8000}
	everywhere = &net.TCPAddr{IP: net.IPv4zero, Port: 8000}
)

// named are hosts that an option names.
func named(t *testing.T, texts ...string) (all []Host) {
	for _, text := range texts {
		h, err := ParseHost(text)
		require.NoError(t, err)
		all = append(all, h)
	}
	return all
}

// TestParseHost: names in any case, addresses in any form that they have, ports; what cannot be read is an error.
func TestParseHost(t *testing.T) {
	for text, want := range map[string]string{
		"localhost": "localhost", "LOCALHOST.:08000": "localhost:8000", "a.example:": "", "a_b.example.": "a_b.example",
		"127.0.0.1": "127.0.0.1", "127.0.0.1:65535": "127.0.0.1:65535", "127.0.0.1:65536": "", "127.0.0.1:-1": "", "127.0.0.1:+1": "", "127.0.0.1:1 ": "",
		"[::1]": "[::1]", "[0:0::1]:80": "[::1]:80", "[::FFFF:127.0.0.1]": "127.0.0.1", "[fe80::1%en0]:1": "[fe80::1%en0]:1", "[::1": "", "::1": "", "[::1]80": "", "[a.example]": "", "[127.0.0.1]": "",
		"": "", ".": "", ":80": "", "a b": "", "a@b": "", "a/b": "", "a,b": "", "a\x00": "", "bücher.example": "", "xn--bcher-kva.example": "xn--bcher-kva.example", "a:1:2": "",
	} {
		h, err := ParseHost(text)
		if want == "" {
			require.Error(t, err, text)
			continue
		}
		require.NoError(t, err, text)
		require.Equal(t, want, h.String(), text)
	}
}

// refused is the status of a request with these headers.
func refused(g *Guard, host string, origins ...string) (code int, text string) {
	r := httptest.NewRequest(http.MethodPost, "/v2/repository/models/m/unload", strings.NewReader("{}"))
	r.Host = host
	r.Header["Origin"] = origins
	w := httptest.NewRecorder()
	g.Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })).ServeHTTP(w, r)
	if w.Code == http.StatusForbidden {
		var body struct{ Error string }
		if json.Unmarshal(w.Body.Bytes(), &body) == nil {
			text = body.Error
		}
	}
	return w.Code, text
}

// TestCheck: clients and the own page are served, pages of others and rebound names are not.
func TestCheck(t *testing.T) {
	allowed := named(t, "models.example", "app.example:3000", "[::2]:1")
	for _, c := range []struct {
		name     string
		address  net.Addr
		host     string
		origins  []string
		accepted bool
	}{
		{"a client", loopback, "127.0.0.1:8000", nil, true},
		{"a client by name", loopback, "localhost:8000", nil, true},
		{"a client through a tunnel", loopback, "LocalHost.:9000", nil, true},
		{"a client over IPv6", &net.TCPAddr{IP: net.IPv6loopback}, "[::1]:8000", nil, true},
		{"HTTP/1.0", loopback, "", nil, true},
		{"the own page", loopback, "127.0.0.1:8000", []string{"http://127.0.0.1:8000"}, true},
		{"the own page by name", loopback, "localhost:8000", []string{"http://LOCALHOST:8000"}, true},
		{"the own page over IPv6", loopback, "[::1]:8000", []string{"http://[::1]:8000"}, true},
		{"the own page at port 80", loopback, "localhost", []string{"http://localhost"}, true},
		{"the own page at port 443", loopback, "localhost:443", []string{"https://localhost"}, true},
		{"the name of the listener", loopback, "own.example:8000", nil, true},
		{"the own page by the name of the listener", loopback, "own.example:8000", []string{"http://own.example:8000"}, true},
		{"a page of another port of the listener's name", loopback, "own.example:8000", []string{"http://own.example:3000"}, false},
		{"a rebound name", loopback, "evil.example:8000", nil, false},
		{"a rebound name over IPv6", &net.TCPAddr{IP: net.IPv6loopback}, "evil.example:8000", nil, false},
		{"a rebound name of another loopback address", &net.TCPAddr{IP: net.IPv4(127, 1, 2, 3)}, "evil.example:8000", nil, false},
		{"a rebound page", loopback, "evil.example:8000", []string{"http://evil.example:8000"}, false},
		{"a name that ends as ours", loopback, "localhost.evil.example", nil, false},
		{"a name below ours", loopback, "evil.localhost", nil, false},
		{"a name that begins as an address", loopback, "127.0.0.1.evil.example", nil, false},
		{"a host that cannot be read", loopback, "[::1", nil, false},
		{"a page", loopback, "127.0.0.1:8000", []string{"http://evil.example"}, false},
		{"a page of another port", loopback, "127.0.0.1:8000", []string{"http://127.0.0.1:3000"}, false},
		{"a page of another name of ours", loopback, "127.0.0.1:8000", []string{"http://localhost:8000"}, false},
		{"a page of port 80", loopback, "127.0.0.1:8000", []string{"http://127.0.0.1"}, false},
		{"a page without Host", loopback, "", []string{"http://127.0.0.1:8000"}, false},
		{"a file or a sandbox", loopback, "127.0.0.1:8000", []string{"null"}, false},
		{"an origin that is empty", loopback, "127.0.0.1:8000", []string{""}, false},
		{"two origins, the first one ours", loopback, "127.0.0.1:8000", []string{"http://127.0.0.1:8000", "http://evil.example"}, false},
		{"two origins in one", loopback, "127.0.0.1:8000", []string{"http://127.0.0.1:8000 http://evil.example"}, false},
		{"a user in the origin", loopback, "127.0.0.1:8000", []string{"http://127.0.0.1:8000@evil.example"}, false},
		{"an extension", loopback, "127.0.0.1:8000", []string{"chrome-extension://abc"}, false},
		{"an allowed host", loopback, "MODELS.example.:1234", nil, true},
		{"a page of an allowed host", loopback, "127.0.0.1:8000", []string{"https://models.example"}, true},
		{"a page of an allowed port", loopback, "127.0.0.1:8000", []string{"http://app.example:3000"}, true},
		{"a page of an allowed address", loopback, "127.0.0.1:8000", []string{"http://[0::2]:1"}, true},
		{"a page of another port of an allowed host", loopback, "127.0.0.1:8000", []string{"http://app.example:3001"}, false},
		{"a page of the default port of an allowed host", loopback, "127.0.0.1:8000", []string{"http://app.example"}, false},
		{"a page of a host below an allowed one", loopback, "127.0.0.1:8000", []string{"http://x.models.example"}, false},
		{"a client from outside", everywhere, "mac.example:8000", nil, true},
		{"a client from outside that sends no name", everywhere, "a b", nil, true},
		{"the own page from outside", everywhere, "mac.example:8000", []string{"http://mac.example:8000"}, true},
		{"a page from outside", everywhere, "mac.example:8000", []string{"http://evil.example"}, false},
		{"a page of an allowed host from outside", everywhere, "mac.example:8000", []string{"http://models.example"}, true},
		{"a page from outside, no name", everywhere, "a b", []string{"http://a b"}, false},
		{"a pipe", &net.UnixAddr{}, "mac.example", nil, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			code, text := refused(New("own.example", c.address, allowed...), c.host, c.origins...)
			if c.accepted {
				require.Equal(t, http.StatusOK, code, text)
				return
			}
			require.Equal(t, http.StatusForbidden, code)
			require.Contains(t, text, "; want ")
			require.LessOrEqual(t, len(text), 600)
		})
	}
}

// TestErrorNamesTheOption: the option in the error, as it is written there, accepts the request.
func TestErrorNamesTheOption(t *testing.T) {
	for _, c := range [][]string{{"a.example"}, {"a.example:1"}, {"localhost", "http://[::2]:3000"}, {"localhost", "https://b.example"}} {
		_, text := refused(New("127.0.0.1", loopback), c[0], c[1:]...)
		_, option, ok := strings.Cut(text, "--http-allowed-host=")
		require.True(t, ok, text)
		option, _, _ = strings.Cut(option, " ")
		code, text := refused(New("127.0.0.1", loopback, named(t, option)...), c[0], c[1:]...)
		require.Equal(t, http.StatusOK, code, text)
	}
}

// FuzzCheck: no spelling of a foreign name or origin is accepted, as net/url and net/netip understand it.
func FuzzCheck(f *testing.F) {
	for _, seed := range []string{"evil.example", "localhost", "127.0.0.1:8000", "[::1]:8000", "127.0.0.1@evil.example", "null", "a:b:c", "[::1]evil", "[fe80::1%en0]:1", "[::1%\x12\xd3]"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		g := New("127.0.0.1", loopback)
		inURL := strings.ReplaceAll(text, "%", "%25") // of a zone
		if code, _ := refused(g, text); code == http.StatusOK && text != "" {
			u, err := url.Parse("http://" + inURL + "/")
			require.NoError(t, err)
			name := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
			_, err = netip.ParseAddr(u.Hostname())
			require.True(t, err == nil || name == "localhost", "%q", text)
		}
		if code, _ := refused(g, "127.0.0.1:8000", "http://"+text); code == http.StatusOK {
			u, err := url.Parse("http://" + inURL)
			require.NoError(t, err)
			address, err := netip.ParseAddr(u.Hostname())
			require.NoError(t, err)
			require.Equal(t, []string{"127.0.0.1", "8000"}, []string{address.Unmap().String(), strings.TrimLeft(u.Port(), "0")}, text)
		}
	})
}
