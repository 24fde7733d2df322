package report

import (
	"fmt"
	"maps"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/seed-095d5d2b/whale/recipe"
)

// phaseEnd marks where all seeds ended a weight phase.
var phaseEnd = draw.LineStyle{Color: grey, Width: 1, Dashes: []vg.Length{1, 2}}

// stepsFigure shows reward and the share that was learned from, of rollout steps, a panel an arm.
func (g *Group) stepsFigure(ls map[string]look) *figure {
	var panels []*plot.Plot
	most, seeds := 1.0, false
	accepted := draw.LineStyle{Color: grey, Width: 1, Dashes: []vg.Length{3, 2}}
	for i := range g.Arms {
		a := &g.Arms[i]
		reward, share := meanSteps(g.runsOf(a))
		if len(reward) == 0 {
			continue
		}
		p := newPanel(a.Label, "rollout step", "share of rollouts")
		p.X.Tick.Marker, p.Y.Tick.Marker = ticks{label: count, whole: true}, ticks{label: percentTick}
		p.Add(gridLines(true, false))
		for _, e := range sharedEnds(g.runsOf(a)) {
			p.Add(upright{float64(e) + 0.5, phaseEnd})
		}
		if len(a.runs) > 1 {
			for _, r := range g.runsOf(a) {
				p.Add(line(stepXYs(r.Steps), seedLine))
				seeds = true
			}
		}
		p.Add(line(share, accepted), line(reward, draw.LineStyle{Color: ls[a.Label].color, Width: 1.75}))
		if len(reward) == 1 {
			p.Add(&plotter.Scatter{XYs: reward, GlyphStyle: draw.GlyphStyle{Color: ls[a.Label].color, Radius: 2.5, Shape: draw.CircleGlyph{}}})
		}
		most = max(most, reward[len(reward)-1].X)
		panels = append(panels, p)
	}
	if len(panels) == 0 {
		return nil
	}
	for _, p := range panels {
		p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0.5, most+0.5, 0, 1
	}
	solid := draw.LineStyle{Color: black, Width: 1.75}
	end, single := phaseEnd, seedLine
	legend := []legendEntry{{name: "reward (mean of the step's rollouts)", line: &solid}, {name: "share that was learned from", line: &accepted}}
	if seeds {
		legend = append(legend, legendEntry{name: "reward of a single seed", line: &single})
	}
	return &figure{
		name: "steps", title: "Weight phases: reward, and the share learned from, by rollout step", w: 330, h: 170, panels: grid(panels, 2),
		legend:  append(legend, legendEntry{name: "end of a phase, of all seeds", line: &end}),
		caption: "Mean over seeds; pale lines are the rewards of single seeds. Where every reward above the threshold is learned from, both lines are one. Ends of phases are drawn where all seeds that went on have them; those of one seed alone (of phases that end by rule) are not.",
	}
}

// seedLine is the reward of a single seed.
var seedLine = draw.LineStyle{Color: thinGrey, Width: 0.75}

// sharedEnds are the steps after which a weight phase ended in every run that made a further step, and in one at least.
func sharedEnds(runs []*Run) []int {
	in := map[int]int{} // runs with the end
	for _, r := range runs {
		for i, s := range r.Steps[:max(0, len(r.Steps)-1)] {
			if s.Phase != r.Steps[i+1].Phase {
				in[s.Step]++
			}
		}
	}
	var out []int
	for _, end := range slices.Sorted(maps.Keys(in)) {
		beyond := 0
		for _, r := range runs {
			if n := len(r.Steps); n > 0 && r.Steps[n-1].Step > end {
				beyond++
			}
		}
		if in[end] == beyond {
			out = append(out, end)
		}
	}
	return out
}

// meanSteps averages steps over the runs that made them.
func meanSteps(runs []*Run) (reward, share plotter.XYs) {
	var n []float64
	for _, r := range runs {
		for i, s := range r.Steps {
			if i == len(n) {
				n = append(n, 0)
				reward = append(reward, plotter.XY{X: float64(s.Step)})
				share = append(share, plotter.XY{X: float64(s.Step)})
			}
			n[i]++
			reward[i].Y += s.Reward
			if s.Rollouts > 0 {
				share[i].Y += float64(s.LearnedFrom) / float64(s.Rollouts)
			}
		}
	}
	for i := range n {
		reward[i].Y /= n[i]
		share[i].Y /= n[i]
	}
	return reward, share
}

