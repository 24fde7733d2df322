package lm

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/bits"
	"slices"
	"strings"

	"github.com/nlpodyssey/safetensors"
)

// shard is one safetensors file, read once from its beginning to its end: the header
// first, then the tensors in the order in which they lie.
type shard struct {
	name    string // for errors; empty if there is but one
	in      io.Reader
	size    uint64 // of the file, in bytes
	tensors map[string]*safetensors.TensorInfo
	order   []string // names by place in the file
}

// readHeader parses and checks the header: tensors lie one behind another, each as long
// as its shape and type say, and fill the file. What a hostile header can cost
// is bounded by the model's own names, since the parser's memory grows with the header
// by a large factor. need is the least number of bytes of tensors.
func (s *shard) readHeader(specs []tensorSpec, need uint64) error {
	const (
		perTensor = 256     // an entry beside its name
		metadata  = 1 << 16 // room for __metadata__ and padding
	)
	if s.size < 8 {
		return fmt.Errorf("got %d bytes, want at least the 8 of the header's length", s.size)
	}
	var prefix [8]byte
	if _, err := io.ReadFull(s.in, prefix[:]); err != nil {
		return fmt.Errorf("header: %w", err)
	}
	length, most := binary.LittleEndian.Uint64(prefix[:]), uint64(metadata)
	for _, spec := range specs {
		most += uint64(len(spec.name)) + perTensor
	}
	if length > most {
		return fmt.Errorf("header: got length %d, want at most %d for this model", length, most)
	}
	if s.size-8 < length {
		return fmt.Errorf("header: got length %d, want at most the %d bytes that follow", length, s.size-8)
	}
	if s.size-8-length < need {
		return fmt.Errorf("got %d bytes of tensors, want at least %d for this model", s.size-8-length, need)
	}
	text := make([]byte, length)
	if _, err := io.ReadFull(s.in, text); err != nil {
		return fmt.Errorf("header: %w", err)
	}
	var meta safetensors.Metadata
	if err := json.Unmarshal(text, &meta); err != nil {
		return fmt.Errorf("invalid header deserialization: %s", oneLine(err.Error()))
	}
	s.tensors = meta.Tensors()
	return s.checkOffsets(s.size - 8 - length)
}

// checkOffsets fills s.order; room is the number of bytes behind the header.
func (s *shard) checkOffsets(room uint64) error {
	s.order = slices.SortedFunc(maps.Keys(s.tensors), func(a, b string) int {
		x, y := s.tensors[a].DataOffsets, s.tensors[b].DataOffsets
		if c := slices.Compare(x[:], y[:]); c != 0 {
			return c
		}
		return strings.Compare(a, b)
	})
	var end uint64
	for _, name := range s.order {
		t := s.tensors[name]
		if t.DataOffsets[0] != end || t.DataOffsets[1] < end {
			return fmt.Errorf("tensor %q: invalid metadata offset: got bytes %d to %d, want them to begin at %d", oneLine(name), t.DataOffsets[0], t.DataOffsets[1], end)
		}
		size, ok := byteSize(t)
		if !ok || t.DataOffsets[1]-end != size {
			return fmt.Errorf("tensor %q: metadata validation error: got %d bytes, want those of shape %s in %v", oneLine(name), t.DataOffsets[1]-end, oneLine(fmt.Sprint(t.Shape)), t.DType)
		}
		end = t.DataOffsets[1]
	}
	if end != room {
		return fmt.Errorf("metadata incomplete buffer: got %d bytes of tensors, want %d as the header says", room, end)
	}
	return nil
}

// byteSize is a tensor's size by shape and type, unless it overflows.
func byteSize(t *safetensors.TensorInfo) (uint64, bool) {
	size := t.DType.Size()
	for _, n := range t.Shape {
		hi, lo := bits.Mul64(size, n)
		if hi != 0 {
			return 0, false
		}
		size = lo
	}
	return size, true
}

// read streams the shard's tensors to where place says, through one buffer. Nil
// from place skips a tensor.
func (s *shard) read(place func(name string) []float32) error {
	buf := make([]byte, 1<<18)
	for _, name := range s.order {
		t := s.tensors[name]
		dst := place(name)
		if dst == nil {
			if _, err := io.CopyN(io.Discard, s.in, int64(t.DataOffsets[1]-t.DataOffsets[0])); err != nil {
				return fmt.Errorf("tensor %s: %w", name, err)
			}
			continue
		}
		width := int(t.DType.Size())
		for at := 0; at < len(dst); {
			n := min(len(dst)-at, len(buf)/width)
			raw := buf[:n*width]
			if _, err := io.ReadFull(s.in, raw); err != nil {
				return fmt.Errorf("tensor %s: %w", name, err)
			}
			decodeTensor(dst[at:at+n], raw, t.DType)
			at += n
		}
		if err := checkFinite(dst); err != nil {
			return fmt.Errorf("tensor %s: %w", name, err)
		}
	}
	return nil
}
