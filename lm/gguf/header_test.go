package gguf

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/seed-095d5d2b/whale/lm"
)

func TestMetadataKinds(t *testing.T) {
	want := map[string]any{
		"u8": uint8(200), "i8": int8(-5), "u16": uint16(60000), "i16": int16(-300), "u32": uint32(1 << 31), "i32": int32(-7),
		"f32": float32(1.5), "b": true, "s": "héllo\n", "u64": uint64(1 << 63), "i64": int64(-1 << 62), "f64": 2.5,
		"as": []string{"a", "", "b c"}, "ai": []int32{1, -2}, "af": []float32{0.5}, "au": []uint64{}, "": "empty key",
	}
	for version := uint32(2); version <= 3; version++ {
		w := &writer{version: version}
		for k, v := range want {
			w.set(k, v)
		}
		w.add("x", F32, []int{1}, make([]byte, 4))
		f := mustParse(t, w.bytes())
		if f.Version != version || len(f.Meta) != len(want) {
			t.Fatalf("version %d, %d keys, want %d", f.Version, len(f.Meta), len(want))
		}
		for k, v := range want {
			if got := f.Meta[k]; !reflect.DeepEqual(got, v) {
				t.Errorf("%s: got %v (%T), want %v (%T)", k, got, got, v, v)
			}
		}
	}
}

