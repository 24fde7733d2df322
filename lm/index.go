package lm

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
)

// readIndex reads model.safetensors.index.json: the shards' file names in order, and
// each tensor's shard.
func readIndex(dir fs.FS, cfg Config) (shards []string, index map[string]string, err error) {
	const perTensor = 512
	data, err := readBounded(dir, indexFile, 1<<16+perTensor*int64(len(cfg.layout())))
	if err != nil {
		return nil, nil, err
	}
	index, err = parseIndex(data)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", indexFile, err)
	}
	return slices.Compact(slices.Sorted(maps.Values(index))), index, nil
}

// parseIndex reads the weight_map. A shard is a file beside the index, never
// elsewhere.
func parseIndex(data []byte) (map[string]string, error) {
	const maxShards = 1 << 10
	var file struct {
		WeightMap map[string]string `json:"weight_map"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("%s", oneLine(err.Error()))
	}
	if len(file.WeightMap) == 0 {
		return nil, fmt.Errorf("weight_map: got no tensors, want some")
	}
	names := map[string]bool{}
	for _, tensor := range slices.Sorted(maps.Keys(file.WeightMap)) {
		shard := file.WeightMap[tensor]
		if !plainName(shard) || !strings.HasSuffix(shard, ".safetensors") {
			return nil, fmt.Errorf("weight_map: tensor %q: got file %q, want the name of a .safetensors file in the same folder", oneLine(tensor), oneLine(shard))
		}
		names[shard] = true
	}
	if len(names) > maxShards {
		return nil, fmt.Errorf("weight_map: got %d files, want at most %d", len(names), maxShards)
	}
	return file.WeightMap, nil
}

// plainName says whether a name is a short one of letters, digits and "._-", so that it
// cannot lead elsewhere, nor spoil an error message.
func plainName(name string) bool {
	const most = 128
	return len(name) <= most && !strings.HasPrefix(name, ".") && strings.Trim(name, plainRunes) == ""
}

const plainRunes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"
