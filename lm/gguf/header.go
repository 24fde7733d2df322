package gguf

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// Limits on a header.
const (
	maxHeader  = 256 << 20 // bytes of metadata and tensor list; Qwen3's has 6 MB
	maxString  = 16 << 20  // bytes
	maxKey     = 1 << 16   // bytes
	maxEntries = 1 << 16   // metadata keys; tensors
	maxAlign   = 1 << 16
)

// File is an open GGUF file. Its methods may be called concurrently.
type File struct {
	// Meta is the metadata: uint8 to float64, bool, string, or a slice of one of these.
	// It is not to be changed.
	Meta    map[string]any
	Version uint32

	tensors []Tensor // in the order of the file
	byName  map[string]int
	data    io.ReaderAt
	closer  io.Closer
}

// Open reads the header of a GGUF file of version 2 or 3 and checks it whole; tensors
// are read when asked for. The file must be closed.
func Open(path string) (*File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: got no regular file", path)
	}
	var file *File
	if err == nil {
		file, err = Parse(f, info.Size())
		if err != nil {
			err = fmt.Errorf("%s: %w", path, err)
		}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	file.closer = f
	return file, nil
}

// Close closes the file that Open opened.
func (f *File) Close() error {
	if f.closer == nil {
		return nil
	}
	return f.closer.Close()
}

// Parse is Open on size bytes of r, which the File goes on using.
func Parse(r io.ReaderAt, size int64) (*File, error) {
	s := &scanner{in: bufio.NewReaderSize(io.NewSectionReader(r, 0, size), 1<<16), left: size, budget: maxHeader}
	f := &File{Meta: make(map[string]any), byName: make(map[string]int), data: r}
	err := f.parse(s, size)
	if err != nil {
		return nil, fmt.Errorf("gguf: %w", err)
	}
	return f, nil
}

func (f *File) parse(s *scanner, size int64) error {
	const magic, bigEndian3 = 0x46554747, 3 << 24 // "GGUF"
	if got := s.u32(); s.err == nil && got != magic {
		return fmt.Errorf("got magic 0x%08x, want 0x%08x (GGUF)", got, magic)
	}
	f.Version = s.u32()
	switch {
	case s.err != nil:
	case f.Version == bigEndian3 || f.Version == 2<<24:
		return fmt.Errorf("unsupported byte order: got big-endian, want little-endian")
	case f.Version != 2 && f.Version != 3:
		return fmt.Errorf("version: got %d, want 2 or 3", f.Version)
	}
	tensors, keys := s.u64(), s.u64()
	if s.err == nil && (tensors > maxEntries || keys > maxEntries) {
		return fmt.Errorf("got %d tensors and %d keys, want at most %d", tensors, keys, maxEntries)
	}
	for range keys {
		if err := f.readKey(s); err != nil {
			return err
		}
	}
	align, err := f.alignment()
	if err != nil {
		return err
	}
	for range tensors {
		if err := f.readTensor(s); err != nil {
			return err
		}
	}
	if s.err != nil {
		return s.err
	}
	return f.placeTensors((s.read+align-1)/align*align, size, align)
}

func (f *File) readKey(s *scanner) error {
	key := s.text(maxKey)
	if s.err != nil {
		return fmt.Errorf("key %d: %w", len(f.Meta), s.err)
	}
	if _, ok := f.Meta[key]; ok {
		return fmt.Errorf("key %q: got it twice, want it once", brief(key))
	}
	f.Meta[key] = s.value(s.u32())
	if s.err != nil {
		return fmt.Errorf("key %q: %w", brief(key), s.err)
	}
	return nil
}

// alignment is that of tensor data, in bytes.
func (f *File) alignment() (int64, error) {
	const key, usual = "general.alignment", 32
	v, ok := f.Meta[key]
	if !ok {
		return usual, nil
	}
	n, ok := v.(uint32)
	if !ok || n == 0 || n > maxAlign || n&(n-1) != 0 {
		return 0, fmt.Errorf("%s: got %s, want a power of two up to %d", key, show(v), maxAlign)
	}
	return int64(n), nil
}

// brief makes text from the file fit for an error: one line, short.
func brief(s string) string {
	const most = 80
	if len(s) > most {
		s = s[:most] + "…"
	}
	return strings.ToValidUTF8(strings.Join(strings.Fields(s), " "), "\ufffd")
}

// show is a metadata value in an error.
func show(v any) string {
	switch v := v.(type) {
	case nil:
		return "nothing"
	case string:
		return fmt.Sprintf("%q", brief(v))
	case int, uint8, int8, uint16, int16, uint32, int32, uint64, int64, float32, float64, bool:
		return fmt.Sprint(v)
	}
	return "an array"
}
