package recipe

import (
	"context"
	"fmt"
	"strings"

	"github.com/seed-095d5d2b/whale/sandbox"
)

// Isolation tries how untrusted code is confined on this machine and says it in one line.
func (p *Parts) Isolation(ctx context.Context) (string, error) {
	all, err := p.harnesses.Mechanisms(ctx)
	if err != nil {
		return "", err
	}
	return describeIsolation(all), nil
}

func describeIsolation(all []sandbox.Mechanism) string {
	var there, missing []string
	for _, m := range all {
		if m.InForce {
			there = append(there, m.Name)
		} else {
			missing = append(missing, fmt.Sprintf("%s (%s)", m.Name, m.Detail))
		}
	}
	text := "isolation of harness programs and tools: " + strings.Join(there, ", ")
	if len(there) == 0 {
		text += "nothing is in force"
	}
	if len(missing) > 0 {
		text += "; missing here: " + strings.Join(missing, ", ") + "; --require-sandbox refuses to run without"
	}
	return text
}
