package recipe

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/goccy/go-yaml"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/metaharness"
	"github.com/seed-095d5d2b/whale/policy/local"
	"github.com/seed-095d5d2b/whale/strictyaml"
)

// Config decides a run. Defaults are the paper's settings where it has one.
type Config struct {
	Name        string         `yaml:"name"`
	Seed        uint64         `yaml:"seed"`
	Policy      PolicyConfig   `yaml:"policy"`
	Sampling    whale.Sampling `yaml:"sampling"`
	Task        TaskConfig     `yaml:"task"`
	Harness     string         `yaml:"harness"` // path of h_0; relative to the config file until resolved
	Limits      whale.Limits   `yaml:"limits"`
	Schedule    Schedule       `yaml:"schedule"`
	Weight      WeightConfig   `yaml:"weight"`
	Search      SearchConfig   `yaml:"search"`
	Evaluation  EvalConfig     `yaml:"evaluation"`
	Snapshots   SnapshotConfig `yaml:"snapshots"`
	Concurrency int            `yaml:"concurrency"` // episodes at once
	Processes   int            `yaml:"processes"`   // processes at once of a harness in another language than Starlark, each of which may take limits.memory_bytes
	Retries     int            `yaml:"retries"`     // of an episode that met an infrastructure error
}

// PolicyConfig says what samples and learns.
type PolicyConfig struct {
	Kind          string `yaml:"kind"`           // local runs on this machine; openai and tinker can be planned, and not run yet
	Model         string `yaml:"model"`          // name of an embedded model, a model folder, a .gguf file, or a PEFT adapter folder; of another kind, the name that the service knows it by
	Template      string `yaml:"template"`       // chat template, by name; empty: the one that the model ships, known by its fingerprint
	Thinking      bool   `yaml:"thinking"`       // false asks a model that reasons first to answer at once
	KeepReasoning bool   `yaml:"keep_reasoning"` // keep the reasoning of earlier turns where the template drops it, so that prompts extend each other
	MaxBatch      int    `yaml:"max_batch"`      // most sequences in one decoding step
	CacheTokens   int    `yaml:"cache_tokens"`   // most tokens of keys and values kept for prompts seen before
	MemoryMiB     int    `yaml:"memory_mib"`     // most memory for keys and values of all sequences; those that do not fit wait
}

// LoRAConfig trains a low-rank adapter in place of all weights.
type LoRAConfig struct {
	Rank    int      `yaml:"rank"`    // 0 trains all weights
	Alpha   float64  `yaml:"alpha"`   // the adapter is scaled by alpha over rank
	Targets []string `yaml:"targets"` // projections that have one
}

// OptimizerConfig is AdamW's.
type OptimizerConfig struct {
	Beta1          float64 `yaml:"beta1"`
	Beta2          float64 `yaml:"beta2"`
	Eps            float64 `yaml:"eps"`
	WeightDecay    float64 `yaml:"weight_decay"`
	ClipNorm       float64 `yaml:"clip_norm"`
	ResetEachPhase bool    `yaml:"reset_each_phase"` // forget moments at the start of a weight phase
}

// SearchConfig are the settings of harness phases.
type SearchConfig struct {
	Kind       string `yaml:"kind"`        // meta-harness, or the control best-of-random: as many random edits of the incoming harness, made without any evidence
	Proposer   string `yaml:"proposer"`    // evolve; also whose catalogue of edits best-of-random draws from
	Candidates int    `yaml:"candidates"`  // M: candidates a session
	Audit      bool   `yaml:"audit"`       // reject candidates that quote or look up training or search examples
	PromptOnly bool   `yaml:"prompt_only"` // reject candidates that change more than SYSTEM_PROMPT and USER_PROMPT
	Canaries   int    `yaml:"canaries"`    // trial episodes before a candidate's evaluation
	RunnersUp  int    `yaml:"runners_up"`  // best other programs of earlier harness phases that a phase scores anew at its start, under the new weights

	Selection metaharness.Selection `yaml:"selection"` // how the accepted program is chosen
}