func stepXYs(steps []Step) plotter.XYs {
	out := make(plotter.XYs, len(steps))
	for i, s := range steps {
		out[i] = plotter.XY{X: float64(s.Step), Y: s.Reward}
	}
	return out
}

// runnerUp marks the score of a program of an earlier phase.
var runnerUp = draw.GlyphStyle{Color: grey, Radius: 2.5, Shape: draw.PyramidGlyph{}}

// searchFigure shows candidates' scores by session, a panel a run: the best of the phase as a line, phases apart.
func (g *Group) searchFigure(ls map[string]look) *figure {
	var panels []*plot.Plot
	most, high := 1.0, 0.0
	for i := range g.Arms {
		for _, r := range g.runsOf(&g.Arms[i]) {
			p := newPanel(fmt.Sprintf("%s, seed %d", r.Arm, r.Seed), "proposer session", "score, search split")
			p.X.Tick.Marker, p.Y.Tick.Marker = ticks{label: count, whole: true}, ticks{label: percentTick}
			p.Add(gridLines(true, false))
			last, top := searchPanel(p, r, ls[r.Arm])
			if last == 0 {
				continue
			}
			most, high = max(most, last), max(high, top)
			panels = append(panels, p)
		}
	}
	if len(panels) == 0 {
		return nil
	}
	for _, p := range panels {
		p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0.3, most+0.4, 0, min(1, high*1.08+0.02)
	}
	dot := draw.GlyphStyle{Color: grey, Radius: 2, Shape: draw.CircleGlyph{}}
	in := draw.GlyphStyle{Color: black, Radius: 3, Shape: draw.RingGlyph{}}
	again := runnerUp
	best := draw.LineStyle{Color: black, Width: 1.75}
	return &figure{
		name: "search", title: "Harness phases: scores by proposer session", w: 220, h: 150, panels: grid(panels, 3),
		legend:  []legendEntry{{name: "candidate", glyph: &dot}, {name: "incoming harness", glyph: &in}, {name: "runner-up of earlier phases, scored anew", glyph: &again}, {name: "best of the phase so far", line: &best}},
		caption: "Each panel is a run. Scores of one phase are measured under its own weights; they are not comparable with those of another phase, so the line begins anew.",
	}
}

// searchPanel adds a run's harness phases to a panel and gives the last session's number and the best score.
func searchPanel(p *plot.Plot, r *Run, l look) (last, top float64) {
	for _, ph := range r.Phases {
		if ph.Kind != recipe.PhaseHarness || len(ph.Sessions) == 0 {
			continue
		}
		var dots, best plotter.XYs
		first := float64(ph.Sessions[0].Session)
		if ph.Incoming != nil {
			at := plotter.XY{X: first - 0.5, Y: *ph.Incoming}
			best = append(best, at)
			top = max(top, at.Y)
			p.Add(&plotter.Scatter{XYs: plotter.XYs{at}, GlyphStyle: draw.GlyphStyle{Color: black, Radius: 3, Shape: draw.RingGlyph{}}})
		}
		var again plotter.XYs
		for _, c := range ph.RunnersUp {
			if c.Score != nil {
				again = append(again, plotter.XY{X: first - 0.5, Y: *c.Score})
				top = max(top, *c.Score)
			}
		}
		p.Add(&plotter.Scatter{XYs: again, GlyphStyle: runnerUp})
		for _, s := range ph.Sessions {
			x := float64(s.Session)
			for _, c := range s.Candidates {
				if c.Score != nil {
					dots = append(dots, plotter.XY{X: x, Y: *c.Score})
					top = max(top, *c.Score)
				}
			}
			if s.Best != nil {
				best = append(best, plotter.XY{X: x, Y: *s.Best})
			}
			last = max(last, x)
		}
		p.Add(&plotter.Scatter{XYs: dots, GlyphStyle: draw.GlyphStyle{Color: grey, Radius: 2, Shape: draw.CircleGlyph{}}}, line(best, draw.LineStyle{Color: l.color, Width: 1.75}))
	}
	return last, top
}
