package metaharness

import "fmt"

// The ways to accept a challenger, and the tests of paired acceptance.
const (
	AcceptArgmax = "argmax" // the best score (the paper's rule)
	AcceptPaired = "paired" // only what a paired test finds better

	TestMcNemar   = "mcnemar"   // exact, one-sided
	TestBootstrap = "bootstrap" // lower bound of a paired bootstrap
)

// Selection says how a phase chooses the program that it accepts, and how much it spends on a candidate before it gives it up. In a
// [Config], what is zero has its default ([DefaultSelection]): the zero value is the paper's plain argmax.
//
// # Paired acceptance
//
// A challenger replaces the accepted program only if a one-sided paired test, on the same examples with common random numbers,
// rejects that it is no better. Each program that a phase may try is tested once: in the session that proposed it, against what was
// accepted before that session; runners-up at the start, against the incoming harness. Of those that pass in one session the best score
// is accepted. Level is divided by the number of tests that the phase may make, sessions × candidates + runners-up (Bonferroni), so that
// a phase of programs that are no better than the incoming one accepts any of them with a probability of at most Level.
//
// # Re-evaluation
//
// At the end of the phase the Reevaluate best programs and the incoming harness run Draws fresh episodes an example
// (whale.PurposeConfirm), and the choice is made on those alone. With argmax it is the best fresh mean. With paired the programs are
// tested against the incoming harness in the order of their scores in the search, each at the plain Level, until one fails (a fixed
// sequence of tests needs no correction: Maurer, Hothorn, Lehmacher 1995); of those that pass, the best fresh mean is accepted.
// During the phase the accepted program is then the best score, and provisional.
//
// # Racing
//
// A candidate's examples are run in blocks, in an order that is the same for all. After each block the candidate is stopped if the chance
// that its whole score reaches the accepted program's, as it was before the session, is under Racing. The chance is that of a
// beta-binomial distribution of the examples that remain, with a flat prior. What is stopped has no score and is never ranked.
type Selection struct {
	Accept     string  `yaml:"accept"`     // argmax or paired
	Test       string  `yaml:"test"`       // mcnemar or bootstrap; of paired acceptance
	Level      float64 `yaml:"level"`      // chance that a phase accepts a program that is no better, at most; of paired acceptance
	Reevaluate int     `yaml:"reevaluate"` // programs that run anew before the choice; 0 = none
	Draws      int     `yaml:"draws"`      // fresh episodes an example; of re-evaluation
	Racing     float64 `yaml:"racing"`     // chance of reaching the accepted score under which a candidate is stopped; 0 = never
}

// DefaultSelection is the paper's, with every setting written out.
func DefaultSelection() Selection {
	return Selection{Accept: AcceptArgmax, Test: TestMcNemar, Level: 0.05, Draws: 1}
}

// Validate names the first setting that makes no sense, by its key, which is empty where all do. A setting that the others leave without
// effect makes none.
func (s Selection) Validate() (key string, err error) {
	def := DefaultSelection()
	switch {
	case s.Accept != AcceptArgmax && s.Accept != AcceptPaired:
		return "accept", fmt.Errorf("got %q, want %s or %s", s.Accept, AcceptArgmax, AcceptPaired)
	case s.Test != TestMcNemar && s.Test != TestBootstrap:
		return "test", fmt.Errorf("got %q, want %s or %s", s.Test, TestMcNemar, TestBootstrap)
	case !(s.Level >= 1e-6 && s.Level <= 0.5):
		return "level", fmt.Errorf("got %g, want 0.000001 to 0.5", s.Level)
	case s.Reevaluate < 0 || s.Reevaluate > 1000:
		return "reevaluate", fmt.Errorf("got %d, want 0 to 1000", s.Reevaluate)
	case s.Draws < 1 || s.Draws > 64:
		return "draws", fmt.Errorf("got %d, want 1 to 64", s.Draws)
	case !(s.Racing >= 0 && s.Racing < 1):
		return "racing", fmt.Errorf("got %g, want 0 to less than 1", s.Racing)
	case s.Accept == AcceptArgmax && s.Test != def.Test:
		return "test", fmt.Errorf("got %q with accept %s, which tests nothing: want accept %s", s.Test, AcceptArgmax, AcceptPaired)
	case s.Accept == AcceptArgmax && s.Level != def.Level:
		return "level", fmt.Errorf("got %g with accept %s, which tests nothing: want accept %s", s.Level, AcceptArgmax, AcceptPaired)
	case s.Reevaluate == 0 && s.Draws != def.Draws:
		return "draws", fmt.Errorf("got %d with reevaluate 0, which draws nothing: want reevaluate 1 or more", s.Draws)
	}
	return "", nil
}

// withDefaults fills in what is zero.
func (s Selection) withDefaults() Selection {
	def := DefaultSelection()
	if s.Accept == "" {
		s.Accept = def.Accept
	}
	if s.Test == "" {
		s.Test = def.Test
	}
	if s.Level == 0 {
		s.Level = def.Level
	}
	if s.Draws == 0 {
		s.Draws = def.Draws
	}
	return s
}

// Budget is the most rollouts that a phase may take, by what they are for.
type Budget struct {
	Incoming   int // of the incoming harness
	RunnersUp  int // of runners-up of earlier phases
	Candidates int // of candidates; racing may save some of them
	Canaries   int // trial episodes of candidates
	Confirm    int // fresh episodes before the choice
}

// Search is the number of rollouts of whale.PurposeSearch.
func (b Budget) Search() int { return b.Incoming + b.RunnersUp + b.Candidates }

// Total is the number of all rollouts.
func (b Budget) Total() int { return b.Search() + b.Canaries + b.Confirm }

// MostRollouts gives the most rollouts of a phase with this config on a number of search examples, with a number of runners-up.
func (c Config) MostRollouts(examples, runnersUp int) Budget {
	s := c.Selection.withDefaults()
	candidates := c.Sessions * c.Candidates
	b := Budget{
		Incoming: examples, RunnersUp: runnersUp * examples, Candidates: candidates * examples,
		Canaries: candidates * min(c.CanaryEpisodes, examples),
	}
	if challengers := min(s.Reevaluate, candidates+runnersUp); challengers > 0 {
		b.Confirm = (1 + challengers) * s.Draws * examples
	}
	return b
}

// tests is the number of paired tests that a phase may make.
func (c Config) tests(runnersUp int) int { return max(1, c.Sessions*c.Candidates+runnersUp) }
