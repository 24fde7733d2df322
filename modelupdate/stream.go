package modelupdate

import (
	"math"
	"math/rand/v2"
	"strconv"

	"github.com/seed-095d5d2b/whale"
)

// Stream is an endless sequence of seeded reshuffles of n examples. It has no state: a position is all there is to keep.
type Stream struct {
	N    int
	Seed uint64 // the run's seed
}

// Visit is one place in the stream: an example, and how often the stream visited it before.
type Visit struct {
	Example int
	Epoch   int
}

// At gives positions [from, from+count).
func (s Stream) At(from, count int) []Visit {
	out := make([]Visit, 0, count)
	epoch := -1
	var order []int
	for p := from; p < from+count; p++ {
		if e := p / s.N; e != epoch {
			epoch, order = e, s.shuffle(e)
		}
		out = append(out, Visit{Example: order[p%s.N], Epoch: epoch})
	}
	return out
}

func (s Stream) shuffle(epoch int) []int {
	seed := whale.DeriveSeed(s.Seed, "stream", strconv.Itoa(epoch))
	return rand.New(rand.NewPCG(s.Seed, uint64(seed))).Perm(s.N)
}

// PhaseEnd is the step at which phase k (from 0) ends: round((k+1)·E·N/B), halves up, counted from the run's start, so that rounding never
// drifts. Products of decimals that miss a half by their last bits count as the half.
func PhaseEnd(k int, epochs float64, n, batch int) int {
	return int(math.Floor(float64(k+1)*epochs*float64(n)/float64(batch) + 0.5 + 1e-9))
}
