package main

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dustin/go-humanize/english"

	"github.com/seed-095d5d2b/whale/recipe"
)

// view shows a run's progress. Its methods are called from the run's goroutine.
type view interface {
	begin(*recipe.Run)
	event(recipe.Event)
	end()
}

func (a *app) newView() view {
	if a.json {
		return &jsonView{app: a}
	}
	return &textView{app: a, start: a.now()}
}

// jsonView prints each event as one line of JSON on stdout.
type jsonView struct{ app *app }

func (v *jsonView) begin(*recipe.Run)    {}
func (v *jsonView) event(e recipe.Event) { v.app.printJSON(e) }
func (v *jsonView) end()                 {}

// textView prints a line an event on stderr and, on a terminal, a status line that is redrawn below them.
type textView struct {
	app   *app
	start time.Time

	mu     sync.Mutex // guards the terminal and what the status line shows
	run    *recipe.Run
	phase  string
	reward string // of the last step
	stop   chan struct{}
	done   chan struct{}
}

// redraw is how often the status line is drawn.
const redraw = 250 * time.Millisecond

func (v *textView) begin(r *recipe.Run) {
	v.mu.Lock()
	v.run = r
	v.mu.Unlock()
	if !v.app.live {
		return
	}
	v.stop, v.done = make(chan struct{}), make(chan struct{})
	go func() {
		defer close(v.done)
		tick := time.NewTicker(redraw)
		defer tick.Stop()
		for {
			select {
			case <-v.stop:
				return
			case <-tick.C:
				v.mu.Lock()
				fmt.Fprint(v.app.stderr, "\r\x1b[K"+clip(v.status(), v.app.width()-1))
				v.mu.Unlock()
			}
		}
	}()
}

func (v *textView) end() {
	if v.stop == nil {
		return
	}
	close(v.stop)
	<-v.done
	v.stop = nil
	fmt.Fprint(v.app.stderr, "\r\x1b[K")
}

func (v *textView) event(e recipe.Event) {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case e.Phase != nil:
		v.phase = e.Phase.Kind + " phase"
	case e.Kind == recipe.EventFinal:
		v.phase = "final evaluation"
	}
	if e.Step != nil {
		v.reward = fmt.Sprintf("reward %.3f", e.Step.Reward)
	}
	line := describe(e)
	if line == "" {
		return
	}
	if e.Replayed {
		line += "  (from the journal)"
	}
	clear := ""
	if v.app.live {
		clear = "\r\x1b[K"
	}
	fmt.Fprintf(v.app.stderr, "%s%s  %s\n", clear, clock(v.app.now().Sub(v.start)), line)
}

// status is the live line: phase, rollouts, reward, speed, time left.
func (v *textView) status() string {
	p := &v.run.Progress
	elapsed := v.app.now().Sub(v.start)
	made, total := p.Rollouts.Load(), v.run.Plan().Total()
	done := min(p.Done(), total)
	parts := []string{clock(elapsed), v.phase, fmt.Sprintf("%d/%d rollouts", done, total), v.reward}
	if s := elapsed.Seconds(); s > 1 && made > 0 {
		left := time.Duration(float64(total-done) / (float64(made) / s) * float64(time.Second))
		parts = append(parts, fmt.Sprintf("%.0f tokens/s", float64(p.SampledTokens.Load())/s), "at most "+clock(left)+" left")
	}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "  ")
}

// describe is an event as one line for people; "" says nothing.
func describe(e recipe.Event) string {
	switch e.Kind {
	case recipe.EventBegin:
		return fmt.Sprintf("%s: %s, %s, %s; %s", e.Dir, english.Plural(e.Plan.Cycles, "cycle", ""), english.Plural(e.Plan.Steps, "step", ""), english.Plural(e.Plan.Sessions, "session", ""), e.Text)
	case recipe.EventNotice:
		return "note: " + oneLine(e.Text)
	case recipe.EventPhase:
		if e.Phase.Kind == recipe.PhaseWeight {
			return fmt.Sprintf("cycle %d, weight phase: steps %d to %d", e.Phase.Cycle, e.Phase.From+1, e.Phase.To)
		}
		return fmt.Sprintf("cycle %d, harness phase: %s", e.Phase.Cycle, english.Plural(e.Phase.Sessions, "session", ""))
	case recipe.EventStep:
		return describeStep(e.Step)
	case recipe.EventSession:
		return fmt.Sprintf("  session %d: %s", e.Session, oneLine(e.Text))
	case recipe.EventCandidate:
		if e.Score == nil {
			return fmt.Sprintf("    %s  %s", short(e.Harness), oneLine(e.Text))
		}
		return fmt.Sprintf("    %s  score %.3f  %s", short(e.Harness), *e.Score, oneLine(e.Text))
	case recipe.EventAccepted:
		return fmt.Sprintf("  accepted %s at %.3f (%s)", short(e.Harness), *e.Score, e.Text)
	case recipe.EventCurve:
		line := fmt.Sprintf("%s after %-9s %.3f", e.Split, e.At, *e.Score)
		if e.Validation != nil {
			line += fmt.Sprintf(", validation %.3f", *e.Validation)
		}
		return line + "  (one draw an example)"
	case recipe.EventHalves:
		c := e.Halves.Cells
		return fmt.Sprintf("cycle %d on the search split: %.3f; new weights alone %.3f, new harness alone %.3f, both %.3f", e.Halves.Cycle, c[0].Mean, c[1].Mean, c[2].Mean, c[3].Mean)
	case recipe.EventCell:
		return fmt.Sprintf("  %s  %.3f", e.At, *e.Score)
	case recipe.EventFinal:
		return "final evaluation of " + e.Text
	}
	return ""
}

func short(id string) string {
	if len(id) > 8 {
		return id[:8]
	}
	return id
}

func clip(s string, n int) string {
	r := []rune(s)
	if len(r) > n {
		return string(r[:max(0, n)])
	}
	return s
}

// clock is a duration as m:ss, or h:mm:ss.
func clock(d time.Duration) string {
	s := int(d.Seconds())
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}