func TestTensorList(t *testing.T) {
	w := &writer{version: 3, align: 64}
	w.set("general.alignment", uint32(64))
	w.add("q", Q4_0, []int{3, 64}, make([]byte, 6*18))
	w.addFloats("f", []int{2, 3}, []float32{1, 2, 3, 4, 5, 6})
	f := mustParse(t, w.bytes())
	list := f.Tensors()
	if len(list) != 2 || list[0].Name != "q" || list[0].Type != Q4_0 || !slices.Equal(list[0].Shape, []int{3, 64}) || !slices.Equal(list[1].Shape, []int{2, 3}) {
		t.Errorf("tensors %+v", list)
	}
	list[0].Shape[0] = 99 // a copy
	if got, err := f.Tensor("f"); err != nil || !slices.Equal(got, []float32{1, 2, 3, 4, 5, 6}) || f.Tensors()[0].Shape[0] != 3 {
		t.Errorf("f = %v, %v", got, err)
	}
}

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "m.gguf")
	w, want := fileOf(t, tiny(lm.Qwen3))
	if err := os.WriteFile(path, w.bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if m, err := f.Model(); err != nil || m.Hash() != want.Hash() {
		t.Errorf("the model of the opened file differs: %v", err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if _, err := f.Tensor(tokenEmbed); err == nil {
		t.Error("a closed file was read")
	}
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "no regular file") {
		t.Errorf("a folder: got error %v", err)
	}
	if _, err := Open(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: got error %v", err)
	}
	if err := os.WriteFile(path, []byte("GGUF"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("a short file: got error %v", err)
	}
}

func u32(n uint32) []byte { return binary.LittleEndian.AppendUint32(nil, n) }
func u64(n uint64) []byte { return binary.LittleEndian.AppendUint64(nil, n) }

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// header starts a file of that many tensors and keys.
func header(tensors, keys uint64) []byte {
	return join([]byte("GGUF"), u32(3), u64(tensors), u64(keys))
}

func TestParseRefuses(t *testing.T) {
	key := appendText(nil, "k")
	tensor := func(name string, dims []uint64, kind uint32, offset uint64) []byte {
		b := join(appendText(nil, name), u32(uint32(len(dims))))
		for _, d := range dims {
			b = append(b, u64(d)...)
		}
		return join(b, u32(kind), u64(offset))
	}
	pad := make([]byte, 512)
	cases := []struct {
		name string
		data []byte
		want string
	}{
		{"empty", nil, "got 0 bytes left, want 4 more"},
		{"another file", []byte("PK\x03\x04 and so on"), "got magic 0x04034b50"},
		{"version 1", join([]byte("GGUF"), u32(1), pad), "version: got 1, want 2 or 3"},
		{"big-endian", join([]byte("GGUF"), []byte{0, 0, 0, 3}, pad), "got big-endian"},
		{"cut", header(0, 0)[:20], "got 4 bytes left, want 8 more"},
		{"many tensors", header(1<<40, 0), "got 1099511627776 tensors"},
		{"many keys", header(0, 1<<63), "9223372036854775808 keys"},
		{"long key", join(header(0, 1), u64(1<<50)), "got a string of 1125899906842624 bytes, want at most 65536"},
		{"key past the end", join(header(0, 1), u64(100)), "got 0 bytes left, want 100 more"},
		{"long string", join(header(0, 1), key, u32(kindString), u64(1<<62)), `key "k": got a string of`},
		{"string past the end", join(header(0, 1), key, u32(kindString), u64(1<<20)), `key "k": got 0 bytes left, want 1048576 more`},
		{"unknown kind", join(header(0, 1), key, u32(13), pad), `key "k": got kind 13, want 0 to 12`},
		{"a bool of 2", join(header(0, 1), key, u32(kindBool), []byte{2}), `key "k": got 2, want a bool of 0 or 1`},
		{"long array", join(header(0, 1), key, u32(kindArray), u32(kindUint8), u64(1<<63), pad), "got an array of 9223372036854775808 elements, want at most 512"},
		{"long array of strings", join(header(0, 1), key, u32(kindArray), u32(kindString), u64(65), pad), "got an array of 65 elements, want at most 64"},
		{"array of arrays", join(header(0, 1), key, u32(kindArray), u32(kindArray), u64(1), pad), "got an array of kind 9"},
		{"key twice", join(header(0, 2), key, u32(kindUint8), []byte{1}, key, u32(kindUint8), []byte{1}), `key "k": got it twice`},
		{"alignment", join(header(0, 1), appendText(nil, "general.alignment"), u32(kindUint32), u32(3)), "general.alignment: got 3, want a power of two"},
		{"alignment of text", join(header(0, 1), appendText(nil, "general.alignment"), u32(kindString), u64(0)), `general.alignment: got "", want`},
		{"no dimensions", join(header(1, 0), tensor("t", nil, 0, 0)), `tensor "t": got 0 dimensions`},
		{"five dimensions", join(header(1, 0), tensor("t", []uint64{1, 1, 1, 1, 1}, 0, 0)), "got 5 dimensions"},
		{"dimension 0", join(header(1, 0), tensor("t", []uint64{4, 0}, 0, 0), pad), "got a dimension of 0"},
		{"dimensions overflow", join(header(1, 0), tensor("t", []uint64{1 << 33, 1 << 33}, 0, 0), pad), "got a dimension of 8589934592"},
		{"unread type", join(header(1, 0), tensor("t", []uint64{256}, 10, 0), pad), `tensor "t": type: got Q2_K, want one of F32, F16`},
		{"unknown type", join(header(1, 0), tensor("t", []uint64{256}, 999, 0), pad), "type: got type 999"},
		{"rows of part of a block", join(header(1, 0), tensor("t", []uint64{16}, 2, 0), pad), "got rows of 16 values, want a multiple of 32 for Q4_0"},
		{"offset not aligned", join(header(1, 0), tensor("t", []uint64{1}, 0, 8), pad), "got offset 8, want a multiple of 32"},
		{"huge offset", join(header(1, 0), tensor("t", []uint64{1}, 0, 1<<63), pad), "got offset 9223372036854775808"},
		{"data past the end", join(header(1, 0), tensor("t", []uint64{1 << 30}, 0, 0), pad), "got 4294967296 bytes at 0, want them within"},
		{"offset past the end", join(header(1, 0), tensor("t", []uint64{1}, 0, 1<<40), pad), "got 4 bytes at 1099511627776"},
		{"no data at all", join(header(1, 0), tensor("t", []uint64{1}, 0, 0)), "want them within the 0 bytes of data"},
		{"tensor twice", join(header(2, 0), tensor("t", []uint64{1}, 0, 0), tensor("t", []uint64{1}, 0, 32), pad), `tensor "t": got it twice`},
		{"overlap", join(header(2, 0), tensor("a", []uint64{16}, 0, 0), tensor("b", []uint64{1}, 0, 32), pad), `tensor "b": got offset 32, want at least 64`},
		{"long name", join(header(1, 0), u64(300), pad), "got a string of 300 bytes, want at most 256"},
	}
	for _, c := range cases {
		_, err := parse(c.data)
		switch {
		case err == nil || !strings.Contains(err.Error(), c.want):
			t.Errorf("%s: got error %v, want %s", c.name, err, c.want)
		case strings.ContainsAny(err.Error(), "\r\n") || len(err.Error()) > 500:
			t.Errorf("%s: error is not one short line: %q", c.name, err)
		}
	}
}

// A file that says it is long but is not, and a disk that fails.
func TestShortReads(t *testing.T) {
	w, _ := fileOf(t, tiny(lm.Qwen2))
	data := w.bytes()
	f := mustParse(t, data)
	f.data = bytes.NewReader(data[:len(data)-1])
	last := f.tensors[len(f.tensors)-1].Name
	if _, err := f.Tensor(last); err == nil || !strings.Contains(err.Error(), last) {
		t.Errorf("the file became shorter: got error %v", err)
	}
	broken := errors.New("disk on fire")
	s := &scanner{in: iotest.ErrReader(broken), left: 100, budget: 100}
	if s.u32(); !errors.Is(s.err, broken) {
		t.Errorf("reader's error is lost: %v", s.err)
	}
}

// Cutting a file anywhere, or changing any byte of its header, is an error or a
// file that can be read; never a panic.
func TestDamagedHeaders(t *testing.T) {
	w, _ := fileOf(t, tiny(lm.Llama))
	addTokenizer(w)
	data := w.bytes()
	for n := 0; n < len(data); n += 1 + n/512 {
		if _, err := parse(data[:n]); err == nil {
			t.Fatalf("the first %d of %d bytes pass for a file", n, len(data))
		}
	}
	for i := 0; i < 6000 && i < len(data); i += 1 + i/400 {
		for _, b := range []byte{0, 1, 0x7f, 0xff} {
			damaged := bytes.Clone(data)
			damaged[i] = b
			use(damaged)
		}
	}
}

// use does everything that can be done with a file.
func use(data []byte) {
	f, err := parse(data)
	if err != nil {
		return
	}
	_, _ = f.Config()
	_, _ = f.Model()
	_, _ = f.EOS()
	_ = f.ChatTemplate()
	if tok, err := f.Tokenizer(); err == nil {
		tok.Encode("a text of 12 words <|im_end|>")
	}
	for _, t := range f.tensors {
		_, _ = f.Tensor(t.Name)
	}
}