// EvalConfig are the settings of test evaluation, which is outside the training budget.
type EvalConfig struct {
	Split  whale.Split `yaml:"split"`  // of curves and final table: test, or validation while a task is being shaped
	Draws  int         `yaml:"draws"`  // k of the final table's mean@k
	Curve  bool        `yaml:"curve"`  // one draw an example of test and validation after every phase
	Halves bool        `yaml:"halves"` // after every cycle, old and new weights with old and new harness on the search split
}

// SnapshotConfig says which weights are kept: phase ends and the best always, besides the last n steps.
type SnapshotConfig struct {
	Last int `yaml:"last"`
}

// Default is the config before a file is read.
func Default() Config {
	return Config{
		Name:     "run",
		Seed:     1,
		Policy:   PolicyConfig{Kind: PolicyLocal, Model: "whale-tiny", Thinking: true, MaxBatch: 64, CacheTokens: 1 << 14, MemoryMiB: 1024},
		Sampling: whale.Sampling{Temperature: 1, TopP: 1, TopK: 20},
		Task:     defaultTask(),
		Harness:  "h0.star",
		Limits: whale.Limits{
			Steps: 2_000_000, ModelCalls: 16, ToolCalls: 16, Tokens: 8192, MessageBytes: 256 << 10, LogBytes: 16 << 10,
			Requests: 20_000, MemoryBytes: 256 << 20, WallSeconds: 20, ModelSeconds: 600, ToolSeconds: 60,
		},
		Schedule:    Schedule{Method: "whale", Epochs: 0.6, Sessions: 6, TotalEpochs: 6, LastHarness: true, Adaptive: defaultAdaptive()},
		Weight:      defaultWeight(),
		Search:      SearchConfig{Kind: SearchMetaHarness, Proposer: "evolve", Candidates: 3, Audit: true, Canaries: 2, RunnersUp: 2, Selection: metaharness.DefaultSelection()},
		Evaluation:  EvalConfig{Split: whale.SplitTest, Draws: 8, Curve: true, Halves: true},
		Snapshots:   SnapshotConfig{Last: 2},
		Concurrency: 64,
		Processes:   8,
		Retries:     2,
	}
}

// LoadConfig reads, resolves and checks a config file: relative paths are then relative to its folder.
func LoadConfig(path string) (Config, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return Config{}, &ConfigError{fmt.Errorf("config %s: %w; name a config file, such as examples/math/quick.yaml", path, unwrapPath(err))}
	}
	c, err := ParseConfig(path, data)
	if err != nil {
		return c, err
	}
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return c, err
	}
	c.resolve(dir)
	return c, nil
}

// ParseConfig reads and checks a config without resolving its paths.
func ParseConfig(name string, data []byte) (Config, error) {
	c := Default()
	if err := strictyaml.Decode(name, data, &c); err != nil {
		return c, &ConfigError{err}
	}
	if err := oneSize(data); err != nil {
		return c, &ConfigError{fmt.Errorf("%s: %w", name, err)}
	}
	if err := c.validate(); err != nil {
		return c, &ConfigError{fmt.Errorf("%s: %w", name, err)}
	}
	return c, nil
}

// YAML writes the config with every default.
func (c Config) YAML() ([]byte, error) { return yaml.Marshal(c) }

// resolve makes relative paths absolute from dir. The name of an embedded model stays a name.
func (c *Config) resolve(dir string) {
	abs := func(p string) string {
		if p == "" || filepath.IsAbs(p) {
			return p
		}
		return filepath.Join(dir, p)
	}
	c.Harness = abs(c.Harness)
	if c.Policy.Kind == PolicyLocal && !slices.Contains(local.EmbeddedModels(), c.Policy.Model) { // a service has names of its own
		c.Policy.Model = abs(c.Policy.Model)
	}
	c.Task.resolve(abs)
}
