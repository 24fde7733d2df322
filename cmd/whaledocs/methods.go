package main

import (
	"fmt"
	"strings"

	"github.com/seed-095d5d2b/whale/recipe"
)

// Pixels of the figure of methods.
const (
	methodsWidth = 980
	methodsLeft  = 130 // where bars begin
	methodsBar   = 660 // the longest bar
	methodsTop   = 60
	methodsRow   = 44
	methodsTall  = 24 // of a bar
)

// methodsFigure draws the phases of each method by their rollouts, as plans lay them out, for a small config. It is legible on light and dark
// pages, and runs nothing.
func methodsFigure(source) (string, error) {
	c := recipe.Default()
	c.Weight.Batch, c.Weight.Group = 64, 4
	c.Schedule.Epochs, c.Schedule.Sessions, c.Schedule.TotalEpochs = 0.5, 3, 2
	sizes := recipe.Counts{Train: 512, Search: 64, Validation: 128, Test: 200}
	var plans []recipe.Plan
	most := 0
	for _, m := range recipe.Methods() {
		c.Schedule.Method = m
		p, err := recipe.MakePlan(c, sizes)
		if err != nil {
			return "", err
		}
		plans = append(plans, p)
		most = max(most, p.WeightRollouts+p.SearchRollouts)
	}
	var b strings.Builder
	height := methodsTop + len(plans)*methodsRow + 44
	fmt.Fprintf(&b, methodsHead, methodsWidth, height, methodsWidth, height, methodsWidth, height)
	for i, p := range plans {
		drawPlan(&b, p, methodsTop+i*methodsRow, float64(methodsBar)/float64(most))
	}
	fmt.Fprintf(&b, "<text class=\"soft\" x=\"%d\" y=\"%d\">Width: rollouts that a phase may take. E = %g epochs, I = %d sessions, %g epochs in all.</text>\n</svg>\n",
		methodsLeft, height-18, c.Schedule.Epochs, c.Schedule.Sessions, c.Schedule.TotalEpochs)
	return b.String(), nil
}

// drawPlan draws a method's bar at a height, with so many pixels a rollout.
func drawPlan(b *strings.Builder, p recipe.Plan, y int, scale float64) {
	fmt.Fprintf(b, "<text class=\"ink\" x=\"24\" y=\"%d\">%s</text>\n", y+17, p.Method)
	x := float64(methodsLeft)
	rect := func(class string, rollouts int) (from, width float64) {
		from, width = x, float64(rollouts)*scale
		fmt.Fprintf(b, "<rect class=\"%s\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>\n", class, from, y, width, methodsTall)
		x += width
		return from, width
	}
	if p.Adaptive != nil {
		// Its phases are known one by one, as they end.
		from, width := rect("rule", p.WeightRollouts+p.SearchRollouts)
		fmt.Fprintf(b, "<text class=\"soft\" x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">weight and harness phases in turns, each ended by the rule</text>\n", from+width/2, y+17)
	}
	points := []float64{x} // of the curve; drawn last, on top
	for _, ph := range p.Phases {
		class, first, size := "w", ph.From, ph.Steps
		if ph.Kind == recipe.PhaseHarness {
			class, first, size = "h", ph.First, ph.Sessions
		}
		from, width := rect(class, ph.Rollouts)
		for _, m := range ph.Marks {
			points = append(points, from+width*float64(m-first)/float64(size))
		}
		points = append(points, from+width)
	}
	for _, at := range points {
		fmt.Fprintf(b, "<circle class=\"dot\" cx=\"%.1f\" cy=\"%d\" r=\"3\"/>\n", at, y+methodsTall/2)
	}
	fmt.Fprintf(b, "<text class=\"soft\" x=\"%d\" y=\"%d\">%s</text>\n", methodsLeft+methodsBar+14, y+17, totals(p))
}

func totals(p recipe.Plan) string {
	var parts []string
	if p.Steps > 0 {
		parts = append(parts, fmt.Sprintf("%d steps", p.Steps))
	}
	if p.Sessions > 0 {
		text := fmt.Sprintf("%d sessions", p.Sessions)
		if p.Adaptive != nil {
			text = "≤ " + text
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

// methodsHead begins the figure: sizes, colours for light and dark pages, the legend.
const methodsHead = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-labelledby="t d" font-family="system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif" font-size="14">
<title id="t">The phases of each method</title>
<desc id="d">A bar a method, with its weight phases and harness phases in order and the points of its curve. All methods have the same totals of steps and sessions on the sides that they have; adaptive may leave sessions unspent.</desc>
<style>
.page{fill:#fdfdfc}.ink{fill:#1f2328}.soft{fill:#57606a}.dot{fill:#1f2328}
.w{fill:#dbe9f9;stroke:#2f6fb3;stroke-width:1.5}.h{fill:#fbe7cf;stroke:#b26a12;stroke-width:1.5}
.rule{fill:none;stroke:#57606a;stroke-width:1.5;stroke-dasharray:6 4}
@media (prefers-color-scheme: dark){
.page{fill:#161b22}.ink{fill:#e6edf3}.soft{fill:#9da7b3}.dot{fill:#e6edf3}
.w{fill:#16304d;stroke:#6aa6e6}.h{fill:#46300f;stroke:#e0a04a}.rule{stroke:#9da7b3}}
</style>
<rect class="page" x="0" y="0" width="%d" height="%d" rx="10"/>
<rect class="w" x="130" y="18" width="22" height="16"/><text class="soft" x="160" y="31">weight phase</text>
<rect class="h" x="290" y="18" width="22" height="16"/><text class="soft" x="320" y="31">harness phase</text>
<circle class="dot" cx="461" cy="26" r="3"/><text class="soft" x="474" y="31">point of the curve</text>
`
