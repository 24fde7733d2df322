package lm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// The files of an adapter directory, as PEFT names them.
const (
	adapterConfigFile  = "adapter_config.json"
	adapterWeightsFile = "adapter_model.safetensors"
)

// adapterConfig is PEFT's LoraConfig, as far as it says what an adapter computes.
type adapterConfig struct {
	LoRA
	PeftType    string  `json:"peft_type"`
	TaskType    string  `json:"task_type"`
	Base        string  `json:"base_model_name_or_path"`
	Bias        string  `json:"bias"`
	FanInFanOut bool    `json:"fan_in_fan_out"`
	Dropout     float32 `json:"lora_dropout"`
	RSLoRA      bool    `json:"use_rslora"`
	DoRA        bool    `json:"use_dora"`
	Inference   bool    `json:"inference_mode"`
	InitWeights bool    `json:"init_lora_weights"`
}

// Save writes adapter_config.json and adapter_model.safetensors (float32) to dir, which
// it makes if need be, in the layout of Hugging Face's PEFT. base names the model below: a
// path or a hub's name. Each file is replaced whole or not at all, the weights first.
func (a *Adapter) Save(dir, base string) error {
	cfg, err := json.MarshalIndent(adapterConfig{
		LoRA: a.lora, PeftType: "LORA", TaskType: "CAUSAL_LM", Base: base, Bias: "none", Inference: true, InitWeights: true,
	}, "", "  ")
	if err != nil {
		return fmt.Errorf("save adapter: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("save adapter: %w", err)
	}
	err = ReplaceFile(filepath.Join(dir, adapterWeightsFile), func(w io.Writer) error {
		return writeTensors(w, a.Tensors(), F32, map[string]string{"format": "pt"})
	})
	if err == nil {
		err = ReplaceFile(filepath.Join(dir, adapterConfigFile), func(w io.Writer) error {
			_, err := w.Write(append(cfg, '\n'))
			return err
		})
	}
	if err != nil {
		return fmt.Errorf("save adapter: %w", err)
	}
	return nil
}

// LoadAdapter reads an adapter for models of config c from a directory in PEFT's layout,
// its factors in F32, F16 or BF16 and finite. What this package does not compute (DoRA,
// rank-stabilised scales, trained biases, patterns by layer, …) is an error that names it.
// Dropout plays no part in what an adapter computes and is ignored.
func LoadAdapter(dir string, c Config) (*Adapter, error) {
	a, err := loadAdapter(os.DirFS(dir), c)
	if err != nil {
		return nil, fmt.Errorf("load adapter %s: %w", dir, err)
	}
	return a, nil
}

func loadAdapter(dir fs.FS, c Config) (a *Adapter, err error) {
	const maxConfig = 1 << 20
	data, err := readBounded(dir, adapterConfigFile, maxConfig)
	if err != nil {
		return nil, err
	}
	lora, err := parseAdapterConfig(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", adapterConfigFile, err)
	}
	if err := lora.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", adapterConfigFile, err)
	}
	f, err := dir.Open(adapterWeightsFile)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	a, err = readAdapter(c, lora, &shard{in: f, size: uint64(info.Size())})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", adapterWeightsFile, err)
	}
	return a, nil
}

// readAdapter checks the header before it makes the adapter.
func readAdapter(c Config, lora LoRA, s *shard) (*Adapter, error) {
	specs := c.adapterLayout(lora)
	last := specs[len(specs)-1]
	if err := s.readHeader(specs, 2*uint64(last.off+last.n)); err != nil {
		return nil, err
	}
	where := map[string]*shard{}
	for _, name := range s.order {
		where[name] = s
	}
	dst, err := place(c, specs, where, nil)
	if err != nil {
		return nil, err
	}
	a, err := emptyAdapter(c, lora)
	if err != nil {
		return nil, err
	}
	err = s.read(func(name string) []float32 {
		spec, ok := dst[name]
		if !ok {
			return nil
		}
		return a.flat[spec.off : spec.off+spec.n]
	})
	if err != nil {
		return nil, err
	}
	return a, nil
}

// adapterKeysIgnored lists the keys of PEFT that do not change what a saved adapter
// computes, whatever they hold.
var adapterKeysIgnored = []string{
	"auto_mapping", "base_model_name_or_path", "revision", "inference_mode", "task_type", "lora_dropout",
	"loftq_config", "eva_config", "corda_config", "megatron_core", "peft_version", "qalora_group_size", "runtime_config",
}

// parseAdapterConfig reads adapter_config.json. A key that it does not know may only hold
// what switches a feature off.
func parseAdapterConfig(data []byte) (LoRA, error) {
	var lora LoRA
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(data, &keys); err != nil {
		return lora, fmt.Errorf("%s", oneLine(err.Error()))
	}
	read := func(key string, to any) error {
		raw, ok := keys[key]
		if !ok {
			return fmt.Errorf("key %q: missing", key)
		}
		if err := json.Unmarshal(raw, to); err != nil {
			return fmt.Errorf("key %q: got %s: %s", key, oneLine(string(raw)), oneLine(err.Error()))
		}
		return nil
	}
	var kind string
	if err := read("peft_type", &kind); err != nil {
		return lora, err
	}
	if kind != "LORA" {
		return lora, fmt.Errorf("key \"peft_type\": got %q, want \"LORA\"", oneLine(kind))
	}
	if err := read("r", &lora.Rank); err != nil {
		return lora, err
	}
	if err := read("lora_alpha", &lora.Alpha); err != nil {
		return lora, err
	}
	if string(bytes.TrimSpace(keys["target_modules"])) == `"all-linear"` {
		lora.Targets = LoRATargets()
	} else if err := read("target_modules", &lora.Targets); err != nil {
		return lora, err
	}
	if err := checkInit(keys["init_lora_weights"]); err != nil {
		return lora, err
	}
	known := append([]string{"peft_type", "r", "lora_alpha", "target_modules", "init_lora_weights"}, adapterKeysIgnored...)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if slices.Contains(known, key) || switchedOff(keys[key]) || key == "bias" && string(keys[key]) == `"none"` {
			continue
		}
		return lora, fmt.Errorf("key %q: got %s, which is not supported, want it unset", oneLine(key), oneLine(string(keys[key])))
	}
	return lora, nil
}

// checkInit refuses the ways to begin an adapter that change the model below it too, so
// that the factors alone do not say what it computes (PiSSA, OLoRA, CorDA).
func checkInit(raw json.RawMessage) error {
	switch string(raw) {
	case "", "null", "true", "false", `"gaussian"`, `"orthogonal"`, `"eva"`:
		return nil
	}
	return fmt.Errorf("key \"init_lora_weights\": got %s, want true, false, \"gaussian\", \"orthogonal\" or \"eva\"", oneLine(string(raw)))
}

// switchedOff says whether a value is null, false, empty or zero.
func switchedOff(raw json.RawMessage) bool {
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return false
	}
	switch v := v.(type) {
	case nil:
		return true
	case bool:
		return !v
	case string:
		return v == ""
	case float64:
		return v == 0
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}
