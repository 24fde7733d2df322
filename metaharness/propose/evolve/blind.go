package evolve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/metaharness"
)

// Blind is a session that knows nothing of scores and trajectories: it writes up to in.Candidates edits of the first program of the
// workspace's index, drawn from the catalogue of edits that [Proposer] has. As there, a third of them combine two or three edits. Each kind
// and target of edit is as likely as every other, and so is each of its values. It is what package random draws its candidates with.
func Blind(ctx context.Context, in whale.Session) (whale.SessionCost, error) {
	ws, err := readWorkspace(in.Workspace)
	if err != nil {
		return whale.SessionCost{}, err
	}
	start := &ws.programs[0]
	if start.program == nil {
		return whale.SessionCost{}, errors.New("the incoming program cannot be edited")
	}
	ws.programs = ws.programs[:1]
	s := &session{
		dir: in.Workspace, ws: ws, rand: rand.New(rand.NewPCG(uint64(in.Seed), version)), promptOnly: in.PromptOnly,
		cache: map[whale.ID]*studied{start.line.ID: {evidence: gather(ws, nil)}},
	}
	for i := range in.Candidates {
		if err := s.drawOne(ctx, i, start); err != nil {
			return whale.SessionCost{}, fmt.Errorf("candidate %d: %w", i+1, err)
		}
	}
	return whale.SessionCost{}, nil
}

// drawOne writes candidate i. What does not parse or resolve, or was drawn before, is thrown away and another one drawn.
func (s *session) drawOne(ctx context.Context, i int, start *archived) error {
	edits := 1
	if plan(i%int(plans)) == combine {
		edits = 2 + min(1, s.rand.IntN(4)/3)
	}
	for range maxTries {
		if err := ctx.Err(); err != nil {
			return err
		}
		source, used := s.drawEdits(start, edits)
		id := whale.HarnessID([]byte(source))
		if len(used) == 0 || s.ws.seen[id] || len(source) > metaharness.MaxSource || check(source, s.ws.known) != nil {
			continue
		}
		s.ws.seen[id] = true
		return s.saveDrawn(i, start, source, used)
	}
	return fmt.Errorf("no new program in %d tries", maxTries)
}

// drawEdits applies up to n random edits, one after the other. It gives no edits where they do not make a program.
func (s *session) drawEdits(start *archived, n int) (source string, used []mutation) {
	source = start.source
	mutations := s.ofParent(start)
	for {
		m := s.drawUniformly(mutations, used)
		if m == nil {
			return source, used
		}
		next, err := splice(source, m.edits)
		if err != nil {
			return "", nil
		}
		p, err := parse(next, s.ws.lib)
		if err != nil {
			return "", nil
		}
		source, used = next, append(used, *m)
		if len(used) == n {
			return source, used
		}
		mutations = s.mutations(p, start)
	}
}

// drawUniformly draws a group of mutations, and one of it; nil where none is left.
func (s *session) drawUniformly(mutations []mutation, used []mutation) *mutation {
	var names []string
	groups := map[string][]int{}
	for i := range mutations {
		m := &mutations[i]
		if clashes(m, used) {
			continue
		}
		if groups[m.group()] == nil {
			names = append(names, m.group())
		}
		groups[m.group()] = append(groups[m.group()], i)
	}
	if len(names) == 0 {
		return nil
	}
	members := groups[names[s.rand.IntN(len(names))]]
	return &mutations[members[s.rand.IntN(len(members))]]
}

// saveDrawn writes candidates/<name>.star and .json.
func (s *session) saveDrawn(i int, start *archived, source string, used []mutation) error {
	var changed, operators []string
	for k := range used {
		changed = append(changed, used[k].what)
		operators = append(operators, used[k].key())
	}
	meta, err := json.MarshalIndent(metaharness.CandidateMeta{
		Hypothesis: "Drawn at random. Change: " + strings.Join(changed, "; ") + ".", Axis: string(used[0].axis), Parent: string(start.line.ID), Operators: operators,
	}, "", "  ")
	if err != nil {
		return err
	}
	name := fmt.Sprintf("%d-random-%s", i+1, strings.Trim(unsafeName.ReplaceAllString(strings.ToLower(used[0].op+"-"+used[0].target), "-"), "-"))
	base := filepath.Join(s.dir, "candidates", name[:min(len(name), 60)])
	if err := os.WriteFile(base+".star", []byte(source), 0o644); err != nil {
		return err
	}
	return os.WriteFile(base+".json", append(meta, '\n'), 0o644)
}
