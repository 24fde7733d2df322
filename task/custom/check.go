package custom

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/task/answer"
)

// CheckOptions say how much is tried.
type CheckOptions struct {
	// Costly is how many reference answers, spread evenly, are given to a verifier that asks a judge or runs a command; 0 = 20. Others get all.
	Costly int
	// Episodes is how many episodes Run is asked for, of the first examples of the first split that has any; a task that has problems runs none.
	Episodes int
	// Run runs an episode of the task's first harness; nil = none are run. Its error ends the check.
	Run func(ctx context.Context, t *Task, s whale.Split, x whale.Example) (*whale.Rollout, error)
}

const costly = 20

// Check reads a task's folder and says all that is wrong with it. The error is the context's, that of Run, or one that leaves nothing to check, such as a task.yaml
// that cannot be read; whatever else is wrong is in the report.
func Check(ctx context.Context, c Config, deps Deps, o CheckOptions) (*Report, error) {
	m, err := ReadManifest(c.Folder)
	if err != nil {
		return nil, err
	}
	r := &Report{
		Name: m.Name, Splits: []SplitCount{}, Files: []FileCount{}, Tools: []string{}, Episodes: []Trial{}, Problems: []Problem{}, Warnings: []Problem{},
	}
	t, err := open(ctx, c.Folder, m, deps, r)
	if cause := ctx.Err(); cause != nil {
		return nil, cause
	}
	if err != nil {
		r.problem(ManifestFile, err.Error())
		return r, nil
	}
	defer t.Close()
	r.ID = t.id
	r.describe(t)
	r.near(t)
	if err := r.verify(ctx, t, o); err != nil {
		return nil, err
	}
	if o.Run == nil || !r.OK() {
		return r, nil
	}
	return r, r.episodes(ctx, t, o)
}

// describe counts.
func (r *Report) describe(t *Task) {
	total := 0
	for _, s := range splits() {
		n := len(t.data.items[s])
		total += n
		r.Splits = append(r.Splits, SplitCount{s, n})
		if n == 0 && s != whale.SplitValidation {
			r.warn("", fmt.Sprintf("split %s has no examples; a run needs some", s))
		}
	}
	if total == 0 {
		r.problem("", "there are no examples")
	}
	for _, path := range slices.Sorted(maps.Keys(t.data.rows)) {
		r.Files = append(r.Files, FileCount{path, t.data.rows[path]})
	}
	r.Left, r.Repeated = t.data.left, t.data.repeated
	for _, tool := range t.tools {
		r.Tools = append(r.Tools, tool.Spec().Name)
	}
}

// near warns of examples in two splits that differ in punctuation and articles alone: what loading takes for the same is stricter.
func (r *Report) near(t *Task) {
	type first struct {
		split whale.Split
		at    string
	}
	seen := map[string]first{}
	for _, s := range splits() {
		for _, it := range t.data.items[s] {
			r.told(t.manifest, it)
			var b strings.Builder
			for _, name := range slices.Sorted(maps.Keys(it.example.View)) {
				b.WriteString(answer.Squad(it.example.View[name]))
				b.WriteByte('\n')
			}
			form := b.String()
			if strings.TrimSpace(form) == "" {
				continue // nothing but punctuation: a formula, say
			}
			before, ok := seen[form]
			switch {
			case !ok:
				seen[form] = first{s, it.at}
			case before.split != s:
				r.warn(it.at, fmt.Sprintf("of split %s, differs from %s, of split %s, in punctuation or articles alone", s, before.at, before.split))
			}
		}
	}
}

// told warns of a field that shows the answer itself.
func (r *Report) told(m Manifest, it item) {
	texts, err := it.answers()
	if err != nil {
		return // verify tells
	}
	for _, name := range slices.Sorted(maps.Keys(it.example.View)) {
		if slices.Contains(texts, it.example.View[name]) {
			r.warn(it.at, fmt.Sprintf("view.%s, field %q, is the reference answer", name, m.View[name]))
		}
	}
}

