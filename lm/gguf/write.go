package gguf

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/seed-095d5d2b/whale/lm"
	"github.com/seed-095d5d2b/whale/lm/token"
)

// WriteOptions say what goes into a file beside the weights, and how those are stored.
type WriteOptions struct {
	Type      Type   // of matrices: one of WriteTypes; vectors (norms, biases, rotary factors) are always F32, as llama.cpp has them
	Name      string // general.name
	Tokenizer *token.Tokenizer
	Template  string  // Jinja text of the chat template, "" where there is none
	Stops     []int32 // ids that end a reply, at least one; the first ends a turn
}

// WriteTypes lists the types that weights can be written in: F32 is exact, the others round to nearest even.
func WriteTypes() []Type { return []Type{F32, F16, BF16} }

// writeAlign is the format's usual alignment of tensor data, in bytes.
const writeAlign = 32

// Write writes a model as a GGUF file of version 3 that [Open] and llama.cpp read. What the format cannot say exactly, of the rotary scaling or of
// the tokenizer, is an error, and so is a weight that the type cannot hold.
func Write(w io.Writer, m *lm.Model, o WriteOptions) error {
	if !slices.Contains(WriteTypes(), o.Type) {
		return fmt.Errorf("gguf: type to write: got %s, want one of %v", o.Type, WriteTypes())
	}
	cfg := m.Config()
	list, err := outputs(m, o.Type)
	if err != nil {
		return err
	}
	meta, err := describe(cfg, o)
	if err != nil {
		return err
	}
	if err := sameAgain(cfg, o.Tokenizer, meta, list); err != nil {
		return err
	}
	out := &counted{w: bufio.NewWriterSize(w, 1<<16)}
	writeHeader(out, meta, list)
	out.pad()
	var buf []float32
	for _, t := range list {
		data := t.data
		if t.heads > 0 {
			buf = grow(buf, len(data))
			pairRows(buf, data, t.heads, t.shape[0], t.shape[1])
			data = buf
		}
		if err := out.values(data, t.kind); err != nil {
			return fmt.Errorf("gguf: tensor %s: %w", t.file, err)
		}
		out.pad()
	}
	if out.err == nil {
		out.err = out.w.Flush()
	}
	return out.err
}

// toWrite is a tensor of the file.
type toWrite struct {
	named
	kind Type
	data []float32
}

// outputs lists the tensors in the order of the file.
func outputs(m *lm.Model, kind Type) ([]toWrite, error) {
	cfg := m.Config()
	data := map[string][]float32{}
	for _, t := range m.Tensors() {
		data[t.Name] = t.Data
	}
	var list []toWrite
	for _, n := range tensorNames(cfg) {
		t := toWrite{n, kind, data[n.hf]}
		if len(n.shape) == 1 {
			t.kind = F32
		}
		list = append(list, t)
	}
	if cfg.RopeScaling.Kind == lm.RopeLlama3 {
		factors := llama3Factors(cfg)
		if got, err := llama3Scaling(factors, float64(cfg.RopeTheta)); err != nil || got != cfg.RopeScaling {
			return nil, fmt.Errorf("gguf: rope_scaling: got %+v, want low_freq_factor 1, high_freq_factor 4 and original_max_position_embeddings 8192: the format holds no others", cfg.RopeScaling)
		}
		list = append(list, toWrite{named{file: ropeFreqs, shape: []int{len(factors)}}, F32, factors})
	}
	return list, nil
}

// llama3Factors are the divisors of the rotary frequencies that Llama 3.1's scaling makes, as llama.cpp's converter writes them.
func llama3Factors(c lm.Config) []float32 {
	s := c.RopeScaling
	factors := make([]float32, c.HeadDim/2)
	for i := range factors {
		turns := float64(s.OriginalMaxSeq) * math.Pow(float64(c.RopeTheta), -float64(i)/float64(len(factors))) / (2 * math.Pi)
		switch {
		case turns > s.HighFreq:
			factors[i] = 1
		case turns < s.LowFreq:
			factors[i] = float32(s.Factor)
		default:
			smooth := (turns - s.LowFreq) / (s.HighFreq - s.LowFreq)
			factors[i] = float32(1 / ((1-smooth)/s.Factor + smooth))
		}
	}
	return factors
}

