package lm

import (
	"fmt"
	"io"

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
	return writeTensors(w, m.Tensors(), dtype, meta)
}

func writeTensors(w io.Writer, tensors []Tensor, dtype DType, meta map[string]string) error {
	if err := dtype.check(); err != nil {
		return err
	}
	views := map[string]fileTensor{}
	for _, t := range tensors {
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
