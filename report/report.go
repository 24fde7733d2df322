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
}

// The kinds of rows.
const (
	RowBase       = "base"               // (θ0,h0)
	RowFinal      = "final"              // (θK,hK): the result
	RowBest       = "best on test"       // chosen on test, the paper's figure
	RowValidation = "best on validation" // chosen on the validation split
	RowWeights    = "(θK,h0)"
	RowHarness    = "(θ0,hK)"
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

	config   map[string]string // config keys that make an arm
	examples []string          // ids of the test examples
}

// Phase is one phase as it was.
type Phase struct {
	Index     int         `json:"index"`
	Cycle     int         `json:"cycle"`
	Kind      string      `json:"kind"`
	Name      string      `json:"name"`
	Done      bool        `json:"done"`
	Planned   int         `json:"planned"`              // steps or sessions
	Made      int         `json:"made"`                 // steps or sessions
	Why       string      `json:"why"`                  // it ended, with the numbers
	Incoming  *float64    `json:"incoming,omitempty"`   // harness: score of the harness that came in
	RunnersUp []Candidate `json:"runners_up,omitempty"` // harness: programs of earlier phases, scored anew under the phase's weights
	Sessions  []Session   `json:"sessions,omitempty"`
}

// Session is one proposer session.
type Session struct {
	Session    int         `json:"session"` // counted over the run, from 1
	Error      string      `json:"error,omitempty"`
	Candidates []Candidate `json:"candidates"`
	Best       *float64    `json:"best,omitempty"` // best score of the phase so far
}

// Halves is the 2x2 of one cycle on the search split, one draw an example.
type Halves struct {
	Cycle   int     `json:"cycle"`
	Old     float64 `json:"old"`     // old weights, old harness
	Weight  float64 `json:"weights"` // new weights, old harness
	Harness float64 `json:"harness"` // old weights, new harness
	New     float64 `json:"new"`     // new weights, new harness
	Seeds   int     `json:"seeds"`   // averaged over
}

// Candidate is what became of a program.
type Candidate struct {
	Name   string   `json:"name"`
	ID     whale.ID `json:"id"`
	Status string   `json:"status"`
	Gate   string   `json:"gate,omitempty"`
	Reason string   `json:"reason,omitempty"`
	Score  *float64 `json:"score,omitempty"` // search split
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

// Matrix is every weights with every harness of a run, mean@k on one split.
type Matrix struct {
	Split   string      `json:"split"`
	Draws   int         `json:"draws"`
	Weights []string    `json:"weights"` // columns
	Harness []string    `json:"harness"` // rows
	Cells   [][]float64 `json:"cells"`   // [harness][weights]
}
