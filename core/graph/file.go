package graph

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"io"
	"strings"

	"github.com/paddle-mps/paddle-mps/core/status"
)

// A file holds one graph: a line that names the format, a line about the text, the text, and the elements of the constants in
// the order of their lines, each at a multiple of fileAlign bytes.
//
//	paddle-mps program 1
//	        412 bytes, crc32 0b1c2d3e
//	input %0 float32[3]
//	...
//
// The elements are little-endian, in row-major order, so that a program reads them where the file is mapped. The length of the
// file follows from the text and is checked; the text has a checksum, the elements have none.

// The first two lines have a fixed length, so that they can be read before anything is known of the file.

const (
	fileFormat = "paddle-mps program 1\n"
	fileAbout  = "%11d bytes, crc32 %08x\n"
	fileHead   = len(fileFormat) + 11 + len(" bytes, crc32 ") + 8 + 1
	fileAlign  = 64
)

// WriteTo writes a file. Attributes that have no text, such as nested graphs, are status.Unsupported.
func (g *Graph) WriteTo(w io.Writer) (int64, error) {
	text, known := g.print()
	if _, err := Parse(text, func(int64) ([]byte, error) { return nil, nil }); err != nil {
		return 0, status.Errorf(status.Unsupported, "[program] the graph cannot be written: %s", err)
	}
	out := &counted{to: w}
	fmt.Fprint(out, fileFormat)
	fmt.Fprintf(out, fileAbout, len(text), crc32.ChecksumIEEE([]byte(text)))
	_, _ = io.WriteString(out, text) // counted keeps the error
	for _, k := range known {
		_, _ = out.Write(make([]byte, (fileAlign-out.n%fileAlign)%fileAlign))
		_, _ = out.Write(k.Bytes)
	}
	return out.n, out.err
}

// Writing goes on after an error and does nothing, so that only the end has to ask for one.

// counted counts what is written, up to the first error.
type counted struct {
	to  io.Writer
	n   int64
	err error
}

// Write writes, unless an earlier one has failed.
func (c *counted) Write(p []byte) (int, error) {
	if c.err != nil {
		return 0, c.err
	}
	n, err := c.to.Write(p)
	c.n, c.err = c.n+int64(n), err
	return n, err
}

// IsFile reports whether contents begin as those of a file, of whatever version.
func IsFile(contents []byte) bool {
	return bytes.HasPrefix(contents, []byte(strings.TrimRight(fileFormat, "1\n")))
}

// Nothing of the contents is copied but the text: a file of gigabytes is read where it is mapped, page by page, when its
// constants are copied to a device.

// ReadFile makes the graph of a file with these contents, which its constants are parts of. Errors are status.Invalid.
func ReadFile(contents []byte) (*Graph, error) {
	if !bytes.HasPrefix(contents, []byte(fileFormat)) {
		if IsFile(contents) {
			return nil, status.Errorf(status.Invalid, "[program] the file has another version; want the line %q", strings.TrimSpace(fileFormat))
		}
		return nil, status.Errorf(status.Invalid, "[program] the file is no program; want the line %q at its start", strings.TrimSpace(fileFormat))
	}
	if len(contents) < fileHead {
		return nil, cut(contents, int64(fileHead))
	}
	var length int64
	var sum uint32
	if _, err := fmt.Sscanf(string(contents[len(fileFormat):fileHead]), fileAbout, &length, &sum); err != nil || length < 0 {
		return nil, status.Errorf(status.Invalid, "[program] the file has %q at byte %d; want a line like %q", contents[len(fileFormat):fileHead], len(fileFormat), fmt.Sprintf(fileAbout, 412, 0x0b1c2d3e))
	}
	if length > int64(len(contents)-fileHead) {
		return nil, cut(contents, int64(fileHead)+length)
	}
	text := string(contents[fileHead:][:length])
	if crc32.ChecksumIEEE([]byte(text)) != sum {
		return nil, status.Errorf(status.Invalid, "[program] the text of the file, bytes %d to %d, is damaged: its checksum is %08x; want %08x", fileHead, int64(fileHead)+length, crc32.ChecksumIEEE([]byte(text)), sum)
	}
	at := int64(fileHead) + length
	g, err := Parse(text, func(n int64) ([]byte, error) {
		at += (fileAlign - at%fileAlign) % fileAlign
		if at > int64(len(contents)) || n > int64(len(contents))-at {
			return nil, cut(contents, at+n)
		}
		elements := contents[at:][:n:n]
		at += n
		return elements, nil
	})
	if err != nil {
		return nil, err
	}
	if at != int64(len(contents)) {
		return nil, status.Errorf(status.Invalid, "[program] the file has %d bytes; want %d", len(contents), at)
	}
	return g, nil
}

// A file that a full disk or a broken copy has cut short is the most frequent damage, so that it has a message of its own.

// cut is the error of a file that ends too early.
func cut(contents []byte, want int64) error {
	return status.Errorf(status.Invalid, "[program] the file ends at byte %d; want at least %d bytes", len(contents), want)
}
