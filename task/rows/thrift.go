package rows

import (
	"errors"
	"fmt"
	"io"
	"math"
)

// walker goes through a value in Thrift's compact protocol, in which Parquet writes its footer and page headers, and tells of the numbers and the lists in it. The library
// makes every list as long as the file claims before it reads an element, and recursion as deep, which would end the process; so what a file claims is
// looked at here first.
type walker struct {
	in   thriftInput
	path []int16 // of field ids from the outermost struct on; an element of a list has the path of the list

	number func(path []int16, v int64) error
	list   func(path []int16, n int) error
	text   func(path []int16, n int) error
}

type thriftInput interface {
	io.ByteReader
	Discard(n int) (int, error)
}

// The types of the compact protocol.
const (
	thriftStop   = 0
	thriftTrue   = 1
	thriftFalse  = 2
	thriftByte   = 3
	thriftI16    = 4
	thriftI64    = 6
	thriftDouble = 7
	thriftBinary = 8
	thriftList   = 9
	thriftSet    = 10
	thriftStruct = 12
)

const maxThriftDepth = 32

func (w *walker) structure() error {
	if len(w.path) > maxThriftDepth {
		return errors.New("got structures that are nested too deep")
	}
	w.path = append(w.path, 0)
	defer func() { w.path = w.path[:len(w.path)-1] }()
	var id int16
	for {
		b, err := w.in.ReadByte()
		if err != nil {
			return err
		}
		kind := b & 0xf
		if b == thriftStop {
			return nil
		}
		if delta := b >> 4; delta != 0 {
			id += int16(delta)
		} else {
			v, err := w.varint()
			if err != nil {
				return err
			}
			id = int16(v)
		}
		w.path[len(w.path)-1] = id
		if kind == thriftTrue || kind == thriftFalse {
			continue // the type is the value
		}
		if err := w.value(kind); err != nil {
			return err
		}
	}
}

func (w *walker) value(kind byte) error {
	switch kind {
	case thriftTrue, thriftFalse, thriftByte:
		_, err := w.in.ReadByte()
		return err
	case thriftI16, thriftI16 + 1, thriftI64:
		v, err := w.varint()
		if err != nil || w.number == nil {
			return err
		}
		return w.number(w.path, v)
	case thriftDouble:
		_, err := w.in.Discard(8)
		return err
	case thriftBinary:
		n, err := w.size()
		if err == nil && w.text != nil {
			err = w.text(w.path, n)
		}
		if err != nil {
			return err
		}
		_, err = w.in.Discard(n)
		return err
	case thriftList, thriftSet:
		return w.elements()
	case thriftStruct:
		return w.structure()
	}
	return fmt.Errorf("got a value of unknown type %d", kind) // maps too: Parquet has none
}

func (w *walker) elements() error {
	b, err := w.in.ReadByte()
	if err != nil {
		return err
	}
	n := int(b >> 4)
	if n == 15 {
		if n, err = w.size(); err != nil {
			return err
		}
	}
	if w.list != nil {
		if err := w.list(w.path, n); err != nil {
			return err
		}
	}
	for range n {
		if err := w.value(b & 0xf); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) size() (int, error) {
	v, err := w.uvarint()
	if err == nil && v > math.MaxInt32 {
		err = fmt.Errorf("got a size of %d", v)
	}
	return int(v), err
}

func (w *walker) varint() (int64, error) {
	v, err := w.uvarint()
	return int64(v>>1) ^ -int64(v&1), err
}

func (w *walker) uvarint() (v uint64, err error) {
	for shift := 0; shift < 64; shift += 7 {
		b, err := w.in.ReadByte()
		if err != nil {
			return 0, err
		}
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return v, nil
		}
	}
	return 0, errors.New("got a number of more than 64 bits")
}
