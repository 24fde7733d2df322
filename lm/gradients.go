package lm

import "github.com/seed-095d5d2b/whale/lm/kernel"

// gradients is where a backward pass leaves what it finds: in every weight, or in the
// factors of an adapter alone.
type gradients struct {
	flat []float32 // all of them, laid out like what is trained
	full *weights  // views of flat; nil if the model itself is frozen
	lora *loraGradients
}

// projectionGroup names the products of a layer. Projections that read the same input lie
// side by side and are one product.
type projectionGroup int

const (
	qkvProj projectionGroup = iota
	outProj
	gateUpProj
	downProj
	projectionGroups
)

// group returns the weights of a group, row-major [out, in].
func (w *layerWeights) group(g projectionGroup) []float32 {
	return [projectionGroups][]float32{w.qkv, w.out, w.gateUp, w.down}[g]
}

// groupShape is the shape of a group's weights.
func (c Config) groupShape(g projectionGroup) (out, in int) {
	switch g {
	case qkvProj:
		return c.qkvDim(), c.Dim
	case outProj:
		return c.Dim, c.qDim()
	case gateUpProj:
		return 2 * c.FFN, c.Dim
	}
	return c.Dim, c.FFN
}

// projection adds the gradient of y = x·Wᵀ over n rows, dyᵀ·x, for a group of layer l.
func (g *gradients) projection(p *kernel.Pool, l int, group projectionGroup, dy, x []float32, n int) {
	if g.full == nil {
		g.lora.projection(p, l, group, dy, x, n)
		return
	}
	w := g.full.layers[l].group(group)
	kernel.MatMul(p, kernel.TN, true, w, dy, x, len(dy)/n, len(x)/n, n)
}

// layer returns the layer's vectors to add to; all are nil if they are frozen.
func (g *gradients) layer(l int) *layerWeights {
	if g.full == nil {
		return &layerWeights{}
	}
	return &g.full.layers[l]
}

func (g *gradients) norm1(l int) []float32 { return g.layer(l).norm1 }
func (g *gradients) norm2(l int) []float32 { return g.layer(l).norm2 }