// verify gives the verifier every reference answer, which it must accept, and an empty reply, which it must not.
func (r *Report) verify(ctx context.Context, t *Task, o CheckOptions) error {
	v := t.manifest.Verifier.resolved()
	var all []item
	for _, s := range splits() {
		all = append(all, t.data.items[s]...)
	}
	if len(t.manifest.Answer) == 0 || v.Reply == "" {
		r.Skipped = "there are no reference answers"
		if v.Reply == "" && len(t.manifest.Answer) > 0 {
			r.Skipped = "verifier.reply does not say how a right reply is written"
		}
		all = all[:min(len(all), 1)]
	}
	if v.Kind == KindCommand || v.Compare == KindJudge {
		most := o.Costly
		if most <= 0 {
			most = costly
		}
		if len(all) > most {
			r.Skipped = fmt.Sprintf("%d of %d were tried, since each is a process or a call", most, len(all))
			all = spread(all, most)
		}
	}
	for i, it := range all {
		if err := ctx.Err(); err != nil {
			return err
		}
		if i == 0 { // the empty reply is the same for all
			got, err := t.verifier.Verify(ctx, it.example, replied(""))
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case err != nil:
				r.problem(it.at, "the verifier failed on an empty reply: "+err.Error())
			case got.Reward != 0:
				r.problem(it.at, "the verifier takes an empty reply for right")
			}
		}
		if r.Skipped != "" && (len(t.manifest.Answer) == 0 || v.Reply == "") {
			break
		}
		texts, err := it.answers()
		if err != nil {
			return err
		}
		for _, text := range texts {
			reply := strings.ReplaceAll(v.Reply, "{answer}", text)
			got, err := t.verifier.Verify(ctx, it.example, replied(reply))
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case err != nil:
				r.problem(it.at, "the verifier failed on the reference answer: "+err.Error())
			case got.Metrics[MetricFallback] == 1:
				r.warn(it.at, "the judge gave no judgement of the reference answer; exact match decided")
			case got.Reward != 1:
				r.problem(it.at, fmt.Sprintf("the verifier does not take the reference answer %q for right: %s", clip(text), got.Reason))
			}
			r.Verified++
		}
	}
	return nil
}

// answers are the texts of an example's references.
func (it item) answers() ([]string, error) {
	var ref reference
	if err := json.Unmarshal(it.example.Answer, &ref); err != nil {
		return nil, err
	}
	texts := ref.Texts
	for _, path := range slices.Sorted(maps.Keys(ref.Values)) {
		text := string(ref.Values[path])
		var s string
		if json.Unmarshal(ref.Values[path], &s) == nil {
			text = s
		}
		texts = append(texts, text)
	}
	return texts, nil
}

// spread takes n of a list, evenly, the first and the last among them.
func spread[T any](list []T, n int) []T {
	if n == 1 {
		return list[:1]
	}
	out := make([]T, n)
	for i := range out {
		out[i] = list[i*(len(list)-1)/(n-1)]
	}
	return out
}

// replied is an episode of one reply.
func replied(text string) *whale.Episode {
	return &whale.Episode{Calls: []whale.ModelCall{{Text: text, Completion: whale.Completion{Finish: whale.FinishStop}}}, Answer: 1}
}

// episodes runs the trials.
func (r *Report) episodes(ctx context.Context, t *Task, o CheckOptions) error {
	for _, s := range splits() {
		list := t.data.items[s]
		for _, it := range list[:min(len(list), o.Episodes)] {
			got, err := o.Run(ctx, t, s, it.example)
			if err != nil {
				return fmt.Errorf("custom: episode on %s: %w", it.at, err)
			}
			r.Episodes = append(r.Episodes, Trial{s, it.example.ID, got})
			switch f := got.Episode.Failure; {
			case got.State == whale.StateError:
				r.problem(it.at, "an episode met an error: "+got.Error)
			case f != nil && f.Reason.OfProgram():
				r.problem(it.at, fmt.Sprintf("the harness failed: %s: %s", f.Reason, f.Detail))
			}
		}
		if len(list) > 0 {
			return nil
		}
	}
	return nil
}
