package evolve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/metaharness"
)

// version changes with what decides proposals, so that runs before and after are told apart.
const version = 2

// maxTries bounds the search for a candidate that is new and whole.
const maxTries = 200

// Proposer writes candidates by editing archived programs. It holds no state: sessions depend on their workspace and seed alone.
type Proposer struct{}

// New makes a proposer.
func New() *Proposer { return &Proposer{} }

var _ whale.Proposer = (*Proposer)(nil)

// Name is "evolve".
func (*Proposer) Name() string { return "evolve" }

// ID is the content hash of the proposer's version.
func (*Proposer) ID() whale.ID { return whale.HashOf("proposer", []any{"evolve", version}) }

// session is a proposer session under way.
type session struct {
	dir    string
	ws     *workspace
	rand   *rand.Rand
	bandit *bandit
	cache  map[whale.ID]*studied

	rebuilds   int  // that were tried
	promptOnly bool // whether only the prompts may be edited
}

// studied is what a parent's trajectories say.
type studied struct {
	evidence  evidence
	mined     []string
	mutations []mutation // of the program as it stands in the archive; made when first asked for
}

// candidate is a product.
type candidate struct {
	source string
	parent *archived
	kind   plan
	used   []mutation
}

// Propose writes up to s.Candidates programs. It costs no tokens and no money.
func (*Proposer) Propose(ctx context.Context, in whale.Session) (whale.SessionCost, error) {
	ws, err := readWorkspace(in.Workspace)
	if err != nil {
		return whale.SessionCost{}, fmt.Errorf("evolve: %w", err)
	}
	s := &session{
		dir: in.Workspace, ws: ws, rand: rand.New(rand.NewPCG(uint64(in.Seed), version)),
		bandit: learn(ws.index), cache: map[whale.ID]*studied{}, promptOnly: in.PromptOnly,
	}
	if err := s.studyAll(); err != nil {
		return whale.SessionCost{}, fmt.Errorf("evolve: %w", err)
	}
	for i := range in.Candidates {
		c, err := s.invent(ctx, s.planOf(i, in))
		if err != nil {
			return whale.SessionCost{}, fmt.Errorf("evolve: candidate %d: %w", i+1, err)
		}
		if err := s.save(i, c); err != nil {
			return whale.SessionCost{}, fmt.Errorf("evolve: candidate %d: %w", i+1, err)
		}
	}
	return whale.SessionCost{}, nil
}

// studyAll reads the trajectories of every program that can be a parent.
func (s *session) studyAll() error {
	for i := range s.ws.programs {
		a := &s.ws.programs[i]
		if a.program == nil {
			continue
		}
		trajectories, err := readTrajectories(s.dir, a.line.ID)
		if err != nil {
			return err
		}
		s.cache[a.line.ID] = &studied{evidence: gather(s.ws, trajectories), mined: mine(trajectories)}
	}
	return nil
}

func (s *session) evidenceOf(a *archived) *evidence { return &s.cache[a.line.ID].evidence }

func (s *session) minedOf(a *archived) []string { return s.cache[a.line.ID].mined }

// invent makes a new program. What does not parse or resolve, or is known already, is thrown away and another one tried.
func (s *session) invent(ctx context.Context, kind plan) (candidate, error) {
	for try := range maxTries {
		if err := ctx.Err(); err != nil {
			return candidate{}, err
		}
		parent := s.pickParent(kind)
		if parent == nil {
			return candidate{}, errors.New("no archived program can be edited")
		}
		// The more tries are in vain, the less the likeliest edits are insisted on.
		sharpness := kind.sharpness() * (1 - float64(try)/maxTries)
		c, ok := s.attempt(parent, kind, sharpness, try)
		id := whale.HarnessID([]byte(c.source))
		if !ok || s.ws.seen[id] || len(c.source) > metaharness.MaxSource || check(c.source, s.ws.known) != nil {
			continue
		}
		s.ws.seen[id] = true
		return c, nil
	}
	if kind != explore { // what this kind of plan can do is done: anything new is better than nothing
		return s.invent(ctx, explore)
	}
	return candidate{}, fmt.Errorf("no new program in %d tries", maxTries)
}

// compose applies one edit to the parent, or for a combination two or three, one after the other.
func (s *session) compose(parent *archived, kind plan, sharpness float64) (candidate, bool) {
	c := candidate{source: parent.source, parent: parent, kind: kind}
	steps := 1
	if kind == combine {
		steps = 2 + min(1, s.rand.IntN(4)/3)
	}
	p := parent.program
	mutations := s.ofParent(parent)
	for step := range steps {
		if step > 0 {
			mutations = s.mutations(p, parent)
		}
		m := s.pick(mutations, s.evidenceOf(parent), sharpness, c.used)
		if m == nil {
			return c, step > 0
		}
		next, err := splice(c.source, m.edits)
		if err != nil {
			return c, false
		}
		if p, err = parse(next, s.ws.lib); err != nil {
			return c, false
		}
		c.source = next
		c.used = append(c.used, *m)
	}
	return c, true
}

var unsafeName = regexp.MustCompile(`[^a-z0-9]+`)

// save writes candidates/<name>.star and .json.
func (s *session) save(i int, c candidate) error {
	name := fmt.Sprintf("%d-%s-%s", i+1, c.kind, strings.Trim(unsafeName.ReplaceAllString(strings.ToLower(c.used[0].op+"-"+c.used[0].target), "-"), "-"))
	name = name[:min(len(name), 60)]
	meta := metaharness.CandidateMeta{Hypothesis: s.hypothesis(c), Axis: string(c.used[0].axis), Parent: string(c.parent.line.ID)}
	for i := range c.used {
		meta.Operators = append(meta.Operators, c.used[i].key())
	}
	data, err := json.MarshalIndent(meta, "", "  ")
	if err != nil {
		return err
	}
	base := filepath.Join(s.dir, "candidates", name)
	if err := os.WriteFile(base+".star", []byte(c.source), 0o644); err != nil {
		return err
	}
	return os.WriteFile(base+".json", append(data, '\n'), 0o644)
}

// hypothesis says what was seen, what is changed and what should follow.
func (s *session) hypothesis(c candidate) string {
	e := s.evidenceOf(c.parent)
	var seen, changed, expected []string
	for i := range c.used {
		m := &c.used[i]
		seen = append(seen, e.says(m.axis))
		changed = append(changed, m.what)
		expected = append(expected, m.axis.expects())
	}
	return fmt.Sprintf("Seen in %s (%.3f): %s. Change: %s. Expected: %s.", c.parent.line.ID.Short(), *c.parent.line.Mean,
		joinNew(seen), strings.Join(changed, "; "), joinNew(expected))
}

// joinNew joins the texts, each once.
func joinNew(texts []string) string {
	var out []string
	for i, t := range texts {
		if i == 0 || t != texts[i-1] {
			out = append(out, t)
		}
	}
	return strings.Join(out, "; ")
}
