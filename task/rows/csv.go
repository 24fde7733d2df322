package rows

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// csvFile reads comma-separated values with a header (RFC 4180). A quote inside a value that is not quoted is a character; white space belongs to the values. encoding/csv is not
// used because it reads a value whose quote is never closed to the end of the file into memory.
type csvFile struct {
	lines  *lines
	header []string
	number int64
}

// maxColumns bounds a header.
const maxColumns = 10_000

func openCSV(in io.ReadCloser, most int) (source, error) {
	c := &csvFile{lines: newLines(in, most)}
	header, err := c.record()
	if errors.Is(err, io.EOF) {
		return nil, errors.New("got an empty file, want a header")
	}
	if err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	if len(header) > maxColumns {
		return nil, fmt.Errorf("header: got %d columns, want at most %d", len(header), maxColumns)
	}
	seen := make(map[string]bool, len(header))
	for i, name := range header {
		name = strings.TrimSpace(name)
		if name == "" || seen[name] {
			return nil, fmt.Errorf("header: column %d: got name %q, empty or twice", i+1, clip(name))
		}
		seen[name], header[i] = true, name
	}
	c.header = header
	return c, nil
}

func (c *csvFile) next() (fields, int64, error) {
	values, err := c.record()
	if errors.Is(err, io.EOF) {
		return nil, c.number, err
	}
	c.number++
	if err != nil {
		return nil, c.number, err
	}
	if len(values) != len(c.header) {
		return nil, c.number, badf("got %d values, want %d as in the header (line %d)", len(values), len(c.header), c.lines.number)
	}
	f := make(fields, len(values))
	for i, v := range values {
		if !utf8.ValidString(v) {
			return nil, c.number, badf("column %s: got bytes that are not UTF-8 (line %d)", clip(c.header[i]), c.lines.number)
		}
		f[c.header[i]] = appendText(nil, v)
	}
	return f, c.number, nil
}

func (c *csvFile) total() (int64, bool) { return 0, false }
func (c *csvFile) close() error         { return c.lines.close() }

// record reads the values of the next record, which may have several lines. Empty lines between records are skipped.
func (c *csvFile) record() ([]string, error) {
	var line []byte
	for len(line) == 0 {
		var err error
		if line, err = c.lines.next(); err != nil {
			return nil, err
		}
		line = trimEnd(line)
	}
	var values []string
	for {
		if len(line) == 0 || line[0] != '"' {
			value, rest, more := bytes.Cut(line, []byte(","))
			values = append(values, string(value))
			if !more {
				return values, nil
			}
			line = rest
			continue
		}
		value, rest, err := c.quoted(line[1:])
		if err != nil {
			return nil, err
		}
		values = append(values, value)
		if len(rest) == 0 {
			return values, nil
		}
		if rest[0] != ',' {
			return nil, badf("got %q after a closing quote, want a comma (line %d)", clip(string(rest[:min(len(rest), 20)])), c.lines.number)
		}
		line = rest[1:]
	}
}

// quoted reads a value up to its closing quote; two quotes are one. It goes on to further lines where the value does.
func (c *csvFile) quoted(line []byte) (value string, rest []byte, err error) {
	first := c.lines.number
	var b strings.Builder
	for {
		before, after, closed := bytes.Cut(line, []byte(`"`))
		b.Write(before)
		if b.Len() > c.lines.most {
			return "", nil, fmt.Errorf("got a quoted value of more than %d bytes, from line %d on; where the next row begins cannot be told", c.lines.most, first)
		}
		switch {
		case closed && len(after) > 0 && after[0] == '"':
			b.WriteByte('"')
			line = after[1:]
			continue
		case closed:
			return b.String(), after, nil
		}
		b.WriteByte('\n')
		line, err = c.lines.next()
		var long *badRow
		switch {
		case errors.Is(err, io.EOF):
			return "", nil, fmt.Errorf("got a quote in line %d that is never closed", first)
		case errors.As(err, &long):
			return "", nil, long.err // inside a quote nobody knows where to go on
		case err != nil:
			return "", nil, err
		}
		line = trimEnd(line)
	}
}

// trimEnd takes the end of the line off.
func trimEnd(line []byte) []byte {
	line = bytes.TrimSuffix(line, []byte("\n"))
	return bytes.TrimSuffix(line, []byte("\r"))
}
