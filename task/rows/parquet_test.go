package rows

import (
	"bytes"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
)

type message struct {
	Role    string  `parquet:"role"`
	Content *string `parquet:"content,optional"`
}

type sample struct {
	Text    string             `parquet:"text,dict"`
	Maybe   *int64             `parquet:"maybe,optional"`
	Prompt  []message          `parquet:"prompt,list"`
	Plain   []int32            `parquet:"plain"`
	Info    *info              `parquet:"info,optional"`
	Float   float64            `parquet:"float"`
	Small   float32            `parquet:"small"`
	Yes     bool               `parquet:"yes"`
	Big     uint64             `parquet:"big"`
	When    time.Time          `parquet:"when,timestamp(millisecond)"`
	Date    int32              `parquet:"date,date"`
	Price   int64              `parquet:"price,decimal(2:10)"`
	ID      [16]byte           `parquet:"id,uuid"`
	Bytes   []byte             `parquet:"bytes"`
	Options map[string]float64 `parquet:"options"`
}

type info struct {
	Answers []string `parquet:"answers,list"`
	Index   int32    `parquet:"index"`
}

func ptr[T any](v T) *T { return &v }

func samples() []sample {
	return []sample{
		{
			Text: "zwölf \"a\"\n", Maybe: ptr(int64(-5)), Prompt: []message{{"user", ptr("hi")}, {"assistant", nil}}, Plain: []int32{1, 2, 3}, Info: &info{Answers: []string{"x", ""}, Index: 7},
			Float: 2.5, Small: 0.1, Yes: true, Big: math.MaxUint64, When: time.UnixMilli(1234567890123).UTC(), Date: -1, Price: -5, ID: [16]byte{0xff, 15: 1}, Bytes: []byte{0xff, 0}, Options: map[string]float64{"k": 1e300},
		},
		{Text: "", Float: math.NaN(), Small: float32(math.Inf(1)), Price: 123456, Info: &info{}, Bytes: []byte("text")},
		{Text: "c", Prompt: []message{}, Float: 5, Date: 19000},
	}
}

