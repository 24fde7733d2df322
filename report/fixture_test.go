package report

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/metaharness"
	"github.com/seed-095d5d2b/whale/modelupdate"
	"github.com/seed-095d5d2b/whale/recipe"
	"github.com/seed-095d5d2b/whale/stats"
)

// fake describes a story that is made up.
type fake struct {
	method   string
	seed     uint64
	gain     float64 // accuracy at the end
	cycles   int
	examples int
	draws    int
	steps    int // a weight phase
	sessions int // a harness phase
	matrix   bool
	open     int // > 0: unfinished, with so many phases done
}

const fakeSource = "SYSTEM_PROMPT = \"Solve.\"\nUSER_PROMPT = \"\"\n\ndef run(task, model, env):\n    return model.chat([])\n"

func id(parts ...any) whale.ID { return whale.HashBytes("test", []byte(fmt.Sprint(parts...))) }

// story makes up a run whose accuracy rises from 20% to the gain.
func (f fake) story() *recipe.Story {
	rng := rand.New(rand.NewPCG(f.seed, uint64(len(f.method))))
	st := &recipe.Story{Dir: fmt.Sprintf("runs/%s-%d", f.method, f.seed), Config: recipe.Default()}
	st.Config.Name = fmt.Sprintf("%s-%d", f.method, f.seed)
	st.Config.Seed, st.Config.Schedule.Method = f.seed, f.method
	st.Begin = recipe.Begin{Task: id("task"), Weights: id("θ0"), Harness: id("h0"), Source: fakeSource, Build: "build-a", Kernels: "avx2"}
	for i := range f.examples {
		st.TestExamples = append(st.TestExamples, fmt.Sprintf("test-%04d", i))
	}
	kinds := []string{recipe.PhaseWeight, recipe.PhaseHarness}
	switch f.method {
	case recipe.MethodWeightOnly:
		kinds = kinds[:1]
	case recipe.MethodHarnessOnly:
		kinds = kinds[1:]
	}
	cycles := f.cycles
	if len(kinds) == 1 || f.method == recipe.MethodStagewise {
		cycles = 1
	}
	const base = 0.2
	total := cycles * len(kinds)
	rollouts, step, session := 0, 0, 0
	accuracy := func() float64 { return base + (f.gain-base)*float64(rollouts)/float64(f.total()) }
	f.point(st, rng, "start", -1, 0, 0, 0, base)
	for i := range total {
		if f.open > 0 && i >= f.open {
			break
		}
		kind := kinds[i%len(kinds)]
		ph := recipe.PhaseStory{PlannedPhase: recipe.PlannedPhase{Index: i, Cycle: i / len(kinds), Kind: kind}, Done: true, Why: recipe.EndBudget}
		before := accuracy()
		parts := 1
		if cycles == 1 {
			parts = f.cycles
		}
		for part := range parts {
			if kind == recipe.PhaseWeight {
				for range f.steps {
					a := accuracy()
					n := min(256, max(0, int(256*(a+0.02*rng.NormFloat64()))))
					st.Steps = append(st.Steps, recipe.StepStory{StepResult: modelupdate.StepResult{Step: step, Rollouts: 256, Accepted: n, Reward: float64(n) / 256, Updates: 1, Loss: 1}, Phase: i})
					step++
					rollouts += 256
					ph.Steps++
				}
			} else {
				f.search(st, &ph, rng, &session, &rollouts, accuracy)
			}
			if part < parts-1 {
				f.point(st, rng, fmt.Sprintf("%s/%d", ph.Name(), part), i, step, session, rollouts, accuracy())
			}
		}
		if kind == recipe.PhaseWeight && f.method == recipe.MethodAdaptive {
			ph.Window = &recipe.WindowStop{Steps: ph.Steps, Mean: before, Best: before + 0.125, BestAt: 1}
		}
		ph.From, ph.To = step-ph.Steps, step
		ph.Text = fmt.Sprintf("phase %s ended: all of it was made", ph.Name())
		ph.Weights, ph.Harness = id("θ", f.method, f.seed, i), id("h", f.method, f.seed, i)
		if kind == recipe.PhaseHarness {
			ph.Source = fakeSource + fmt.Sprintf("\n# phase %d\n", i)
		}
		st.Phases = append(st.Phases, ph)
		f.point(st, rng, ph.Name(), i, step, session, rollouts, accuracy())
		if i%len(kinds) == len(kinds)-1 {
			after := accuracy()
			cell := func(v float64) recipe.Cell {
				return recipe.Cell{Result: recipe.Result{Examples: 64, Draws: 1, Mean: v, Low: v - 0.125, High: v + 0.125}}
			}
			st.Halves = append(st.Halves, recipe.Halves{Cycle: ph.Cycle, Cells: [4]recipe.Cell{cell(before), cell((2*before + after) / 3), cell((before + 2*after) / 3), cell(after)}})
		}
	}
	st.Ledger = map[string]map[string]float64{
		"weight":   {"rollouts": float64(step * 256), "sampled_tokens": float64(step) * 256 * 60, "prompt_tokens": float64(step) * 256 * 90, "model_calls": float64(step) * 400, "seconds": float64(step) * 3.5, "shared": float64(min(1, step) * 256)},
		"canary":   {"rollouts": 6, "model_calls": 9},
		"search":   {"rollouts": float64(rollouts - step*256), "sampled_tokens": float64(rollouts-step*256) * 60, "seconds": float64(session) * 4},
		"proposer": {"sessions": float64(session), "usd": 0.25 * float64(session), "seconds": float64(session)},
		"test":     {"rollouts": 1000, "seconds": 12},
	}
	st.Tried = recipe.Tried{Sessions: session, Proposed: 3 * session, Evaluated: 2 * session, Rejected: map[string]int{"audit": session}, Phases: cycles, Accepted: cycles, Steps: step, EmptySteps: 1}
	if f.open > 0 {
		return st
	}
	chance := 0.05
	st.Chance = &chance
	last := len(st.Phases) - 1
	for _, p := range []struct {
		name string
		mean float64
	}{{recipe.PairStart, base}, {recipe.PairWeights, (base + f.gain) / 2}, {recipe.PairHarness, (base + f.gain) / 2.2}, {recipe.PairFinal, f.gain}, {recipe.PairBestValidation, f.gain - 0.01}, {recipe.PairBestTest, f.gain + 0.01}} {
		q := f.pair(p.name, p.mean)
		q.Weights, q.Harness = id("θ", f.method, f.seed, last), id("h", f.method, f.seed, last)
		if p.name == recipe.PairStart {
			q.Weights, q.Harness = st.Begin.Weights, st.Begin.Harness
		}
		q.Metrics = map[string]float64{"boxed": 0.3 + p.mean/2, "cut_off": 0.6 - p.mean/2, "turns": 2.25}
		st.Final = append(st.Final, q)
	}
	if f.matrix {
		m := recipe.Matrix{Split: whale.SplitSearch, Draws: 1}
		for i := range f.cycles + 1 {
			m.Weights = append(m.Weights, recipe.MatrixAxis{Name: fmt.Sprintf("θ%d", i)})
			m.Harness = append(m.Harness, recipe.MatrixAxis{Name: fmt.Sprintf("h%d", i)})
			var row []recipe.Cell
			for j := range f.cycles + 1 {
				v := base + (f.gain-base)*float64(i+j)/float64(2*f.cycles)
				row = append(row, recipe.Cell{Result: recipe.Result{Mean: v, Low: v - 0.0625, High: v + 0.0625}})
			}
			m.Cells = append(m.Cells, row)
		}
		st.Matrix = append(st.Matrix, m)
	}
	return st
}

