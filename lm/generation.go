package lm

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
)

// Generation is how a model's makers sample from it: generation_config.json as data.
// Numbers that the file does not state are zero.
type Generation struct {
	EOS         []int32 // ids that end a reply, ascending
	BOS         []int32 // the id that begins a text, if there is one
	DoSample    bool
	Temperature float32
	TopP        float32
	TopK        int
	// Unsupported names the settings that would change what is sampled and that Request
	// cannot express, such as a repetition penalty.
	Unsupported []string
}

// neutralGeneration are the values at which settings of generation_config.json that Request
// lacks change nothing.
var neutralGeneration = map[string]float64{
	"diversity_penalty": 0, "encoder_repetition_penalty": 1, "epsilon_cutoff": 0, "eta_cutoff": 0, "guidance_scale": 1,
	"length_penalty": 1, "min_length": 0, "min_new_tokens": 0, "min_p": 0, "no_repeat_ngram_size": 0, "num_beams": 1,
	"penalty_alpha": 0, "repetition_penalty": 1, "top_h": 1, "typical_p": 1,
}

// ReadGeneration reads generation_config.json, or where that is missing the ids in
// config.json, from a model folder's root. Ids must be in vocab.
func ReadGeneration(dir fs.FS, vocab int) (Generation, error) {
	const limit = 1 << 20
	name := generationFile
	data, err := readBounded(dir, name, limit)
	if errors.Is(err, fs.ErrNotExist) {
		name = configFile
		data, err = readBounded(dir, name, limit)
	}
	if err != nil {
		return Generation{}, err
	}
	g, err := parseGeneration(data, vocab)
	if err != nil {
		return Generation{}, fmt.Errorf("%s: %w", name, err)
	}
	return g, nil
}

func parseGeneration(data []byte, vocab int) (g Generation, err error) {
	var file struct {
		EOS         json.RawMessage `json:"eos_token_id"`
		BOS         json.RawMessage `json:"bos_token_id"`
		DoSample    bool            `json:"do_sample"`
		Temperature float32         `json:"temperature"`
		TopP        float32         `json:"top_p"`
		TopK        int             `json:"top_k"`
	}
	var all map[string]any
	if err = errors.Join(json.Unmarshal(data, &file), json.Unmarshal(data, &all)); err != nil {
		return g, fmt.Errorf("%s", oneLine(err.Error()))
	}
	g = Generation{DoSample: file.DoSample, Temperature: file.Temperature, TopP: file.TopP, TopK: file.TopK}
	if g.EOS, err = parseIDs("eos_token_id", file.EOS, vocab); err != nil {
		return Generation{}, err
	}
	if g.BOS, err = parseIDs("bos_token_id", file.BOS, vocab); err != nil {
		return Generation{}, err
	}
	switch {
	case !(g.Temperature >= 0):
		return Generation{}, fmt.Errorf("temperature: got %g, want at least 0", g.Temperature)
	case !(g.TopP >= 0 && g.TopP <= 1):
		return Generation{}, fmt.Errorf("top_p: got %g, want a number in (0, 1]", g.TopP)
	case g.TopK < 0:
		return Generation{}, fmt.Errorf("top_k: got %d, want at least 0", g.TopK)
	}
	for _, key := range slices.Sorted(maps.Keys(neutralGeneration)) {
		if v, ok := all[key]; ok && v != nil && v != neutralGeneration[key] {
			g.Unsupported = append(g.Unsupported, key)
		}
	}
	return g, nil
}

// parseIDs reads an id, a list of ids, or null.
func parseIDs(key string, raw json.RawMessage, vocab int) ([]int32, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	var ids []int32
	var one int32
	if json.Unmarshal(raw, &one) == nil {
		ids = []int32{one}
	} else if err := json.Unmarshal(raw, &ids); err != nil {
		return nil, fmt.Errorf("%s: got %s, want an id or a list of ids", key, oneLine(string(raw)))
	}
	for _, id := range ids {
		if id < 0 || int(id) >= vocab {
			return nil, fmt.Errorf("%s: got %d, want 0 to %d", key, id, vocab-1)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil
}
