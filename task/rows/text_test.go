package rows

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"
)

func gzipped(t *testing.T, data string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := io.WriteString(z, data); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zstandard(t *testing.T, data string) []byte {
	t.Helper()
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	return z.EncodeAll([]byte(data), nil)
}

// shown writes rows as "number field=value …", with fields in order.
func shown(all []Row) string {
	var b strings.Builder
	for _, r := range all {
		fmt.Fprintf(&b, "%d", r.Number())
		for _, n := range slices.Sorted(maps.Keys(r.fields)) {
			fmt.Fprintf(&b, " %s=%s", n, r.fields[n])
		}
		b.WriteString("\n")
	}
	return b.String()
}

func TestText(t *testing.T) {
	lines := "\xef\xbb\xbf" + `{"a": 1, "b": "é"}` + "\r\n\n  \n" + `{"a": {"x": [1, {"y": null}]}}` + "\n" + `{}`
	linesWant := "1 a=1 b=\"é\"\n4 a={\"x\": [1, {\"y\": null}]}\n5\n"
	table := "\xef\xbb\xbfid,text\r\n1,\"two\nlines, \"\"quoted\"\"\"\n\n2,5\" pipe\n\"3\",\n4, spaced \r\n"
	tableWant := "1 id=\"1\" text=\"two\\nlines, \\\"quoted\\\"\"\n2 id=\"2\" text=\"5\\\" pipe\"\n3 id=\"3\" text=\"\"\n4 id=\"4\" text=\" spaced \"\n"
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"a.jsonl": {[]byte(lines), linesWant}, "a.ndjson": {[]byte(lines), linesWant}, "A.JSONL.GZ": {gzipped(t, lines), linesWant}, "a.jsonl.zst": {zstandard(t, lines), linesWant},
		"a.csv": {[]byte(table), tableWant}, "a.csv.gz": {gzipped(t, table), tableWant}, "a.csv.zst": {zstandard(t, table), tableWant},
		"members.csv.gz": {append(gzipped(t, "id\n1\n"), gzipped(t, "2\n")...), "1 id=\"1\"\n2 id=\"2\"\n"},
		"frames.csv.zst": {append(zstandard(t, "id\n1\n"), zstandard(t, "2\n")...), "1 id=\"1\"\n2 id=\"2\"\n"},
		"empty.jsonl":    {nil, ""}, "header.csv": {[]byte("a,b"), ""}, "last.csv": {[]byte("a,b\n1,\"2\""), "1 a=\"1\" b=\"2\"\n"},
	} {
		all, r, err := readAll(t, write(t, name, c.data), Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := shown(all); got != c.want || r.Notes() != nil {
			t.Errorf("%s: got\n%swant\n%s(notes %q)", name, got, c.want, r.Notes())
		}
	}
}

// A bad row among many is skipped, counted and named; more than the share is an error that names the first ones; so is what leaves nothing to go on with.
func TestBadRows(t *testing.T) {
	good := strings.Repeat(`{"a": 1}`+"\n", 2999)
	all, r, err := readAll(t, write(t, "a.jsonl", []byte(`{"a": }`+"\n"+good+`x`+"\n"+good+"\xff")), Options{})
	if err != nil || len(all) != 5998 {
		t.Fatalf("got %d rows, %v, want 5998", len(all), err)
	}
	notes := strings.Join(r.Notes(), "\n")
	for _, want := range []string{"a.jsonl: skipped 3 bad rows of 6001: row 1: invalid character '}'", "row 3001: got \"x\", want a JSON object", "row 6001: got bytes that are not UTF-8"} {
		if !strings.Contains(notes, want) {
			t.Errorf("got notes %q, want %q in them", notes, want)
		}
	}
	long := `{"a": "` + strings.Repeat("x", 5000) + `"}`
	for _, c := range []struct{ name, data, want string }{
		{"one of two.jsonl", `{"a": 1}` + "\n[1]\n", `got 1 bad rows of 2, want at most 0.1%: row 2: got "[1]", want a JSON object`},
		{"three of 2002.jsonl", good[:9*1999] + "x\ny\nz\n", "got 3 bad rows of 2002, want at most 0.1%: row 2000: got \"x\""},
		{"nonsense.jsonl", strings.Repeat("nonsense\n", 5000), "got 1000 bad rows of 1000"},
		{"long.jsonl", `{"a": 1}` + "\n" + long + "\n" + `{"a": 2}`, "row 2: got a line of more than 4096 bytes"},
		{"long at the end.jsonl", long, "row 1: got a line of more than 4096 bytes"},
		{"two objects.jsonl", `{} {}`, "row 1: invalid character '{' after top-level value"},
		{"deep.jsonl", `{"a": ` + strings.Repeat("[", 4000), "row 1: unexpected end of JSON input"},
		{"empty.csv", "", "got an empty file, want a header"},
		{"twice.csv", "a,a\n", `header: column 2: got name "a", empty or twice`},
		{"nameless.csv", "a,,b\n", `header: column 2: got name "", empty or twice`},
		{"few.csv", "a,b\n1\n", "row 1: got 1 values, want 2 as in the header (line 2)"},
		{"many.csv", "a,b\n\"x\ny\",2\n1,2,3\n", "row 2: got 3 values, want 2 as in the header (line 4)"},
		{"after quote.csv", "a\n\"x\"y\n", `row 1: got "y" after a closing quote, want a comma (line 2)`},
		{"open quote.csv", "a\n1\n\"x\ny\n", "row 2: got a quote in line 3 that is never closed"},
		{"endless quote.csv", "a\n\"" + strings.Repeat("x\n", 5000), "row 1: got a quoted value of more than 4096 bytes, from line 2 on"},
		{"long quote.csv", "a\n\"x\n" + strings.Repeat("x", 5000) + "\n\"\n", "row 1: got a line of more than 4096 bytes"},
		{"long.csv", "a\n" + strings.Repeat("x", 5000) + "\n", "row 1: got a line of more than 4096 bytes"},
		{"encoding.csv", "a\n\xff\n", "row 1: column a: got bytes that are not UTF-8 (line 2)"},
		{"wide.csv", strings.Repeat("a,", 2000) + "a\n", "empty or twice"},
	} {
		_, _, err := readAll(t, write(t, c.name, []byte(c.data)), Options{RowBytes: 4096})
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), c.name) {
			t.Errorf("%s: got error %v, want one with %q", c.name, err, c.want)
		} else if strings.Contains(err.Error(), "\n") || len(err.Error()) > 900 {
			t.Errorf("%s: got error %q, want a line", c.name, err)
		}
	}
}