func (f fake) total() int {
	n := 0
	if f.method != recipe.MethodHarnessOnly {
		n += f.cycles * f.steps * 256
	}
	if f.method != recipe.MethodWeightOnly {
		n += f.cycles * (64 + f.sessions*3*64)
	}
	return n
}

func (f fake) search(st *recipe.Story, ph *recipe.PhaseStory, rng *rand.Rand, session, rollouts *int, accuracy func() float64) {
	*rollouts += 64
	in := accuracy()
	if ph.Incoming == nil {
		ph.Incoming = &in
		ph.Search = &metaharness.End{Why: metaharness.EndSessions, Best: []float64{in}}
	}
	if *session > 0 && len(ph.RunnersUp) == 0 {
		ph.RunnersUp = []recipe.SearchedCandidate{{Name: "runner-up-1", ID: id("c", f.seed, 0, 0), Decision: metaharness.Decision{
			Status: metaharness.StatusEvaluated, Score: &metaharness.Score{Mean: 0.9 * in, Examples: 64},
		}}}
	}
	ph.Search.Planned += f.sessions
	best := ph.Search.Best[len(ph.Search.Best)-1]
	for range f.sessions {
		s := recipe.SearchedSession{Session: *session, Cost: whale.SessionCost{PromptTokens: 9000, SampledTokens: 700, USD: 0.25, Seconds: 1.5}}
		for k := range 3 {
			c := recipe.SearchedCandidate{Name: fmt.Sprintf("candidate-%d", k), ID: id("c", f.seed, *session, k), Hypothesis: "it helps"}
			if k == 2 {
				c.Decision = metaharness.Decision{Status: metaharness.StatusRejected, Gate: "audit", Reason: "it quotes an example"}
			} else {
				v := max(0, min(1, accuracy()+0.05*rng.NormFloat64()))
				best = max(best, v)
				c.Decision = metaharness.Decision{Status: metaharness.StatusEvaluated, Score: &metaharness.Score{Mean: v, Examples: 64}}
			}
			s.Candidates = append(s.Candidates, c)
		}
		*rollouts += 3 * 64
		*session++
		ph.Sessions++
		ph.Searched = append(ph.Searched, s)
		ph.Search.Best = append(ph.Search.Best, best)
	}
	ph.Accepted = &best
	tested := metaharness.PairedTest{Challenger: id("c", f.seed, *session-1, 0), Paired: stats.Paired{Wins: 9, Losses: 2, Difference: 0.109375, P: 0.03}, Better: true}
	ph.Choices = append(ph.Choices, metaharness.Choice{Incumbent: id("h0"), Accepted: tested.Challenger, Test: metaharness.TestMcNemar, Level: 0.05, Tests: []metaharness.PairedTest{tested}})
	ph.Confirmation = &metaharness.Confirmation{Draws: 1, Test: metaharness.TestMcNemar, Level: 0.05, Accepted: tested.Challenger, Programs: []metaharness.Confirmed{
		{ID: id("h0"), Episodes: 64, Passed: 16, Mean: 0.25, SampledTokens: 2000},
		{ID: tested.Challenger, Episodes: 64, Passed: 24, Mean: 0.375, SampledTokens: 1800, Test: &tested},
		{ID: id("c", f.seed, *session-1, 1), Missing: "the budget ended"},
	}}
}

