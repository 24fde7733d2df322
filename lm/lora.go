package lm

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
)

// LoRA describes a low-rank adapter (Hu et al., 2021): to each targeted projection W of
// [out, in] it adds Alpha/Rank * B·A, with A of [Rank, in] and B of [out, Rank]. There is no
// dropout.
type LoRA struct {
	Rank    int      `json:"r"`
	Alpha   float32  `json:"lora_alpha"`
	Targets []string `json:"target_modules"` // of LoRATargets
	Seed    uint64   `json:"-"`              // of A's first values; B begins at zero
}

const maxRank = 1 << 12

// LoRATargets lists the projections that an adapter can target, by Hugging Face's names.
func LoRATargets() []string {
	var names []string
	for _, t := range loraTargets {
		names = append(names, t.name)
	}
	return names
}

// loraTarget is a projection among its layer's.
type loraTarget struct {
	name   string
	module string // between layer and projection in a tensor's name
	group  projectionGroup
}

var loraTargets = [...]loraTarget{
	{"q_proj", "self_attn", qkvProj},
	{"k_proj", "self_attn", qkvProj},
	{"v_proj", "self_attn", qkvProj},
	{"o_proj", "self_attn", outProj},
	{"gate_proj", "mlp", gateUpProj},
	{"up_proj", "mlp", gateUpProj},
	{"down_proj", "mlp", downProj},
}

// rows returns which rows of its group's weights the target is.
func (t loraTarget) rows(c Config) (lo, hi int) {
	switch t.name {
	case "q_proj":
		return 0, c.qDim()
	case "k_proj":
		return c.qDim(), c.qDim() + c.kvDim()
	case "v_proj":
		return c.qDim() + c.kvDim(), c.qkvDim()
	case "gate_proj":
		return 0, c.FFN
	case "up_proj":
		return c.FFN, 2 * c.FFN
	}
	return 0, c.Dim
}

// Validate reports the first field that no adapter can have.
func (l LoRA) Validate() error {
	if l.Rank < 1 || l.Rank > maxRank {
		return fmt.Errorf("lora: rank: got %d, want 1 to %d", l.Rank, maxRank)
	}
	if !(l.Alpha > 0) || !finite(float64(l.Alpha)) {
		return fmt.Errorf("lora: alpha: got %g, want a positive number", l.Alpha)
	}
	if len(l.Targets) == 0 {
		return fmt.Errorf("lora: targets: got none, want some of %s", strings.Join(LoRATargets(), ", "))
	}
	for i, name := range l.Targets {
		if !slices.Contains(LoRATargets(), name) {
			return fmt.Errorf("lora: targets: got %q, want one of %s", oneLine(name), strings.Join(LoRATargets(), ", "))
		}
		if slices.Contains(l.Targets[:i], name) {
			return fmt.Errorf("lora: targets: got %q twice, want it once", name)
		}
	}
	return nil
}

// scale is what B·A is multiplied by.
func (l LoRA) scale() float32 { return l.Alpha / float32(l.Rank) }

// Adapter holds the factors of a LoRA for models of one config. Load it with LoadAdapter, add
// it to a model with Model.Merge.
type Adapter struct {
	cfg    Config
	lora   LoRA // targets in the order of LoRATargets
	flat   []float32
	layers [][projectionGroups]loraGroup
}

// loraGroup is the adapter's part in one product of a layer. Factors of several targets
// stand one under another in A, so that they are one product too.
type loraGroup struct {
	a       []float32 // [len(targets)*rank, in]
	targets []loraFactor
}

type loraFactor struct {
	b      []float32 // [hi-lo, rank]
	lo, hi int       // rows of the group's weights
}

// adapterLayout lists the tensors by the names that PEFT gives them, in storage order: for
// each layer and group the A of its targets, then their B.
func (c Config) adapterLayout(l LoRA) []tensorSpec {
	var specs []tensorSpec
	off := 0
	for layer := range c.Layers {
		for g := range projectionGroups {
			_, in := c.groupShape(g)
			for _, factor := range []string{"A", "B"} {
				for _, t := range loraTargets {
					if t.group != g || !slices.Contains(l.Targets, t.name) {
						continue
					}
					lo, hi := t.rows(c)
					shape := []int{l.Rank, in}
					if factor == "B" {
						shape = []int{hi - lo, l.Rank}
					}
					name := fmt.Sprintf("base_model.model.model.layers.%d.%s.%s.lora_%s.weight", layer, t.module, t.name, factor)
					specs = append(specs, tensorSpec{name, shape, off, shape[0] * shape[1]})
					off += shape[0] * shape[1]
				}
			}
		}
	}
	return specs
}

