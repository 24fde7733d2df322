package recipe

import (
	"fmt"
	"reflect"
	"sort"
	"strings"

	"github.com/goccy/go-yaml"
)

// DiffKeys lists the keys in which two resolved configs (YAML) differ, sorted, as "key: old → new".
func DiffKeys(old, new []byte) ([]string, error) {
	var a, b map[string]any
	if err := yaml.Unmarshal(old, &a); err != nil {
		return nil, err
	}
	if err := yaml.Unmarshal(new, &b); err != nil {
		return nil, err
	}
	var out []string
	diffTree("", a, b, &out)
	sort.Strings(out)
	return out, nil
}

func diffTree(path string, a, b any, out *[]string) {
	ma, aok := a.(map[string]any)
	mb, bok := b.(map[string]any)
	if !aok || !bok {
		if !reflect.DeepEqual(a, b) {
			*out = append(*out, fmt.Sprintf("%s: %v → %v", path, a, b))
		}
		return
	}
	seen := map[string]bool{}
	for _, m := range []map[string]any{ma, mb} {
		for k := range m {
			if !seen[k] {
				seen[k] = true
				diffTree(strings.TrimPrefix(path+"."+k, "."), ma[k], mb[k], out)
			}
		}
	}
}
