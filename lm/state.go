package lm

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"math"
)

// The optimiser's state, all little-endian:
//
//	magic [8]byte · sha256 of the model's config [32]byte · parameters uint64 ·
//	steps uint64 · first moments, then second, float32 each ·
//	sha256 of all before [32]byte
var stateMagic = [8]byte{'w', 'h', 'a', 'l', 'e', 'o', 'p', '1'}

type stateHeader struct {
	Magic  [8]byte
	Config [sha256.Size]byte
	Params uint64
	Steps  uint64
}

// WriteState writes the optimiser's moments and step count; ReadState restores them
// to the bit. The weights are not part of it. It is an error while gradients are
// accumulated, since they would be lost.
func (t *Trainer) WriteState(w io.Writer) error {
	if t.weight != 0 {
		return fmt.Errorf("write optimiser state: got accumulated weight %g, want none: step first", t.weight)
	}
	config, err := t.configHash()
	if err != nil {
		return fmt.Errorf("write optimiser state: %w", err)
	}
	sum := sha256.New()
	out := io.MultiWriter(w, sum)
	err = binary.Write(out, binary.LittleEndian, stateHeader{stateMagic, config, uint64(len(t.params)), t.steps})
	if err == nil {
		err = writeFloats(out, t.moment.first)
	}
	if err == nil {
		err = writeFloats(out, t.moment.second)
	}
	if err == nil {
		_, err = w.Write(sum.Sum(nil))
	}
	if err != nil {
		return fmt.Errorf("write optimiser state: %w", err)
	}
	return nil
}

// ReadState replaces the optimiser's moments and step count by what WriteState wrote
// for a model of the same config, and drops accumulated gradients. It reads r to the
// end. On an error nothing changes.
func (t *Trainer) ReadState(r io.Reader) error {
	first, second, steps, err := t.readState(r)
	if err != nil {
		return fmt.Errorf("read optimiser state: %w", err)
	}
	t.moment.first, t.moment.second, t.steps = first, second, steps
	t.discard()
	return nil
}

func (t *Trainer) readState(r io.Reader) (first, second []float32, steps uint64, err error) {
	config, err := t.configHash()
	if err != nil {
		return nil, nil, 0, err
	}
	sum := sha256.New()
	in := io.TeeReader(r, sum)
	var h stateHeader
	if err := binary.Read(in, binary.LittleEndian, &h); err != nil {
		return nil, nil, 0, fmt.Errorf("header: %w", err)
	}
	switch {
	case h.Magic != stateMagic:
		return nil, nil, 0, fmt.Errorf("header: got %q, want %q", h.Magic[:], stateMagic[:])
	case h.Config != config || h.Params != uint64(len(t.params)):
		return nil, nil, 0, fmt.Errorf("header: got the state of another model (%d parameters), want that of this config (%d)", h.Params, len(t.params))
	case h.Steps > math.MaxInt32:
		return nil, nil, 0, fmt.Errorf("steps: got %d, want at most %d", h.Steps, math.MaxInt32)
	}
	n := len(t.params)
	first, second = make([]float32, n), make([]float32, n)
	for _, xs := range [][]float32{first, second} {
		if err := readFloats(in, xs); err != nil {
			return nil, nil, 0, fmt.Errorf("moments: %w", err)
		}
		if err := checkFinite(xs); err != nil {
			return nil, nil, 0, fmt.Errorf("moments: %w", err)
		}
	}
	for i, x := range second {
		if x < 0 {
			return nil, nil, 0, fmt.Errorf("second moment %d: got %g, want at least 0", i, x)
		}
	}
	return first, second, h.Steps, checkTrailer(r, sum)
}

// checkTrailer compares the checksum with what was read and wants nothing after it.
func checkTrailer(r io.Reader, sum hash.Hash) error {
	var got [sha256.Size]byte
	if _, err := io.ReadFull(r, got[:]); err != nil {
		return fmt.Errorf("checksum: %w", err)
	}
	if !bytes.Equal(got[:], sum.Sum(nil)) {
		return fmt.Errorf("checksum: got %x, want %x", got[:4], sum.Sum(nil)[:4])
	}
	if n, err := io.ReadFull(r, got[:1]); n != 0 || err != io.EOF {
		return fmt.Errorf("got bytes after the checksum, want the end")
	}
	return nil
}

func readFloats(r io.Reader, xs []float32) error {
	var buf [4096]byte
	for len(xs) > 0 {
		n := min(len(xs), len(buf)/4)
		if _, err := io.ReadFull(r, buf[:4*n]); err != nil {
			return err
		}
		for i := range xs[:n] {
			xs[i] = math.Float32frombits(binary.LittleEndian.Uint32(buf[4*i:]))
		}
		xs = xs[n:]
	}
	return nil
}

// configHash tells apart what is trained: the model's config, and the adapter's.
func (t *Trainer) configHash() ([sha256.Size]byte, error) {
	data, err := json.Marshal(t.m.cfg)
	if err == nil && t.adapter != nil {
		var lora []byte
		lora, err = json.Marshal(t.adapter.lora)
		data = append(append(data, '\n'), lora...)
	}
	return sha256.Sum256(data), err
}
