package evolve

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/metaharness"
)

// evidence is why a program's episodes fail, in terms that hold for any task. Shares are of the episodes without reward.
type evidence struct {
	episodes, failing int

	outOfTurns float64 // the episode ended right after a tool was used: the result was never answered, for want of turns
	atLimit    float64 // it made as many model calls as any episode of the program, and did not end after a tool
	length     float64 // a reply was cut by the token limit
	noTool     float64 // no tool was used, where tools are used at all
	noToolLift float64 // noTool minus the same share among rewarded episodes
	toolError  float64 // a tool answered with an error
	program    float64 // the program raised an error or broke the contract
	noAnswer   float64 // no reply was returned
	unmet      float64 // the reason names something that the reply lacks

	tool        *toolStudy // nil where no tool is used
	replyTokens int        // that 95 in 100 of the replies keep to which end by themselves

	about   string // the task's description
	reason  string // the most frequent reason
	markers []marker

	examples []example // calls that the description shows
}

// marker is a piece of text that answers are asked to have, found in reasons or in the description of the task.
type marker struct {
	text   string
	weight float64
}

func gather(w *workspace, trajectories []metaharness.Trajectory) evidence {
	e := evidence{episodes: len(trajectories), about: w.about, tool: studyTool(trajectories), replyTokens: replyTokens(trajectories), examples: findExamples(w.about, w.lib)}
	most, toolsUsed := 0, false
	reasons := map[string]int{}
	for i := range trajectories {
		most = max(most, trajectories[i].Usage.ModelCalls)
		toolsUsed = toolsUsed || usedTool(&trajectories[i])
	}
	var passing, passingNoTool float64
	for i := range trajectories {
		t := &trajectories[i]
		if t.Reward > 0.5 {
			passing++
			passingNoTool += share(!usedTool(t))
			continue
		}
		e.failing++
		reason := cmp.Or(t.Reason, t.Failure)
		reasons[reason]++
		// A program that gives up after an error had turns left, unless it made as many calls as it ever makes.
		ended := endedAfterTool(t) && (t.Usage.ModelCalls == most || !lastToolFailed(t))
		e.outOfTurns += share(ended)
		e.atLimit += share(!ended && t.Usage.ModelCalls == most)
		e.length += share(slices.ContainsFunc(t.Turns, func(t metaharness.Turn) bool { return t.Finish == whale.FinishLength }))
		e.noTool += share(toolsUsed && !usedTool(t))
		e.toolError += share(toolFailed(t))
		e.program += share(t.Failure == string(whale.FailProgram) || t.Failure == string(whale.FailContract) || t.Failure == string(whale.FailAnswer))
		e.noAnswer += share(t.Answer == 0)
		e.unmet += share(lacking.MatchString(t.Reason) || len(markersOf(t.Reason)) > 0)
	}
	if n := float64(e.failing); n > 0 {
		for _, s := range []*float64{&e.outOfTurns, &e.atLimit, &e.length, &e.noTool, &e.toolError, &e.program, &e.noAnswer, &e.unmet} {
			*s /= n
		}
	}
	e.noToolLift = e.noTool
	if passing > 0 {
		e.noToolLift -= passingNoTool / passing
	}
	e.reason = mostFrequent(reasons)
	e.markers = findMarkers(w.about, reasons)
	return e
}

func share(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

func usedTool(t *metaharness.Trajectory) bool {
	return len(t.Tools) > 0 || slices.ContainsFunc(t.Turns, func(t metaharness.Turn) bool { return len(t.Tools) > 0 })
}

func endedAfterTool(t *metaharness.Trajectory) bool {
	n := len(t.Turns)
	if n == 0 {
		return false
	}
	last := &t.Turns[n-1]
	return len(last.Tools) > 0 && !last.Tools[len(last.Tools)-1].Done || len(last.Tools) == 0 && len(last.ToolCalls) > 0
}

// lastToolFailed says whether the last tool use of the last turn gave an error.
func lastToolFailed(t *metaharness.Trajectory) bool {
	if len(t.Turns) == 0 {
		return false
	}
	tools := t.Turns[len(t.Turns)-1].Tools
	return len(tools) > 0 && tools[len(tools)-1].Error != ""
}

func toolFailed(t *metaharness.Trajectory) bool {
	failed := func(u metaharness.ToolUse) bool { return u.Error != "" }
	return slices.ContainsFunc(t.Tools, failed) ||
		slices.ContainsFunc(t.Turns, func(t metaharness.Turn) bool { return slices.ContainsFunc(t.Tools, failed) })
}

func mostFrequent(counts map[string]int) string {
	top := ""
	for text, n := range counts {
		if m := counts[top]; n > m || n == m && text < top {
			top = text
		}
	}
	return top
}

var (
	lacking = regexp.MustCompile(`(?i)\b(no|without|missing|lacks?|empty|absent)\b`)
	// What stands in quotation marks or backquotes, a command of a mark-up language, a tag.
	quoted  = regexp.MustCompile("`([^`\n]{1,40})`|\"([^\"\n]{1,40})\"|(\\\\[A-Za-z]+(?:\\{\\})?)|(</?[A-Za-z][A-Za-z0-9_-]{0,20}>)")
	numeric = regexp.MustCompile(`[0-9]`)
)

// markersOf gives the pieces of text that a sentence quotes. What holds a number is left out, for it could be an answer.
func markersOf(text string) []string {
	var out []string
	for _, m := range quoted.FindAllStringSubmatch(text, -1) {
		found := strings.TrimSpace(cmp.Or(m[1], m[2], m[3], m[4]))
		if found != "" && !numeric.MatchString(found) && !slices.Contains(out, found) {
			out = append(out, found)
		}
	}
	return out
}

// findMarkers weighs markers: one that reasons name counts by the share of failing episodes whose reason does, one of the description
// counts a little. One that only a few reasons name is left out: it is about single examples.
func findMarkers(about string, reasons map[string]int) []marker {
	total := 0
	counts := map[string]int{}
	for reason, n := range reasons {
		total += n
		for _, m := range markersOf(reason) {
			counts[m] += n
		}
	}
	weights := map[string]float64{}
	for text, n := range counts {
		if n >= 2 && 5*n >= total {
			weights[text] = 4 * float64(n) / float64(total)
		}
	}
	for _, m := range markersOf(about) {
		weights[m] += 0.5
	}
	var out []marker
	for text, weight := range weights {
		out = append(out, marker{text, weight})
	}
	slices.SortFunc(out, func(a, b marker) int { return cmp.Or(cmp.Compare(b.weight, a.weight), strings.Compare(a.text, b.text)) })
	return out[:min(len(out), 6)]
}