// pairRows is the inverse of unpermute.
func pairRows(dst, src []float32, heads, rows, cols int) {
	size := rows / heads
	half := size / 2
	for h := range heads {
		for j := range half {
			for s := range 2 {
				to, from := h*size+2*j+s, h*size+s*half+j
				copy(dst[to*cols:(to+1)*cols], src[from*cols:(from+1)*cols])
			}
		}
	}
}

func writeHeader(out *counted, meta []keyValue, list []toWrite) {
	out.bytes([]byte("GGUF"))
	out.u32(3)
	out.u64(uint64(len(list)))
	out.u64(uint64(len(meta)))
	for _, kv := range meta {
		out.text(kv.key)
		out.value(kv.value)
	}
	offset := uint64(0)
	for _, t := range list {
		out.text(t.file)
		out.u32(uint32(len(t.shape)))
		for _, n := range slices.Backward(t.shape) {
			out.u64(uint64(n))
		}
		out.u32(uint32(t.kind))
		out.u64(offset)
		_, size := t.kind.block()
		offset += (uint64(len(t.data)*size) + writeAlign - 1) / writeAlign * writeAlign
	}
}

// counted writes values in the format's encoding and keeps the first error.
type counted struct {
	w   *bufio.Writer
	n   int64
	err error
}

func (c *counted) bytes(b []byte) {
	if c.err != nil {
		return
	}
	n, err := c.w.Write(b)
	c.n += int64(n)
	c.err = err
}

// pad goes on to the next aligned place.
func (c *counted) pad() {
	if rest := c.n % writeAlign; rest != 0 {
		c.bytes(make([]byte, writeAlign-rest))
	}
}

func (c *counted) u32(x uint32) { c.bytes(binary.LittleEndian.AppendUint32(nil, x)) }
func (c *counted) u64(x uint64) { c.bytes(binary.LittleEndian.AppendUint64(nil, x)) }

func (c *counted) text(s string) {
	c.u64(uint64(len(s)))
	c.bytes([]byte(s))
}

// value writes a metadata value after its kind. The kinds are those that describe makes.
func (c *counted) value(v any) {
	switch v := v.(type) {
	case uint32:
		c.u32(kindUint32)
		c.u32(v)
	case float32:
		c.u32(kindFloat32)
		c.u32(math.Float32bits(v))
	case bool:
		c.u32(kindBool)
		c.bytes([]byte{map[bool]byte{true: 1}[v]})
	case string:
		c.u32(kindString)
		c.text(v)
	case []string:
		c.u32(kindArray)
		c.u32(kindString)
		c.u64(uint64(len(v)))
		for _, s := range v {
			c.text(s)
		}
	case []int32:
		c.u32(kindArray)
		c.u32(kindInt32)
		c.u64(uint64(len(v)))
		for _, n := range v {
			c.u32(uint32(n))
		}
	default:
		panic(fmt.Sprintf("gguf: metadata of type %T", v))
	}
}

// values writes weights. The error is about a weight; that of the writer is kept.
func (c *counted) values(data []float32, kind Type) error {
	const piece = 1 << 14
	buf := make([]byte, 0, 4*piece)
	for at := 0; at < len(data); at += piece {
		buf = buf[:0]
		for i, x := range data[at:min(len(data), at+piece)] {
			if x-x != 0 {
				return fmt.Errorf("value %d: got %g, want a finite number", at+i, x)
			}
			if kind == F32 {
				buf = binary.LittleEndian.AppendUint32(buf, math.Float32bits(x))
				continue
			}
			round := toBFloat16
			if kind == F16 {
				round = toFloat16
			}
			h, finite := round(x)
			if !finite {
				return fmt.Errorf("value %d: got %g, which %s cannot hold; want a type with a wider range", at+i, x, kind)
			}
			buf = binary.LittleEndian.AppendUint16(buf, h)
		}
		c.bytes(buf)
	}
	return nil
}