func TestBadOfCaller(t *testing.T) {
	path := write(t, "a.jsonl", []byte(strings.Repeat(`{"a": 1}`+"\n", 100)))
	open := func(share float64) (*Reader, Row) {
		r, err := Open(path, Options{BadShare: share})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { r.Close() })
		row, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		return r, row
	}
	drain := func(r *Reader) error {
		for {
			if _, err := r.Next(); err != nil {
				return err
			}
		}
	}
	r, row := open(0.01)
	if err := r.Bad(row, errors.New("no\nuse")); err != nil {
		t.Errorf("a bad row of a hundred: got %v", err)
	}
	if err := drain(r); !errors.Is(err, io.EOF) || len(r.Notes()) != 1 || !strings.Contains(r.Notes()[0], "skipped 1 bad rows of 100: row 1: no use") {
		t.Errorf("got %v, notes %q", err, r.Notes())
	}
	r, row = open(0)
	if err := r.Bad(row, errors.New("no use")); err != nil {
		t.Errorf("got %v, want the judgement at the end", err)
	}
	if err := drain(r); err == nil || !strings.Contains(err.Error(), "got 1 bad rows of 100, want at most 0.1%: row 1: no use") {
		t.Errorf("got %v", err)
	}
	r, row = open(-1)
	err := r.Bad(row, errors.New("no use"))
	if err == nil || !strings.Contains(err.Error(), "row 1: no use") {
		t.Errorf("without leave for bad rows: got %v", err)
	}
	if _, again := r.Next(); again == nil || again.Error() != err.Error() {
		t.Errorf("afterwards: got %v, want the same error", again)
	}
}

