package recipe

import (
	"context"
	"fmt"
	"strings"

	"github.com/seed-095d5d2b/whale/sandbox"
)

// Isolation tries how untrusted code is confined on this machine and says it in one line, and whether it is by all that there is.
func (p *Parts) Isolation(ctx context.Context) (text string, whole bool, err error) {
	all, err := p.harnesses.Mechanisms(ctx)
	if err != nil {
		return "", false, err
	}
	text, whole = describeIsolation(all)
	return text, whole, nil
}

func describeIsolation(all []sandbox.Mechanism) (text string, whole bool) {
	var there, missing []string
	for _, m := range all {
		if m.InForce {
			there = append(there, m.Name)
		} else {
			missing = append(missing, fmt.Sprintf("%s (%s)", m.Name, m.Detail))
		}
	}
	text = "isolation of harness programs and tools: " + strings.Join(there, ", ")
	if len(there) == 0 {
		text += "nothing is in force"
	}
	if len(missing) > 0 {
		text += "; missing here: " + strings.Join(missing, ", ") + "; --require-sandbox refuses to run without"
	}
	return text, len(missing) == 0
}
