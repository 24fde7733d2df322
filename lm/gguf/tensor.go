package gguf

import (
	"fmt"
	"slices"
)

// Tensor is an entry of the file's list.
type Tensor struct {
	Name  string // as in the file: blk.0.attn_q.weight
	Type  Type
	Shape []int // row-major as in Hugging Face's files: [out, in]; the file has it reversed

	values int
	offset int64 // of the data in the file, once placed
	bytes  int64
}

// Tensors lists the tensors in the order of the file.
func (f *File) Tensors() []Tensor {
	list := slices.Clone(f.tensors)
	for i := range list {
		list[i].Shape = slices.Clone(list[i].Shape)
	}
	return list
}

const (
	maxName   = 256 // bytes of a tensor's name
	maxDims   = 4
	maxValues = 1 << 36
)

func (f *File) readTensor(s *scanner) error {
	t := Tensor{Name: s.text(maxName)}
	dims := s.u32()
	if s.err != nil {
		return fmt.Errorf("tensor %d: %w", len(f.tensors), s.err)
	}
	fail := func(format string, args ...any) error {
		return fmt.Errorf("tensor %q: %w", brief(t.Name), fmt.Errorf(format, args...))
	}
	if dims == 0 || dims > maxDims {
		return fail("got %d dimensions, want 1 to %d", dims, maxDims)
	}
	values := uint64(1)
	for range dims {
		n := s.u64()
		if s.err == nil && (n == 0 || n > maxValues/values) {
			return fail("got a dimension of %d after %d values, want 1 to %d values", n, values, int64(maxValues))
		}
		values *= max(n, 1)
		t.Shape = append(t.Shape, int(n))
	}
	row := t.Shape[0] // the innermost dimension
	slices.Reverse(t.Shape)
	t.Type = Type(s.u32())
	offset := s.u64()
	if s.err != nil {
		return fail("%w", s.err)
	}
	if err := t.Type.check(); err != nil {
		return fail("type: %w", err)
	}
	per, bytes := t.Type.block()
	if row%per != 0 {
		return fail("got rows of %d values, want a multiple of %d for %s", row, per, t.Type)
	}
	t.values = int(values)
	t.bytes = int64(values) / int64(per) * int64(bytes)
	if offset > 1<<62 {
		return fail("got offset %d", offset)
	}
	t.offset = int64(offset)
	if _, ok := f.byName[t.Name]; ok {
		return fail("got it twice, want it once")
	}
	f.byName[t.Name] = len(f.tensors)
	f.tensors = append(f.tensors, t)
	return nil
}

// placeTensors makes offsets absolute and checks that data lie within the file, aligned,
// and apart from each other: a small file must not expand to a huge model.
func (f *File) placeTensors(start, size, align int64) error {
	order := make([]int, len(f.tensors))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		if d := f.tensors[a].offset - f.tensors[b].offset; d != 0 {
			return int(min(max(d, -1), 1))
		}
		return a - b
	})
	room := max(size-start, 0)
	end := int64(0)
	for _, i := range order {
		t := &f.tensors[i]
		switch {
		case t.offset%align != 0:
			return fmt.Errorf("tensor %q: got offset %d, want a multiple of %d", brief(t.Name), t.offset, align)
		case t.offset < end:
			return fmt.Errorf("tensor %q: got offset %d, want at least %d, where the tensor before it ends", brief(t.Name), t.offset, end)
		case t.offset > room || t.bytes > room-t.offset:
			return fmt.Errorf("tensor %q: got %d bytes at %d, want them within the %d bytes of data", brief(t.Name), t.bytes, t.offset, room)
		}
		end = t.offset + t.bytes
		t.offset += start
	}
	return nil
}

// Tensor reads a tensor and expands it to float32, row-major in the order of its Shape.
func (f *File) Tensor(name string) ([]float32, error) {
	i, ok := f.byName[name]
	if !ok {
		return nil, fmt.Errorf("gguf: tensor %q: got none of this name", brief(name))
	}
	dst := make([]float32, f.tensors[i].values)
	return dst, f.readInto(dst, &f.tensors[i])
}

// readInto reads t in pieces of whole blocks.
func (f *File) readInto(dst []float32, t *Tensor) error {
	const piece = 1 << 16 // values; a multiple of every block
	per, bytes := t.Type.block()
	buf := make([]byte, min(piece, t.values)/per*bytes)
	at := t.offset
	for len(dst) > 0 {
		n := min(piece, len(dst))
		src := buf[:n/per*bytes]
		if n, err := f.data.ReadAt(src, at); n < len(src) { // a full read may report io.EOF
			return fmt.Errorf("gguf: tensor %q: got %d bytes at %d, want %d: %w", brief(t.Name), n, at, len(src), err)
		}
		dequantize(t.Type, dst[:n], src)
		dst = dst[n:]
		at += int64(len(src))
	}
	return nil
}
