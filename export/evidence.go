package export

import (
	"fmt"
	"strings"

	"github.com/dustin/go-humanize/english"

	"github.com/seed-095d5d2b/whale/recipe"
)

// maxRows bounds each table of the card: a run of many phases is better read in its own report.
const maxRows = 60

// results gives the final table, or where there is none the curve.
func (x *exporter) results(b *strings.Builder) {
	st := x.story
	if len(st.Final) == 0 {
		fmt.Fprintf(b, "\n## What it scored\n\nThe run has no final table yet.\n")
	} else {
		first := st.Final[0]
		fmt.Fprintf(b, "\n## What it scored\n\nMean@%d on the %s split, %s; intervals of 95%% by bootstrap over examples, for this one run.\n\n", first.Draws, st.Config.Evaluation.Split, english.Plural(first.Examples, "example", ""))
		b.WriteString("| pair | mean | interval | weights | harness | |\n|---|---|---|---|---|---|\n")
		for _, p := range st.Final[:min(len(st.Final), maxRows)] {
			this := ""
			if p.Weights == x.moment.Weights && p.Harness == x.moment.Harness {
				this = "this export"
			}
			fmt.Fprintf(b, "| %s | %.1f%% | [%.1f, %.1f] | `%s` | `%s` | %s |\n", cell(p.Name), 100*p.Mean, 100*p.Low, 100*p.High, cell(p.Weights.Short()), cell(p.Harness.Short()), this)
		}
		b.WriteString("\nθ0 and h0 are the base model and the first harness, θK and hK what the run ended with. A pair chosen on the test split flatters itself.\n")
		if st.Chance != nil {
			fmt.Fprintf(b, "Answering at random solves %.1f%%.\n", 100**st.Chance)
		}
	}
	if len(st.Curve) == 0 {
		return
	}
	b.WriteString("\nOne draw an example on the way:\n\n| at | steps | sessions | training rollouts | mean | interval |\n|---|---|---|---|---|---|\n")
	for _, p := range st.Curve[:min(len(st.Curve), maxRows)] {
		fmt.Fprintf(b, "| %s | %d | %d | %d | %.1f%% | [%.1f, %.1f] |\n", cell(p.At), p.Steps, p.Sessions, p.Rollouts, 100*p.Test.Mean, 100*p.Test.Low, 100*p.Test.High)
	}
	more(b, len(st.Curve))
}

// more says that a table was cut.
func more(b *strings.Builder, n int) {
	if n > maxRows {
		fmt.Fprintf(b, "\nThe run directory has %d more.\n", n-maxRows)
	}
}

// made says how it was made: phases, what was tried and spent, and with what.
func (x *exporter) made(b *strings.Builder) {
	st := x.story
	b.WriteString("\n## How it was made\n\n| phase | steps | sessions | why it ended | weights | harness |\n|---|---|---|---|---|---|\n")
	for _, ph := range st.Phases[:min(len(st.Phases), maxRows)] {
		why := strings.TrimPrefix(ph.Text, "phase "+ph.Name()+" ended: ")
		if !ph.Done {
			why = "not ended"
		}
		fmt.Fprintf(b, "| %s | %d | %d | %s | `%s` | `%s` |\n", cell(ph.Name()), ph.Steps, ph.Sessions, cell(why), cell(ph.Weights.Short()), cell(ph.Harness.Short()))
	}
	more(b, len(st.Phases))
	if tried := st.Tried.String(); tried != "" {
		fmt.Fprintf(b, "\nTried: %s.\n", text(tried))
	}
	if len(st.Ledger) > 0 {
		b.WriteString("\nSpent, by purpose:\n\n| purpose | rollouts | sessions | model calls | tool calls | prompt tokens | sampled tokens | seconds | USD |\n|---|---|---|---|---|---|---|---|---|\n")
		purposes := sortedKeys(st.Ledger)
		for _, p := range purposes[:min(len(purposes), maxRows)] {
			m := st.Ledger[p]
			fmt.Fprintf(b, "| %s | %.0f | %.0f | %.0f | %.0f | %.0f | %.0f | %.1f | %.2f |\n", cell(p), m["rollouts"], m["sessions"], m["model_calls"], m["tool_calls"], m["prompt_tokens"], m["sampled_tokens"], m["seconds"], m["usd"])
		}
	}
	row := func(what, value string) { fmt.Fprintf(b, "- %s: %s\n", what, value) }
	b.WriteString("\n")
	row("run seed", fmt.Sprint(st.Config.Seed))
	row("kernels of the run", code(or(st.Begin.Kernels)))
	row("build of the run (SHA-256, beginning)", code(or(st.Begin.Build)))
	row("build of the export", code(or(x.options.Build)))
}

func or(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}

// limits says what the figures do not.
func (x *exporter) limits(b *strings.Builder) {
	b.WriteString("\n## Limits\n\n")
	for _, line := range x.warnings() {
		fmt.Fprintf(b, "- %s\n", text(line))
	}
}

func (x *exporter) warnings() []string {
	st := x.story
	list := []string{
		"One run with one seed: another seed may come out elsewhere, and the intervals do not say how far.",
		"The harness was chosen by its score on the search split, the best of all that were tried there; its score on that split flatters it.",
		"Trained and chosen for one task and its verifier: whatever the verifier rewards was reinforced, right or not, and nothing else was looked at.",
	}
	switch x.moment.Name {
	case recipe.MomentFinal:
	case recipe.MomentLatest:
		list = append(list, "The run was not finished: this is the latest pair that it had come to, and not what it ends with.")
	default:
		list = append(list, fmt.Sprintf("This is not what the run ended with, but the pair at %s, chosen by whoever exported it. If that was done by looking at test scores, they flatter it.", x.moment.Name))
	}
	for _, p := range st.Final {
		if p.Name == recipe.PairBestTest && p.Weights == x.moment.Weights && p.Harness == x.moment.Harness {
			list = append(list, "By the run's curve this pair is the best on the test split; a choice by that figure is a choice on test.")
		}
	}
	if st.Tried.EmptySteps > 0 {
		list = append(list, fmt.Sprintf("%d of %s had nothing to learn from.", st.Tried.EmptySteps, english.Plural(st.Tried.Steps, "rollout step", "")))
	}
	if x.moment.Steps == 0 {
		list = append(list, "The weights are those of the base model: no step was trained before this moment.")
	}
	if x.moment.Harness == st.Begin.Harness {
		list = append(list, "The harness is the one that the run began with.")
	}
	return list
}
