package lm

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
)

// Model holds the weights of a transformer in float32. Methods that only read
// may run concurrently; a Trainer writes, so nothing else may use the model
// while Trainer.Step runs.
type Model struct {
	cfg  Config
	w    weights
	rope ropeTable
}

// New makes a model with seeded random weights: projections are normal with
// standard deviation 1/sqrt(fan in), the two that write to the residual stream
// divided further by sqrt(2*Layers); norms are one, biases zero.
func New(cfg Config, seed uint64) (*Model, error) {
	m, err := empty(cfg)
	if err != nil {
		return nil, err
	}
	residual := 1 / math.Sqrt(2*float64(cfg.Layers))
	for i, s := range cfg.layout() {
		data := m.w.flat[s.off : s.off+s.n]
		if s.isBias() {
			continue
		}
		if s.isNorm() {
			for j := range data {
				data[j] = 1
			}
			continue
		}
		// One stream a tensor, so that adding a layer leaves the others' draws alone.
		rng := rand.New(rand.NewPCG(seed, uint64(i)))
		std := 1 / math.Sqrt(float64(s.shape[1]))
		if strings.HasSuffix(s.name, "o_proj.weight") || strings.HasSuffix(s.name, "down_proj.weight") {
			std *= residual
		}
		for j := range data {
			data[j] = float32(rng.NormFloat64() * std)
		}
	}
	return m, nil
}

// empty makes a model with all weights zero.
func empty(cfg Config) (*Model, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return &Model{cfg: cfg, w: cfg.view(make([]float32, cfg.numParams())), rope: newRopeTable(cfg)}, nil
}

// Clone returns an independent copy.
func (m *Model) Clone() *Model {
	return &Model{cfg: m.cfg, w: m.cfg.view(slices.Clone(m.w.flat)), rope: m.rope}
}

// Config returns the model's shape.
func (m *Model) Config() Config { return m.cfg }

// NumParams counts the weights; tied embeddings count once.
func (m *Model) NumParams() int { return len(m.w.flat) }

// Tensors lists the parameters in storage order. Data is the model's own
// memory: writing to it changes the model.
func (m *Model) Tensors() []Tensor {
	var ts []Tensor
	for _, s := range m.cfg.layout() {
		ts = append(ts, Tensor{Name: s.name, Shape: s.shape, Data: m.w.flat[s.off : s.off+s.n : s.off+s.n]})
	}
	return ts
}

// Hash is the content identity of the weights: the SHA-256, in hex, of the
// configuration and of each tensor's name, shape and float32 bytes.
func (m *Model) Hash() string {
	h := sha256.New()
	cfg, err := json.Marshal(m.cfg)
	if err != nil { // a struct of numbers, all finite by Validate
		panic(fmt.Sprintf("lm: config of a valid model does not encode: %v", err))
	}
	fmt.Fprintf(h, "whale model 1\n%s\n", cfg)
	for _, t := range m.Tensors() {
		fmt.Fprintf(h, "%s %v\n", t.Name, t.Shape)
		writeFloats(h, t.Data) // a hash never fails
	}
	return hex.EncodeToString(h.Sum(nil))
}

// writeFloats writes little-endian float32 values through a small buffer.
func writeFloats(w io.Writer, xs []float32) error {
	var buf [4096]byte
	for len(xs) > 0 {
		n := min(len(xs), len(buf)/4)
		for i, x := range xs[:n] {
			binary.LittleEndian.PutUint32(buf[4*i:], math.Float32bits(x))
		}
		if _, err := w.Write(buf[:4*n]); err != nil {
			return err
		}
		xs = xs[n:]
	}
	return nil
}

// checkTokens reports the first id outside the vocabulary.
func (m *Model) checkTokens(subject string, tokens []int32) error {
	for i, t := range tokens {
		if t < 0 || int(t) >= m.cfg.Vocab {
			return fmt.Errorf("%s: token %d: got id %d, want 0 to %d", subject, i, t, m.cfg.Vocab-1)
		}
	}
	return nil
}

// oneLine makes text from outside fit for an error message: one line, bounded.
func oneLine(s string) string {
	const most = 200
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "..."
	}
	return s
}
