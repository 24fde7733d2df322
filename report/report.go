package report

import (
	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/recipe"
)

// Report is everything that is said about some runs. All accuracies and rewards are shares, 0 to 1.
type Report struct {
	Resamples int     `json:"resamples"` // behind each interval and p-value
	Groups    []Group `json:"groups"`    // one a task
}

// Group is what is said about the runs of one task.
type Group struct {
	Task        string       `json:"task"` // kind of the task
	ID          whale.ID     `json:"id"`
	Examples    int          `json:"examples"` // of the test split; 0 while no run has evaluated it
	Chance      *float64     `json:"chance,omitempty"`
	Runs        []Run        `json:"runs"`
	Arms        []Arm        `json:"arms"`
	Table       []Row        `json:"table"`
	Reference   string       `json:"reference"` // arm that Differences are taken from
	Differences []Difference `json:"differences"`
	Passing     []Passing    `json:"passing"`
	Notes       []string     `json:"notes,omitempty"`
}

// Arm is the runs that differ in nothing but their seed.
type Arm struct {
	Label  string   `json:"label"`
	Method string   `json:"method"`
	Seeds  []uint64 `json:"seeds"` // finished
	Open   []uint64 `json:"open"`  // not finished
	Curve  []Mean   `json:"curve"` // mean over seeds; empty while no seed has a curve
	Band   string   `json:"band"`  // what Low and High of Curve are

	// Means over the seeds that are finished.
	Ledger map[string]map[string]float64 `json:"ledger"` // purpose → counter
	Start  map[string]float64            `json:"start"`  // behaviour metrics of (θ0,h0) on the test split
	End    map[string]float64            `json:"end"`    // of (θK,hK)
	Halves []Halves                      `json:"halves"` // one a cycle
	Spent  float64                       `json:"spent"`  // training rollouts of a whole run
	Final  float64                       `json:"final"`  // mean@k of the final pair

	runs []int // into Group.Runs
}

// Mean is a point of a curve averaged over seeds.
type Mean struct {
	Rollouts float64 `json:"rollouts"` // training rollouts spent
	Accuracy float64 `json:"accuracy"` // test split, one draw an example
	Low      float64 `json:"low"`      // of the band, which Arm.Band names
	High     float64 `json:"high"`
}

// What the band of a mean curve is.
const (
	BandInterval = "95% interval"   // over seeds and examples; with one seed over examples alone
	BandRange    = "range of seeds" // where the rewards of single examples are not known
)

// The kinds of rows.
const (
	RowBase       = "base"               // (θ0,h0)
	RowFinal      = "final"              // (θK,hK): the result
	RowBest       = "best on test"       // run by run the best of the pairs along it, by mean@k: chosen on test, the paper's figure
	RowValidation = "best on validation" // chosen on the validation split
	RowWeights    = "(θK,h0)"
	RowHarness    = "(θ0,hK)"

	// RowCurve is the point that one draw an example has best on test, measured as the others are. The table has it only as RowBest.
	RowCurve = "best on the curve"
)

// Row is a row of the table of test accuracies.
type Row struct {
	Arm      string      `json:"arm"` // "" for the base, where all arms share it
	Kind     string      `json:"kind"`
	Draws    int         `json:"draws"` // k of mean@k
	Mean     float64     `json:"mean"`
	Low      float64     `json:"low"`
	High     float64     `json:"high"`
	Examples int         `json:"examples"`
	Seeds    []SeedValue `json:"seeds"`
}

// SeedValue is what one seed gave.
type SeedValue struct {
	Seed  uint64  `json:"seed"`
	Value float64 `json:"value"`
}

// Difference is one arm minus another, on the seeds that both have.
type Difference struct {
	Kind     string      `json:"kind"` // of the rows that are compared
	First    string      `json:"first"`
	Second   string      `json:"second"`
	Mean     float64     `json:"mean"` // first minus second
	Low      float64     `json:"low"`
	High     float64     `json:"high"`
	P        float64     `json:"p"`
	Examples int         `json:"examples"`
	Seeds    []SeedValue `json:"seeds"`
}

