package gguf

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Kinds of metadata values, by the format's numbers.
const (
	kindUint8 = iota
	kindInt8
	kindUint16
	kindInt16
	kindUint32
	kindInt32
	kindFloat32
	kindBool
	kindString
	kindArray
	kindUint64
	kindInt64
	kindFloat64
)

// scanner reads the header, never more than the file has.
type scanner struct {
	in      interface{ Read([]byte) (int, error) }
	left    int64 // bytes of the file not yet read
	read    int64
	budget  int64 // bytes that the header may still take
	err     error
	scratch [8]byte
}

func (s *scanner) fail(format string, args ...any) {
	if s.err == nil {
		s.err = fmt.Errorf(format, args...)
	}
}

// take accounts for n bytes and reports whether they are there.
func (s *scanner) take(n uint64) bool {
	switch {
	case s.err != nil:
		return false
	case n > uint64(s.left):
		s.fail("got %d bytes left, want %d more", s.left, n)
		return false
	case n > uint64(s.budget):
		s.fail("got more than %d bytes of header", int64(maxHeader))
		return false
	}
	s.left -= int64(n)
	s.read += int64(n)
	s.budget -= int64(n)
	return true
}

func (s *scanner) fill(b []byte) {
	for len(b) > 0 && s.err == nil {
		n, err := s.in.Read(b)
		b = b[n:]
		if err != nil && len(b) > 0 {
			s.fail("%w", err)
		}
	}
}

func (s *scanner) fixed(n int) []byte {
	b := s.scratch[:n]
	clear(b)
	if s.take(uint64(n)) {
		s.fill(b)
	}
	return b
}

func (s *scanner) u32() uint32 { return binary.LittleEndian.Uint32(s.fixed(4)) }
func (s *scanner) u64() uint64 { return binary.LittleEndian.Uint64(s.fixed(8)) }

// text reads a string of at most most bytes.
func (s *scanner) text(most uint64) string {
	n := s.u64()
	if s.err == nil && n > most {
		s.fail("got a string of %d bytes, want at most %d", n, most)
	}
	if !s.take(n) {
		return ""
	}
	b := make([]byte, n)
	s.fill(b)
	return string(b)
}

// value reads a value of that kind.
func (s *scanner) value(kind uint32) any {
	switch kind {
	case kindUint8:
		return s.fixed(1)[0]
	case kindInt8:
		return int8(s.fixed(1)[0])
	case kindUint16:
		return binary.LittleEndian.Uint16(s.fixed(2))
	case kindInt16:
		return int16(binary.LittleEndian.Uint16(s.fixed(2)))
	case kindUint32:
		return s.u32()
	case kindInt32:
		return int32(s.u32())
	case kindFloat32:
		return math.Float32frombits(s.u32())
	case kindBool:
		return s.flag()
	case kindString:
		return s.text(maxString)
	case kindUint64:
		return s.u64()
	case kindInt64:
		return int64(s.u64())
	case kindFloat64:
		return math.Float64frombits(s.u64())
	case kindArray:
		return s.array()
	}
	s.fail("got kind %d, want 0 to %d", kind, kindFloat64)
	return nil
}

func (s *scanner) flag() bool {
	switch b := s.fixed(1)[0]; b {
	case 0, 1:
		return b == 1
	default:
		s.fail("got %d, want a bool of 0 or 1", b)
		return false
	}
}

// array reads an array of scalars or strings; arrays of arrays are refused.
func (s *scanner) array() any {
	kind := s.u32()
	n := s.u64()
	switch kind {
	case kindUint8:
		return elements(s, n, 1, func() uint8 { return s.value(kind).(uint8) })
	case kindInt8:
		return elements(s, n, 1, func() int8 { return s.value(kind).(int8) })
	case kindUint16:
		return elements(s, n, 2, func() uint16 { return s.value(kind).(uint16) })
	case kindInt16:
		return elements(s, n, 2, func() int16 { return s.value(kind).(int16) })
	case kindUint32:
		return elements(s, n, 4, s.u32)
	case kindInt32:
		return elements(s, n, 4, func() int32 { return int32(s.u32()) })
	case kindFloat32:
		return elements(s, n, 4, func() float32 { return math.Float32frombits(s.u32()) })
	case kindBool:
		return elements(s, n, 1, s.flag)
	case kindString:
		return elements(s, n, 8, func() string { return s.text(maxString) })
	case kindUint64:
		return elements(s, n, 8, s.u64)
	case kindInt64:
		return elements(s, n, 8, func() int64 { return int64(s.u64()) })
	case kindFloat64:
		return elements(s, n, 8, func() float64 { return math.Float64frombits(s.u64()) })
	}
	s.fail("got an array of kind %d, want a scalar kind or strings", kind)
	return nil
}

// elements reads n elements of at least size bytes each. The memory for them is at
// most a small multiple of bytes that the file still has.
func elements[T any](s *scanner, n, size uint64, next func() T) []T {
	if most := uint64(min(s.left, s.budget)) / size; s.err == nil && n > most {
		s.fail("got an array of %d elements, want at most %d in what is left of the file or of the header's %d bytes", n, most, int64(maxHeader))
	}
	if s.err != nil {
		return nil
	}
	list := make([]T, 0, n)
	for range n {
		list = append(list, next())
		if s.err != nil {
			return nil
		}
	}
	return list
}