func parquetFileOf[T any](t testing.TB, rows []T, options ...parquet.WriterOption) []byte {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[T](&b, options...)
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestParquetTypes(t *testing.T) {
	for _, options := range [][]parquet.WriterOption{
		nil, {parquet.Compression(&parquet.Snappy)}, {parquet.Compression(&parquet.Zstd)}, {parquet.Compression(&parquet.Gzip)}, {parquet.Compression(&parquet.Brotli)}, {parquet.Compression(&parquet.Lz4Raw)},
		{parquet.DataPageVersion(1)}, {parquet.DataPageVersion(2), parquet.PageBufferSize(16)}, {parquet.MaxRowsPerRowGroup(1)}, {parquet.DataPageVersion(1), parquet.PageBufferSize(1), parquet.MaxRowsPerRowGroup(2)},
	} {
		all, _, err := readAll(t, write(t, "a.parquet", parquetFileOf(t, samples(), options...)), Options{})
		if err != nil {
			t.Fatal(err)
		}
		want := `1 big=18446744073709551615 bytes="/wA=" date="1969-12-31" float=2.5 id="ff000000-0000-0000-0000-000000000001" info={"answers":["x",""],"index":7} maybe=-5 options=[{"key":"k","value":1e+300}] plain=[1,2,3] price=-0.05 prompt=[{"role":"user","content":"hi"},{"role":"assistant","content":null}] small=0.1 text="zwölf \"a\"\n" when="2009-02-13T23:31:30.123Z" yes=true
2 big=0 bytes="text" date="1970-01-01" float=null id="00000000-0000-0000-0000-000000000000" info={"answers":[],"index":0} maybe=null options=[] plain=[] price=1234.56 prompt=[] small=null text="" when="0001-01-01T00:00:00Z" yes=false
3 big=0 bytes="" date="2022-01-08" float=5 id="00000000-0000-0000-0000-000000000000" info=null maybe=null options=[] plain=[] price=0.00 prompt=[] small=0 text="c" when="0001-01-01T00:00:00Z" yes=false
`
		if got := shown(all); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
}

// Lists in lists, and a list of lists of groups, put together from their levels.
func TestParquetNested(t *testing.T) {
	type inner struct {
		V []int32 `parquet:"v,list"`
	}
	type outer struct {
		L []inner `parquet:"l,list"`
		M []inner `parquet:"m"`
	}
	rows := []outer{
		{L: []inner{{[]int32{1}}, {nil}, {[]int32{2, 3}}}, M: []inner{{[]int32{4, 5}}}},
		{},
		{L: []inner{{}}, M: []inner{{}, {[]int32{6}}}},
	}
	all, _, err := readAll(t, write(t, "a.parquet", parquetFileOf(t, rows)), Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := "1 l=[{\"v\":[1]},{\"v\":[]},{\"v\":[2,3]}] m=[{\"v\":[4,5]}]\n2 l=[] m=[]\n3 l=[{\"v\":[]}] m=[{\"v\":[]},{\"v\":[6]}]\n"
	if got := shown(all); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestParquetBadRows(t *testing.T) {
	type row struct {
		A string `parquet:"a"`
	}
	rows := make([]row, 3000)
	rows[10].A = "\xff"
	rows[20].A = strings.Repeat("x", 5000)
	all, r, err := readAll(t, write(t, "a.parquet", parquetFileOf(t, rows)), Options{RowBytes: 4096})
	if err != nil || len(all) != 2998 {
		t.Fatalf("got %d rows, %v, want 2998", len(all), err)
	}
	if notes := strings.Join(r.Notes(), ""); !strings.Contains(notes, "skipped 2 bad rows of 3000: row 11: got a text that is not UTF-8; row 21: got a row of more than 4096 bytes") {
		t.Errorf("got notes %q", notes)
	}
	for i := range 10 {
		rows[i].A = "\xff"
	}
	// How many rows there are is known from the start, so that too many bad ones are told at once.
	if all, _, err := readAll(t, write(t, "b.parquet", parquetFileOf(t, rows)), Options{}); err == nil || len(all) != 0 || !strings.Contains(err.Error(), "got 4 bad rows of 4, want at most 0.1%: row 1: got a text that is not UTF-8") {
		t.Errorf("got %d rows, %v", len(all), err)
	}
}

// A page that takes more than it may is refused before it is read: here few bytes that would become 16 MiB.
func TestParquetBomb(t *testing.T) {
	type row struct {
		A string `parquet:"a"`
	}
	data := parquetFileOf(t, slices.Repeat([]row{{strings.Repeat("x", 1<<16)}}, 256), parquet.Compression(&parquet.Zstd), parquet.PageBufferSize(32<<20))
	if len(data) > 1<<20 {
		t.Fatalf("got a file of %d bytes", len(data))
	}
	_, _, err := readAll(t, write(t, "a.parquet", data), Options{PageBytes: 1 << 20})
	if err == nil || !strings.Contains(err.Error(), "got a page of 1677") || !strings.Contains(err.Error(), "want at most 1048576") {
		t.Errorf("got error %v, want one of the page", err)
	}
}

func TestParquetHostile(t *testing.T) {
	whole := parquetFileOf(t, samples())
	footer := int(whole[len(whole)-8]) | int(whole[len(whole)-7])<<8
	with := func(change func(b []byte) []byte) []byte { return change(bytes.Clone(whole)) }
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"empty":        {nil, "no Parquet file"},
		"text":         {[]byte("this is a text and no Parquet file"), "want \"PAR1\""},
		"cut":          {whole[:len(whole)-20], "want \"PAR1\""},
		"magic alone":  {[]byte("PAR1\x00\x00\x00\x00PAR1"), "footer"},
		"long footer":  {with(func(b []byte) []byte { copy(b[len(b)-8:], "\xff\xff\xff\x7f"); return b }), "got a footer of 2147483647 bytes"},
		"wrong footer": {with(func(b []byte) []byte { b[len(b)-8]++; return b }), ""},
		// A list of 2^31-1 schema elements, which the library would make room for.
		"claims":  {[]byte("PAR1" + "\x15\x02\x19\xfc\xff\xff\xff\xff\x07" + "\x09\x00\x00\x00PAR1"), "got a schema of 2147483647 elements"},
		"claims2": {[]byte("PAR1" + "\x15\x02\x19\x0c\x16\x00\x19\xfc\xff\xff\xff\xff\x07" + "\x0d\x00\x00\x00PAR1"), "got lists of more than"},
		"deep":    {[]byte("PAR1" + strings.Repeat("\x1c", 1000) + "\xe8\x03\x00\x00PAR1"), "nested too deep"},
		"no data": {append([]byte("PAR1"), whole[len(whole)-8-footer:]...), ""},
	} {
		all, _, err := readAll(t, write(t, "a.parquet", c.data), Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "a.parquet") {
			t.Errorf("%s: got %d rows, %v, want an error with %q", name, len(all), err, c.want)
		}
	}
}

// Whatever bytes of a file are changed, reading it ends, with an error or without.
func TestParquetDamaged(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	dir := t.TempDir()
	for _, whole := range [][]byte{parquetFileOf(t, samples()), parquetFileOf(t, samples(), parquet.Compression(&parquet.Snappy), parquet.DataPageVersion(1))} {
		broken := 0
		for i := range 1500 {
			data := bytes.Clone(whole)
			for range 1 + r.IntN(3) {
				at := r.IntN(len(data))
				if r.IntN(2) == 0 { // where it hurts
					at = len(data) - 1 - r.IntN(len(data)/2)
				}
				data[at] = byte(r.IntN(256))
			}
			if err := readBytes(dir, data); err != nil {
				broken++
				if strings.Contains(err.Error(), "\n") {
					t.Errorf("%d: got error %q, want a line", i, err)
				}
			}
		}
		if broken < 300 {
			t.Errorf("got %d errors of 1500 damaged files, want more", broken)
		}
	}
}

func readBytes(dir string, data []byte) error {
	path := filepath.Join(dir, "a.parquet")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		return err
	}
	r, err := Open(path, Options{PageBytes: 1 << 20, BadShare: 1})
	if err != nil {
		return err
	}
	defer r.Close()
	for range 100_000 {
		if _, err := r.Next(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
	return errors.New("does not end")
}

func FuzzParquet(f *testing.F) {
	f.Add(parquetFileOf(f, samples()))
	f.Add(parquetFileOf(f, samples(), parquet.Compression(&parquet.Snappy), parquet.DataPageVersion(1), parquet.MaxRowsPerRowGroup(1)))
	type row struct {
		A string `parquet:"a,optional"`
	}
	f.Add(parquetFileOf(f, []row{{"x"}, {""}}))
	f.Add([]byte("PAR1\x00\x00\x00\x00PAR1"))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := readBytes(dir, data); err != nil && err.Error() == "does not end" {
			t.Error(err)
		}
	})
}
