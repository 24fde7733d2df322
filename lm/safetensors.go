package lm

import (
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/nlpodyssey/safetensors"
)

// fileTensor lets the writer encode one tensor at a time.
type fileTensor struct {
	Tensor
	dtype DType
}

func (t fileTensor) DType() safetensors.DType {
	if t.dtype == BF16 {
		return safetensors.BF16
	}
	return safetensors.F32
}

func (t fileTensor) Shape() []uint64 { return wideShape(t.Tensor.Shape) }
func (t fileTensor) Data() []byte    { return encodeTensor(t.Tensor.Data, t.dtype) }
func (t fileTensor) DataLen() uint64 { return uint64(len(t.Tensor.Data)) * t.DType().Size() }

func wideShape(shape []int) []uint64 {
	wide := make([]uint64, len(shape))
	for i, s := range shape {
		wide[i] = uint64(s)
	}
	return wide
}

// WriteSafetensors writes the weights in the safetensors format, with meta (may
// be nil) as its __metadata__. Equal weights and meta give equal bytes. Weights that
// are not finite, or would not be in dtype, are an error: ReadSafetensors refuses them.
func (m *Model) WriteSafetensors(w io.Writer, dtype DType, meta map[string]string) error {
	if err := dtype.check(); err != nil {
		return err
	}
	views := map[string]fileTensor{}
	for _, t := range m.Tensors() {
		if err := checkWritable(t.Data, dtype); err != nil {
			return fmt.Errorf("write safetensors: tensor %s: %w", t.Name, err)
		}
		views[t.Name] = fileTensor{t, dtype}
	}
	if err := safetensors.SerializeToWriter(views, meta, w); err != nil {
		return fmt.Errorf("write safetensors: %w", err)
	}
	return nil
}

// ReadSafetensors reads weights in F32, F16 or BF16 from the bytes of a
// safetensors file. The file must hold exactly the tensors of cfg, with cfg's
// shapes and finite values. Work and memory are bounded by cfg and len(data).
func ReadSafetensors(cfg Config, data []byte) (*Model, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	specs := cfg.layout()
	if err := checkHeader(cfg, specs, data); err != nil {
		return nil, fmt.Errorf("safetensors: %w", err)
	}
	file, err := safetensors.Deserialize(data)
	if err != nil {
		return nil, fmt.Errorf("safetensors: %s", oneLine(err.Error()))
	}
	extra := map[string]bool{}
	for _, name := range file.Names() {
		extra[name] = true
	}
	for _, s := range specs {
		t, ok := file.Tensor(s.name)
		if !ok {
			return nil, fmt.Errorf("safetensors: tensor %s: missing", s.name)
		}
		delete(extra, s.name)
		if !slices.Equal(t.Shape(), wideShape(s.shape)) {
			return nil, fmt.Errorf("safetensors: tensor %s: got shape %s, want %v", s.name, oneLine(fmt.Sprint(t.Shape())), s.shape)
		}
	}
	if len(extra) > 0 {
		name := slices.Sorted(maps.Keys(extra))[0]
		return nil, fmt.Errorf("safetensors: tensor %q: not part of this model (%d such)", oneLine(name), len(extra))
	}
	m, err := empty(cfg)
	if err != nil {
		return nil, err
	}
	for _, s := range specs {
		t, _ := file.Tensor(s.name)
		// The shape fits, and Deserialize checked the bytes against shape and type.
		if err := decodeTensor(m.w.flat[s.off:s.off+s.n], t.Data(), t.DType()); err != nil {
			return nil, fmt.Errorf("safetensors: tensor %s: %w", s.name, err)
		}
	}
	return m, nil
}

// checkHeader bounds what the header parser is given: its memory grows with the
// header, by a large factor, whatever the tensors turn out to be.
func checkHeader(cfg Config, specs []tensorSpec, data []byte) error {
	const (
		perTensor = 256     // an entry beside its name
		metadata  = 1 << 16 // room for __metadata__ and padding
	)
	if len(data) < 8 {
		return fmt.Errorf("got %d bytes, want at least the 8 of the header's length", len(data))
	}
	header, most := binary.LittleEndian.Uint64(data), uint64(metadata)
	for _, s := range specs {
		most += uint64(len(s.name)) + perTensor
	}
	if header > most {
		return fmt.Errorf("header: got length %d, want at most %d for this model", header, most)
	}
	if uint64(len(data))-8 < header {
		return fmt.Errorf("header: got length %d, want at most the %d bytes that follow", header, len(data)-8)
	}
	if need := 2 * uint64(cfg.numParams()); uint64(len(data))-8-header < need {
		return fmt.Errorf("got %d bytes of tensors, want at least %d for this model", uint64(len(data))-8-header, need)
	}
	return nil
}