func TestBrokenFiles(t *testing.T) {
	whole := gzipped(t, strings.Repeat(`{"a": 1}`+"\n", 10000))
	frame := zstandard(t, strings.Repeat(`{"a": 1}`+"\n", 10000))
	for name, data := range map[string][]byte{
		"cut.jsonl.gz": whole[:len(whole)/2], "none.jsonl.gz": []byte("x"), "cut.jsonl.zst": frame[:len(frame)/2], "none.csv.zst": []byte("nonsense"), "empty.csv.gz": {},
		"window.jsonl.zst": {0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xff, 0x01, 0x00, 0x00}, // a window of gigabytes
	} {
		if _, _, err := readAll(t, write(t, name, data), Options{}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got error %v, want one that names the file", name, err)
		}
	}
	for _, name := range []string{"a.txt", "a.json", "a", "a.parquet.gz", "a.gz"} {
		if _, err := Open(write(t, name, nil), Options{}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got error %v", name, err)
		}
	}
	if _, err := Open(t.TempDir(), Options{Format: FormatJSONL}); err == nil || !strings.Contains(err.Error(), "got a folder") {
		t.Errorf("a folder: got error %v", err)
	}
	if _, err := Open("/nowhere/a.jsonl", Options{}); err == nil {
		t.Error("no file: got no error")
	}
	for _, o := range []Options{{RowBytes: -1}, {PageBytes: -1}, {BadShare: 2}, {Format: "xml"}, {RowBytes: 1 << 31}} {
		if _, err := Open(write(t, "a.jsonl", nil), o); err == nil {
			t.Errorf("%+v: got no error", o)
		}
	}
	r, err := Open(write(t, "a.jsonl", []byte("{}")), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := r.Next(); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Errorf("after Close: got %v", err)
	}
}

// What encoding/csv writes comes back, field by field.
func TestCSVRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		columns := rapid.IntRange(1, 4).Draw(rt, "columns")
		cell := rapid.StringMatching(`[a-zé ,"\n]{0,6}`)
		records := rapid.SliceOfN(rapid.SliceOfN(cell, columns, columns), 0, 5).Draw(rt, "records")
		var b bytes.Buffer
		w := csv.NewWriter(&b)
		header := make([]string, columns)
		for i := range header {
			header[i] = fmt.Sprintf("c%d", i)
		}
		if err := w.WriteAll(append([][]string{header}, records...)); err != nil {
			rt.Fatal(err)
		}
		records = slices.DeleteFunc(records, func(r []string) bool { return len(r) == 1 && r[0] == "" }) // an empty line
		s, err := openCSV(io.NopCloser(bytes.NewReader(b.Bytes())), 1<<20)
		if err != nil {
			rt.Fatal(err)
		}
		for i, want := range records {
			f, number, err := s.next()
			if err != nil || number != int64(i+1) {
				rt.Fatalf("record %d: got number %d, %v", i+1, number, err)
			}
			for j, cell := range want {
				var got string
				if err := json.Unmarshal(f[header[j]], &got); err != nil || got != cell {
					rt.Fatalf("record %d: got %q, %v, want %q", i+1, got, err, cell)
				}
			}
		}
		if _, _, err := s.next(); !errors.Is(err, io.EOF) {
			rt.Fatalf("at the end: got %v", err)
		}
	})
}

// drain reads a source as a reader would, with a bound on what it may take.
func drain(t *testing.T, s source, most int) {
	t.Helper()
	for n := 0; ; n++ {
		_, number, err := s.next()
		var bad *badRow
		if err != nil && !errors.As(err, &bad) {
			return
		}
		if n > most || number < 0 {
			t.Fatalf("got %d rows, number %d", n, number)
		}
	}
}

func FuzzJSONL(f *testing.F) {
	for _, s := range []string{"", "{}\n", "\xef\xbb\xbf{\"a\": 1}\r\n\n{", `{"a": "\ud800"}`, "[]", "\x00", strings.Repeat("x", 200)} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		drain(t, openJSONL(io.NopCloser(bytes.NewReader(data)), 100), len(data))
	})
}

func FuzzCSV(f *testing.F) {
	for _, s := range []string{"", "a,b\n1,2\n", "a\n\"x\n\"\"y\"\n", "a\n\"", "a,b\r\n,\r\n", "\"a\n\",b\n1,2", "a\n\"x\"y"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := openCSV(io.NopCloser(bytes.NewReader(data)), 100)
		if err == nil {
			drain(t, s, len(data))
		}
	})
}
