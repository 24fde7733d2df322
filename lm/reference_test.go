package lm

import (
	"math"
	"testing"
)

// reference computes log-probabilities in float64, straight from the definition in
// Hugging Face's Llama and Qwen3 models and with none of this package's arithmetic:
// whole matrices of scores, keys repeated for their query heads, rotate_half as
// concatenation.
type reference struct {
	cfg Config
	w   map[string][]float64
}

func newReference(m *Model) reference {
	r := reference{m.Config(), map[string][]float64{}}
	for _, t := range m.Tensors() {
		for _, x := range t.Data {
			r.w[t.Name] = append(r.w[t.Name], float64(x))
		}
	}
	return r
}

// linear is x·Wᵀ for one row.
func linear(x, w []float64) []float64 {
	out := make([]float64, len(w)/len(x))
	for o := range out {
		for i, v := range x {
			out[o] += v * w[o*len(x)+i]
		}
	}
	return out
}

func (r reference) norm(x, w []float64) []float64 {
	var ss float64
	for _, v := range x {
		ss += v * v
	}
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = v / math.Sqrt(ss/float64(len(x))+float64(r.cfg.NormEps)) * w[i]
	}
	return out
}

func (r reference) rope(x []float64, pos int) []float64 {
	half := len(x) / 2
	rotated := append([]float64{}, x[half:]...) // rotate_half: (-x2, x1)
	for i := range rotated {
		rotated[i] = -rotated[i]
	}
	rotated = append(rotated, x[:half]...)
	out := make([]float64, len(x))
	for i := range x {
		angle := float64(pos) * math.Pow(float64(r.cfg.RopeTheta), -2*float64(i%half)/float64(len(x)))
		out[i] = x[i]*math.Cos(angle) + rotated[i]*math.Sin(angle)
	}
	return out
}

func (r reference) logProbs(tokens []int32) []float64 {
	c := r.cfg
	x := make([][]float64, len(tokens))
	for t, tok := range tokens {
		x[t] = append([]float64{}, r.w["model.embed_tokens.weight"][int(tok)*c.Dim:][:c.Dim]...)
	}
	for l := range c.Layers {
		p := "model.layers." + string(rune('0'+l)) + "."
		var q, k, v [][]float64
		for t := range x {
			h := r.norm(x[t], r.w[p+"input_layernorm.weight"])
			q = append(q, linear(h, r.w[p+"self_attn.q_proj.weight"]))
			k = append(k, linear(h, r.w[p+"self_attn.k_proj.weight"]))
			v = append(v, linear(h, r.w[p+"self_attn.v_proj.weight"]))
		}
		head := func(x []float64, h, pos int, norm string) []float64 {
			x = x[h*c.HeadDim:][:c.HeadDim]
			if c.QKNorm {
				x = r.norm(x, r.w[p+"self_attn."+norm+".weight"])
			}
			return r.rope(x, pos)
		}
		for t := range x {
			var att []float64
			for h := range c.Heads {
				kv := h / (c.Heads / c.KVHeads)
				qh := head(q[t], h, t, "q_norm")
				scores, sum := make([]float64, t+1), 0.0
				for s := range scores {
					scores[s] = math.Exp(linear(qh, head(k[s], kv, s, "k_norm"))[0] / math.Sqrt(float64(c.HeadDim)))
					sum += scores[s]
				}
				out := make([]float64, c.HeadDim)
				for s := range scores {
					for i := range out {
						out[i] += scores[s] / sum * v[s][kv*c.HeadDim+i]
					}
				}
				att = append(att, out...)
			}
			for i, y := range linear(att, r.w[p+"self_attn.o_proj.weight"]) {
				x[t][i] += y
			}
			h := r.norm(x[t], r.w[p+"post_attention_layernorm.weight"])
			gate, up := linear(h, r.w[p+"mlp.gate_proj.weight"]), linear(h, r.w[p+"mlp.up_proj.weight"])
			for i, g := range gate {
				gate[i] = g / (1 + math.Exp(-g)) * up[i]
			}
			for i, y := range linear(gate, r.w[p+"mlp.down_proj.weight"]) {
				x[t][i] += y
			}
		}
	}
	lmHead := r.w["lm_head.weight"]
	if c.TieEmbeddings {
		lmHead = r.w["model.embed_tokens.weight"]
	}
	out := make([]float64, len(tokens))
	for t := 1; t < len(tokens); t++ {
		logits := linear(r.norm(x[t-1], r.w["model.norm.weight"]), lmHead)
		var sum float64
		for _, z := range logits {
			sum += math.Exp(z)
		}
		out[t] = logits[tokens[t]] - math.Log(sum)
	}
	return out
}

// TestForwardMatchesReference checks the forward pass against the float64 twin.
func TestForwardMatchesReference(t *testing.T) {
	for _, tied := range []bool{false, true} {
		for _, qkNorm := range []bool{false, true} {
			cfg := tinyConfig()
			cfg.TieEmbeddings, cfg.QKNorm = tied, qkNorm
			m := newModel(t, cfg, 17)
			for _, ts := range m.Tensors() {
				if len(ts.Shape) == 1 {
					for i := range ts.Data {
						ts.Data[i] += float32(i%5) * 0.2
					}
				}
			}
			tokens := randomSequences(3, cfg.Vocab, 75)[0].Tokens
			got, err := m.LogProbs(nil, tokens)
			if err != nil {
				t.Fatal(err)
			}
			for i, want := range newReference(m).logProbs(tokens) {
				if math.Abs(float64(got[i])-want) > 2e-5*(1+math.Abs(want)) {
					t.Fatalf("tied=%v qkNorm=%v: token %d: got %g, want %g", tied, qkNorm, i, got[i], want)
				}
			}
		}
	}
}