// Passing says after how many training rollouts an arm reaches what another one ends with.
type Passing struct {
	Arm      string   `json:"arm"`
	Of       string   `json:"of"`       // the arm whose final accuracy is to be reached
	Level    float64  `json:"level"`    // that accuracy, mean@k over seeds
	Total    float64  `json:"total"`    // training rollouts of that arm
	Rollouts *float64 `json:"rollouts"` // of Arm when its mean curve first reaches the level; nil = never
	Share    *float64 `json:"share"`    // Rollouts / Total
	Seeds    int      `json:"seeds"`    // with a curve
	Reached  int      `json:"reached"`  // seeds whose own curve reaches it

	BySeed []SeedReach `json:"by_seed"`
}

// SeedReach is when the curve of one seed first reaches a level.
type SeedReach struct {
	Seed     uint64   `json:"seed"`
	Rollouts *float64 `json:"rollouts"` // nil = never
	Share    *float64 `json:"share"`    // of the other arm's training rollouts
}

// Run is what one run did.
type Run struct {
	Dir        string   `json:"dir"`
	Name       string   `json:"name"`
	Method     string   `json:"method"`
	Arm        string   `json:"arm"`
	Seed       uint64   `json:"seed"`
	Finished   bool     `json:"finished"`
	Unfinished string   `json:"unfinished,omitempty"` // how far it is
	Differs    []string `json:"differs,omitempty"`    // config keys against the group's first run

	FirstWeights whale.ID `json:"first_weights"`
	FirstHarness whale.ID `json:"first_harness"`
	LastHarness  whale.ID `json:"last_harness"`
	Diff         string   `json:"diff"` // of the last harness against the first, unified; "" = none

	Phases []Phase                       `json:"phases"`
	Steps  []Step                        `json:"steps"`
	Curve  []Point                       `json:"curve"`
	Halves []Halves                      `json:"halves,omitempty"` // a cycle each
	Pairs  []Pair                        `json:"pairs"`            // nil while unfinished
	Matrix []Matrix                      `json:"matrix,omitempty"`
	Ledger map[string]map[string]float64 `json:"ledger"`
	Tried  recipe.Tried                  `json:"tried"`

	Build   string `json:"build"`   // the binary of the first opening; "" = not recorded
	Kernels string `json:"kernels"` // of the first opening

	config   map[string]string // config keys that make an arm
	examples []string          // ids of the test examples
}

// Step is one rollout step.
type Step struct {
	Step        int     `json:"step"` // from 1
	Phase       int     `json:"phase"`
	Rollouts    int     `json:"rollouts"`
	LearnedFrom int     `json:"learned_from"`
	Failed      int     `json:"failed"`
	Reward      float64 `json:"reward"`
	Updates     int     `json:"updates"`
	Loss        float64 `json:"loss"`
}

// Point is a point of the curve: one draw an example.
type Point struct {
	At         string   `json:"at"`
	Phase      int      `json:"phase"` // -1 = before the first
	Steps      int      `json:"steps"`
	Sessions   int      `json:"sessions"`
	Rollouts   int      `json:"rollouts"` // training rollouts spent so far: weight phases, candidates, canaries, fresh episodes before a choice
	Accuracy   float64  `json:"accuracy"` // test split
	Low        float64  `json:"low"`      // over examples
	High       float64  `json:"high"`
	Validation *float64 `json:"validation,omitempty"`

	cells []float64 // rewards of the examples, in the order of their ids; nil where they are not known
}

// Pair is a pair of weights and harness on the test split.
type Pair struct {
	Kind     string             `json:"kind"`
	At       string             `json:"at,omitempty"` // curve point where it was chosen
	Weights  whale.ID           `json:"weights"`
	Harness  whale.ID           `json:"harness"`
	Draws    int                `json:"draws"`
	Mean     float64            `json:"mean"`
	Low      float64            `json:"low"` // over examples
	High     float64            `json:"high"`
	Failed   int                `json:"failed"`
	Metrics  map[string]float64 `json:"metrics,omitempty"`
	Examples []float64          `json:"examples"` // mean over draws of each, in the order of their ids
}