// emptyAdapter makes an adapter with all factors zero.
func emptyAdapter(c Config, l LoRA) (*Adapter, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if err := l.Validate(); err != nil {
		return nil, err
	}
	var ordered []string
	for _, name := range LoRATargets() {
		if slices.Contains(l.Targets, name) {
			ordered = append(ordered, name)
		}
	}
	l.Targets = ordered
	specs := c.adapterLayout(l)
	last := specs[len(specs)-1]
	a := &Adapter{cfg: c, lora: l, flat: make([]float32, last.off+last.n)}
	a.layers = viewAdapter(c, l, a.flat)
	return a, nil
}

// viewAdapter cuts a flat slice in adapterLayout's order.
func viewAdapter(c Config, l LoRA, flat []float32) [][projectionGroups]loraGroup {
	take := func(n int) []float32 {
		t := flat[:n:n]
		flat = flat[n:]
		return t
	}
	layers := make([][projectionGroups]loraGroup, c.Layers)
	for i := range layers {
		for g := range projectionGroups {
			_, in := c.groupShape(g)
			group := &layers[i][g]
			for _, t := range loraTargets {
				if t.group == g && slices.Contains(l.Targets, t.name) {
					lo, hi := t.rows(c)
					group.targets = append(group.targets, loraFactor{lo: lo, hi: hi})
				}
			}
			group.a = take(len(group.targets) * l.Rank * in)
			for k := range group.targets {
				f := &group.targets[k]
				f.b = take((f.hi - f.lo) * l.Rank)
			}
		}
	}
	return layers
}

// NewAdapter makes an adapter that changes nothing yet: A is uniform within
// ±1/sqrt(in), as PEFT begins it, from one seeded stream a tensor, and B is zero.
func NewAdapter(c Config, l LoRA) (*Adapter, error) {
	a, err := emptyAdapter(c, l)
	if err != nil {
		return nil, err
	}
	for i, s := range c.adapterLayout(a.lora) {
		if !strings.HasSuffix(s.name, ".lora_A.weight") {
			continue
		}
		rng := rand.New(rand.NewPCG(l.Seed, uint64(i)))
		bound := 1 / math.Sqrt(float64(s.shape[1]))
		data := a.flat[s.off : s.off+s.n]
		for j := range data {
			data[j] = float32((2*rng.Float64() - 1) * bound)
		}
	}
	return a, nil
}

// LoRA returns the adapter's description, its targets in the order of LoRATargets.
func (a *Adapter) LoRA() LoRA {
	l := a.lora
	l.Targets = slices.Clone(l.Targets)
	return l
}

// NumParams counts the adapter's weights.
func (a *Adapter) NumParams() int { return len(a.flat) }

// Tensors lists the factors in storage order under PEFT's names. Data is the adapter's own
// memory.
func (a *Adapter) Tensors() []Tensor {
	var ts []Tensor
	for _, s := range a.cfg.adapterLayout(a.lora) {
		ts = append(ts, Tensor{Name: s.name, Shape: s.shape, Data: a.flat[s.off : s.off+s.n : s.off+s.n]})
	}
	return ts
}

// Clone returns an independent copy.
func (a *Adapter) Clone() *Adapter {
	c := *a
	c.flat = slices.Clone(a.flat)
	c.layers = viewAdapter(c.cfg, c.lora, c.flat)
	return &c
}

// Hash is the content identity of base plus delta: the SHA-256, in hex, of the base model's
// Hash, the adapter's description, and each factor's name, shape and bytes.
func (a *Adapter) Hash(base string) string {
	h := sha256.New()
	desc, err := json.Marshal(a.lora)
	if err != nil { // finite numbers and known names, by Validate
		panic(fmt.Sprintf("lm: description of a valid adapter does not encode: %v", err))
	}
	fmt.Fprintf(h, "whale adapter 1\n%s\n%s\n", base, desc)
	for _, t := range a.Tensors() {
		fmt.Fprintf(h, "%s %v\n", t.Name, t.Shape)
		writeFloats(h, t.Data) // a hash never fails
	}
	return hex.EncodeToString(h.Sum(nil))
}