func (f fake) point(st *recipe.Story, rng *rand.Rand, at string, phase, steps, sessions, rollouts int, mean float64) {
	var p recipe.CurvePoint
	p.At, p.Phase, p.Steps, p.Sessions, p.Rollouts = at, phase, steps, sessions, rollouts
	v := max(0, min(1, mean+0.015*rng.NormFloat64()))
	p.Test = recipe.Result{Examples: f.examples, Draws: 1}
	for x := range f.examples { // those that come first in a random order are solved
		reward := 0.0
		if float64(x)+0.5 < v*float64(f.examples) {
			reward = 1
		}
		p.Test.Rewards = append(p.Test.Rewards, []float64{reward})
		p.Test.Mean += reward / float64(f.examples)
	}
	order := rand.New(rand.NewPCG(f.seed, whaleHash(f.method+at)))
	order.Shuffle(f.examples, func(a, b int) { r := p.Test.Rewards; r[a], r[b] = r[b], r[a] })
	p.Test.Low, p.Test.High = p.Test.Mean-0.05, p.Test.Mean+0.05
	w := recipe.Result{Mean: v - 0.01}
	p.Validation = &w
	st.Curve = append(st.Curve, p)
}

// pair makes up rewards about a mean: examples have their own difficulty, which all runs share.
func (f fake) pair(name string, mean float64) recipe.Pair {
	shared := rand.New(rand.NewPCG(77, 1))
	own := rand.New(rand.NewPCG(f.seed, whaleHash(f.method+name)))
	run := 0.02 * own.NormFloat64()
	p := recipe.Pair{Name: name, Result: recipe.Result{Examples: f.examples, Draws: f.draws}}
	sum := 0.0
	for range f.examples {
		chance := mean + run + 0.25*shared.NormFloat64()
		row := make([]float64, f.draws)
		for d := range row {
			if own.Float64() < chance {
				row[d] = 1
				sum++
			}
		}
		p.Rewards = append(p.Rewards, row)
	}
	p.Mean = sum / float64(f.examples*f.draws)
	p.Low, p.High = max(0, p.Mean-0.04), min(1, p.Mean+0.04)
	return p
}

func whaleHash(s string) uint64 { return uint64(whale.DeriveSeed(1, s)) }

// small is few runs with few numbers, for golden files.
func small() []*recipe.Story {
	var out []*recipe.Story
	for _, m := range []string{recipe.MethodWhale, recipe.MethodWeightOnly, recipe.MethodHarnessOnly} {
		for s := range uint64(2) {
			out = append(out, fake{method: m, seed: s + 1, gain: 0.5, cycles: 2, examples: 12, draws: 2, steps: 2, sessions: 2, matrix: m == recipe.MethodWhale}.story())
		}
	}
	return slices.Insert(out, 2, fake{method: recipe.MethodWhale, seed: 3, gain: 0.5, cycles: 2, examples: 12, draws: 2, steps: 2, sessions: 2, open: 3}.story())
}
