package recipe

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/lm"
	"github.com/seed-095d5d2b/whale/policy/chat"
	"github.com/seed-095d5d2b/whale/sandbox"
	"github.com/seed-095d5d2b/whale/strictyaml"
)

var goodName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// validate names the first setting that makes no sense, by its key.
func (c Config) validate() error {
	if !goodName.MatchString(c.Name) {
		return fmt.Errorf("name: got %q, want letters, digits, dot, dash and underscore, at most 64", c.Name)
	}
	if c.Policy.Model == "" {
		return fmt.Errorf("policy.model: got nothing, want the name of an embedded model or a model folder")
	}
	if c.Harness == "" {
		return fmt.Errorf("harness: got nothing, want the path of a harness program")
	}
	for _, k := range []struct {
		key, got string
		want     []string
	}{
		{"policy.kind", c.Policy.Kind, policyKinds()},
		{"evaluation.split", string(c.Evaluation.Split), []string{string(whale.SplitTest), string(whale.SplitValidation)}},
		{"schedule.method", c.Schedule.Method, Methods()},
		{"search.kind", c.Search.Kind, []string{SearchMetaHarness, SearchBestOfRandom}},
		{"search.proposer", c.Search.Proposer, []string{"evolve"}},
	} {
		if err := oneOf(k.key, k.got, k.want); err != nil {
			return err
		}
	}
	if c.Policy.Template != "" {
		if _, err := chat.ByName(c.Policy.Template); err != nil {
			return fmt.Errorf("policy.template: %w", err)
		}
	}
	if err := c.Weight.LoRA.validate(); err != nil {
		return err
	}
	if err := c.Schedule.validate(); err != nil {
		return err
	}
	if err := c.Task.validate(); err != nil {
		return err
	}
	if err := c.Weight.Validate(); err != nil {
		return err
	}
	if key, err := c.Search.Selection.Validate(); err != nil {
		return fmt.Errorf("search.selection.%s: %w", key, err)
	}
	for _, k := range []struct {
		key      string
		got      float64
		low, top float64
	}{
		{"policy.max_batch", float64(c.Policy.MaxBatch), 1, 4096},
		{"policy.cache_tokens", float64(c.Policy.CacheTokens), 0, 1 << 30},
		{"policy.memory_mib", float64(c.Policy.MemoryMiB), 1, 1 << 20},
		{"task.counts.train", float64(c.Task.Counts.Train), 0, maxDeclared},
		{"task.counts.search", float64(c.Task.Counts.Search), 0, maxDeclared},
		{"task.counts.validation", float64(c.Task.Counts.Validation), 0, maxDeclared},
		{"task.counts.test", float64(c.Task.Counts.Test), 0, maxDeclared},
		{"sampling.temperature", c.Sampling.Temperature, 0, 100},
		{"sampling.top_p", c.Sampling.TopP, 1e-6, 1},
		{"sampling.top_k", float64(c.Sampling.TopK), 0, 1 << 20},
		{"processes", float64(c.Processes), 1, 4096},
		{"limits.steps", float64(c.Limits.Steps), 1, 1e12},
		{"limits.model_calls", float64(c.Limits.ModelCalls), 1, 1e6},
		{"limits.tool_calls", float64(c.Limits.ToolCalls), 0, 1e6},
		{"limits.tokens", float64(c.Limits.Tokens), 1, 1e9},
		{"limits.message_bytes", float64(c.Limits.MessageBytes), 1, 1 << 30},
		{"limits.log_bytes", float64(c.Limits.LogBytes), 0, 1 << 30},
		{"limits.requests", float64(c.Limits.Requests), 1, 1e9},
		{"limits.memory_bytes", float64(c.Limits.MemoryBytes), float64(sandbox.MinMemory), float64(sandbox.MaxMemory)},
		{"limits.wall_seconds", c.Limits.WallSeconds, 0.1, 1e6},
		{"limits.model_seconds", c.Limits.ModelSeconds, 0.1, 1e6},
		{"limits.tool_seconds", c.Limits.ToolSeconds, 0.1, 1e6},
		{"schedule.epochs", c.Schedule.Epochs, 1e-6, 1e6},
		{"schedule.sessions", float64(c.Schedule.Sessions), 0, 1e6},
		{"schedule.total_epochs", c.Schedule.TotalEpochs, 1e-6, 1e6},
		{"weight.batch", float64(c.Weight.Batch), 1, 1 << 20},
		{"weight.group", float64(c.Weight.Group), 1, 1 << 16},
		{"weight.minibatch", float64(c.Weight.Minibatch), 1, 1 << 30},
		{"weight.passes", float64(c.Weight.Passes), 1, 1000},
		{"weight.learning_rate", c.Weight.LearningRate, 0, 10},
		{"weight.accept", c.Weight.Accept, 0, 0.999999},
		{"weight.optimizer.beta1", c.Weight.Optimizer.Beta1, 0, 0.999999},
		{"weight.optimizer.beta2", c.Weight.Optimizer.Beta2, 0, 0.9999999},
		{"weight.optimizer.eps", c.Weight.Optimizer.Eps, 1e-16, 1},
		{"weight.optimizer.weight_decay", c.Weight.Optimizer.WeightDecay, 0, 10},
		{"weight.optimizer.clip_norm", c.Weight.Optimizer.ClipNorm, 0, 1e9},
		{"weight.lora.rank", float64(c.Weight.LoRA.Rank), 0, 1 << 12},
		{"weight.lora.alpha", c.Weight.LoRA.Alpha, 1e-6, 1e6},
		{"weight.micro_batch_tokens", float64(c.Weight.MicroBatch), 1, 1 << 24},
		{"search.candidates", float64(c.Search.Candidates), 1, 1000},
		{"search.canaries", float64(c.Search.Canaries), 0, 1000},
		{"search.runners_up", float64(c.Search.RunnersUp), 0, 1000},
		{"evaluation.draws", float64(c.Evaluation.Draws), 1, 1000},
		{"snapshots.last", float64(c.Snapshots.Last), 1, 1e6},
		{"concurrency", float64(c.Concurrency), 1, 65536},
		{"retries", float64(c.Retries), 0, 100},
	} {
		if !(k.got >= k.low && k.got <= k.top) {
			return fmt.Errorf("%s: got %g, want %g to %g", k.key, k.got, k.low, k.top)
		}
	}
	return nil
}

// validate checks the targets also where no adapter is trained.
func (c LoRAConfig) validate() error {
	const key = "weight.lora.targets"
	if len(c.Targets) == 0 {
		return fmt.Errorf("%s: got none, want some of %s", key, strings.Join(lm.LoRATargets(), ", "))
	}
	for i, name := range c.Targets {
		if err := oneOf(key, name, lm.LoRATargets()); err != nil {
			return err
		}
		if slices.Contains(c.Targets[:i], name) {
			return fmt.Errorf("%s: got %q twice, want it once", key, name)
		}
	}
	return nil
}

func oneOf(key, got string, want []string) error {
	for _, w := range want {
		if got == w {
			return nil
		}
	}
	msg := fmt.Sprintf("%s: got %q, want %s", key, got, strings.Join(want, " or "))
	if near := strictyaml.Nearest(got, want); near != "" {
		msg += fmt.Sprintf(": did you mean %q?", near)
	}
	return fmt.Errorf("%s", msg)
}
