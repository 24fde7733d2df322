package chess

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	whale "github.com/seed-095d5d2b/whale"
)

// Task is the chess domain: puzzles by split, the board, the verifier.
type Task struct {
	id       whale.ID
	config   Config
	examples map[whale.Split][]whale.Example
	chances  map[whale.Split][]float64 // of a random player, by example
	verifier whale.Verifier
	rules    whale.Rules
	notes    []string
}

var _ whale.Task = (*Task)(nil)

// blocksVersion changes with what the blocks show.
const blocksVersion = 1

// New makes the task: it generates or reads every puzzle.
func New(ctx context.Context, c Config) (*Task, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("chess: %w", err)
	}
	t := &Task{
		config: c, examples: map[whale.Split][]whale.Example{}, chances: map[whale.Split][]float64{},
		verifier: &verifier{c.Retries, c.AlternateMates}, rules: newRules(),
	}
	fill := t.generate
	if c.Source == SourceLichess {
		fill = t.load
	}
	if err := fill(ctx); err != nil {
		return nil, err
	}
	t.notes = append(t.notes, t.baselineNote())
	t.id = t.hash()
	return t, nil
}

func (t *Task) generate(ctx context.Context) error {
	g, err := NewGenerator(t.config.Generator)
	if err != nil {
		return err
	}
	puzzles, err := g.Generate(ctx)
	if err != nil {
		return err
	}
	for _, s := range splits() {
		for _, p := range puzzles[s] {
			x, choices, err := p.example()
			if err != nil {
				return fmt.Errorf("chess: generator: %w", err)
			}
			t.add(s, x, choices)
		}
	}
	return nil
}

func (t *Task) load(ctx context.Context) error {
	o := t.config.Lichess
	sampler := newSampler(o.Seed, o.Counts)
	notes, err := readLichess(ctx, o, sampler)
	if err != nil {
		return err
	}
	for _, note := range notes {
		t.notes = append(t.notes, "chess: "+note)
	}
	if sampler.repeats > 0 {
		t.notes = append(t.notes, fmt.Sprintf("chess: left out %d puzzles whose position was there before", sampler.repeats))
	}
	for _, s := range splits() {
		kept, err := sampler.of(s)
		if err != nil {
			return err
		}
		for _, k := range kept {
			t.add(s, k.example, k.choices)
		}
	}
	return nil
}

func (t *Task) add(s whale.Split, x whale.Example, choices []choice) {
	t.examples[s] = append(t.examples[s], x)
	t.chances[s] = append(t.chances[s], chance(choices, t.config.AlternateMates))
}

// hash leaves out what the examples are called (Meta): a renamed file is the same task.
func (t *Task) hash() whale.ID {
	type content struct {
		ID     string
		View   map[string]string
		Answer json.RawMessage
	}
	examples := make(map[whale.Split][]content, len(t.examples))
	for s, list := range t.examples {
		for _, x := range list {
			examples[s] = append(examples[s], content{x.ID, x.View, x.Answer})
		}
	}
	return whale.HashOf("task/chess", struct {
		Examples      map[whale.Split][]content
		Tools         []whale.ToolSpec
		Blocks, Rules int
		Verifier      whale.ID // holds the settings of the game
	}{examples, tools(), blocksVersion, rulesVersion, t.verifier.ID()})
}

// ID hashes every example with its line, the tool, the blocks, the rules and the verifier with its settings.
func (t *Task) ID() whale.ID { return t.id }

// Name is "chess".
func (t *Task) Name() string { return "chess" }

// About tells an agent or a proposer what the task is.
func (t *Task) About() string {
	lines := []string{
		"Each example is a chess puzzle: find the winning moves of the side to move, one at a time. task.fen is the first position, task.side who is to move.",
		fmt.Sprintf(`Tool: env.call("%s", %s = …) plays a move in UCI, which must be a span of the model's latest reply. A right move is answered by the opponent, until the `+
			`line is played (result.done). A legal move that is not right ends the puzzle at once; a text that is no move in UCI may be passed %d times, an illegal move %d times.`,
			toolMove, argUCI, t.config.Retries.Format, t.config.Retries.Illegal),
		"A harness may not write moves or squares itself, in UCI or SAN: they may stand only in whole texts of the environment. These are the task's fields, the result's text and error, and blocks of the present position:",
	}
	for _, b := range blocks() {
		call := fmt.Sprintf(`env.render("%s")`, b.name)
		if b.marks {
			call = fmt.Sprintf(`env.render("%s", %s = False)`, b.name, argMarks)
		}
		lines = append(lines, "- "+call+": "+b.about)
	}
	end := "The puzzle is solved when every move of the line was played. Only moves made with the tool count."
	if t.config.AlternateMates {
		end = "The puzzle is solved when every move of the line was played; any checkmate will do for the last. Only moves made with the tool count."
	}
	return strings.Join(append(lines, argMarks+" adds the marks of check and mate to SAN.", end), "\n")
}

// Examples gives the examples of a split, in a fixed order; none where the configuration gives the split none.
func (t *Task) Examples(s whale.Split) ([]whale.Example, error) {
	if !slices.Contains(splits(), s) {
		return nil, fmt.Errorf("chess: got split %q, want one of %v", s, splits())
	}
	return slices.Clone(t.examples[s]), nil
}

// Notes tells people, a line each, what they may not expect of the task's data, and the accuracy of a random player.
func (t *Task) Notes() []string { return slices.Clone(t.notes) }

// NewEnv gives an episode's world. Nothing in it is random.
func (t *Task) NewEnv(_ context.Context, x whale.Example, _ uint32) (whale.Env, error) {
	g, err := newGame(x, t.config.Retries, t.config.AlternateMates)
	if err != nil {
		return nil, err
	}
	return &env{game: g, rules: t.rules}, nil
}

// Verifier gives the verifier of the line.
func (t *Task) Verifier() whale.Verifier { return t.verifier }
