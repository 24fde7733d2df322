package gguf

import (
	"bytes"
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/seed-095d5d2b/whale/lm"
)

// writer makes GGUF files: what it writes is what a test says, right or wrong.
type writer struct {
	version uint32
	keys    []entry
	tensors []outTensor
	align   int
}

type entry struct {
	key   string
	value any
}

type outTensor struct {
	name   string
	kind   Type
	dims   []uint64 // innermost first
	data   []byte
	offset int64 // -1 to lay it out
}

func (w *writer) set(key string, value any) {
	for i := range w.keys {
		if w.keys[i].key == key {
			w.keys[i].value = value
			return
		}
	}
	w.keys = append(w.keys, entry{key, value})
}

func (w *writer) remove(key string) {
	for i := range w.keys {
		if w.keys[i].key == key {
			w.keys = append(w.keys[:i:i], w.keys[i+1:]...)
			return
		}
	}
}

func (w *writer) add(name string, kind Type, shape []int, data []byte) {
	t := outTensor{name: name, kind: kind, data: data, offset: -1}
	for i := range shape {
		t.dims = append(t.dims, uint64(shape[len(shape)-1-i]))
	}
	w.tensors = append(w.tensors, t)
}

func (w *writer) addFloats(name string, shape []int, data []float32) {
	var b []byte
	for _, x := range data {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	w.add(name, F32, shape, b)
}

func (w *writer) bytes() []byte {
	align := w.align
	if align == 0 {
		align = 32
	}
	var b []byte
	b = append(b, "GGUF"...)
	b = binary.LittleEndian.AppendUint32(b, w.version)
	b = binary.LittleEndian.AppendUint64(b, uint64(len(w.tensors)))
	b = binary.LittleEndian.AppendUint64(b, uint64(len(w.keys)))
	for _, k := range w.keys {
		b = appendText(b, k.key)
		b = appendValue(b, k.value)
	}
	var data []byte
	for _, t := range w.tensors {
		offset := t.offset
		if offset < 0 {
			data = append(data, make([]byte, (align-len(data)%align)%align)...)
			offset = int64(len(data))
			data = append(data, t.data...)
		}
		b = appendText(b, t.name)
		b = binary.LittleEndian.AppendUint32(b, uint32(len(t.dims)))
		for _, d := range t.dims {
			b = binary.LittleEndian.AppendUint64(b, d)
		}
		b = binary.LittleEndian.AppendUint32(b, uint32(t.kind))
		b = binary.LittleEndian.AppendUint64(b, uint64(offset))
	}
	b = append(b, make([]byte, (align-len(b)%align)%align)...)
	return append(b, data...)
}

func appendText(b []byte, s string) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(len(s)))
	return append(b, s...)
}

// raw is a value as bytes, its kind included.
type raw []byte

func appendValue(b []byte, v any) []byte {
	if r, ok := v.(raw); ok {
		return append(b, r...)
	}
	b = binary.LittleEndian.AppendUint32(b, kindOf(v))
	switch list := v.(type) {
	case []string:
		return appendList(b, list)
	case []int32:
		return appendList(b, list)
	case []float32:
		return appendList(b, list)
	case []uint64:
		return appendList(b, list)
	}
	return appendPayload(b, v)
}

func appendList[T any](b []byte, list []T) []byte {
	var zero T
	b = binary.LittleEndian.AppendUint32(b, kindOf(zero))
	b = binary.LittleEndian.AppendUint64(b, uint64(len(list)))
	for _, x := range list {
		b = appendPayload(b, x)
	}
	return b
}

func appendPayload(b []byte, v any) []byte {
	if s, ok := v.(string); ok {
		return appendText(b, s)
	}
	b, err := binary.Append(b, binary.LittleEndian, v)
	if err != nil {
		panic(err)
	}
	return b
}

func kindOf(v any) uint32 {
	switch v.(type) {
	case uint8:
		return kindUint8
	case int8:
		return kindInt8
	case uint16:
		return kindUint16
	case int16:
		return kindInt16
	case uint32:
		return kindUint32
	case int32:
		return kindInt32
	case float32:
		return kindFloat32
	case bool:
		return kindBool
	case string:
		return kindString
	case uint64:
		return kindUint64
	case int64:
		return kindInt64
	case float64:
		return kindFloat64
	}
	return kindArray
}

// tiny is a small config of each family.
func tiny(family lm.Family) lm.Config {
	c := lm.Config{
		Vocab: 260, Dim: 24, Layers: 2, Heads: 4, KVHeads: 2, HeadDim: 8, FFN: 40, MaxSeq: 64, RopeTheta: 10000, NormEps: 1e-5,
		TieEmbeddings: family == lm.Llama, QKNorm: family == lm.Qwen3, QKVBias: family == lm.Qwen2,
	}
	return c
}

// fileOf writes a random model of that shape as llama.cpp's converter would, without tokenizer.
func fileOf(t testing.TB, cfg lm.Config) (*writer, *lm.Model) {
	t.Helper()
	m, err := lm.New(cfg, 7)
	if err != nil {
		t.Fatal(err)
	}
	for i, tensor := range m.Tensors() { // biases and norms must not all be alike
		if len(tensor.Shape) == 1 {
			for j := range tensor.Data {
				tensor.Data[j] += float32((i*31+j*7)%13) / 16
			}
		}
	}
	arch := string(cfg.Family())
	w := &writer{version: 3}
	w.set("general.architecture", arch)
	w.set("general.name", "tiny")
	for key, v := range map[string]int{
		"embedding_length": cfg.Dim, "block_count": cfg.Layers, "feed_forward_length": cfg.FFN, "context_length": cfg.MaxSeq,
		"attention.head_count": cfg.Heads, "attention.head_count_kv": cfg.KVHeads, "attention.key_length": cfg.HeadDim,
		"attention.value_length": cfg.HeadDim, "rope.dimension_count": cfg.HeadDim, "vocab_size": cfg.Vocab,
	} {
		w.set(arch+"."+key, uint32(v))
	}
	w.set(arch+".attention.layer_norm_rms_epsilon", cfg.NormEps)
	w.set(arch+".rope.freq_base", cfg.RopeTheta)
	names := map[string]named{}
	for _, n := range tensorNames(cfg) {
		names[n.hf] = n
	}
	for _, tensor := range m.Tensors() {
		n := names[tensor.Name]
		data := tensor.Data
		if cfg.Family() == lm.Llama && (strings.HasSuffix(tensor.Name, "q_proj.weight") || strings.HasSuffix(tensor.Name, "k_proj.weight")) {
			data = permute(data, tensor.Shape[0]/cfg.HeadDim, tensor.Shape[0], tensor.Shape[1])
		}
		w.addFloats(n.file, tensor.Shape, data)
	}
	return w, m
}

// permute is what llama.cpp's converter does to Llama's query and key weights:
//
//	w.reshape(heads, 2, rows/heads/2, cols).swapaxes(1, 2).reshape(rows, cols)
func permute(w []float32, heads, rows, cols int) []float32 {
	half := rows / heads / 2
	var out []float32
	for h := range heads {
		for j := range half {
			for s := range 2 {
				row := (h*2+s)*half + j
				out = append(out, w[row*cols:(row+1)*cols]...)
			}
		}
	}
	return out
}

func parse(data []byte) (*File, error) {
	return Parse(bytes.NewReader(data), int64(len(data)))
}

func mustParse(t testing.TB, data []byte) *File {
	t.Helper()
	f, err := parse(data)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
