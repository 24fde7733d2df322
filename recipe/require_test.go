package recipe

import (
	"strings"
	"testing"

	"github.com/seed-095d5d2b/whale"
)

func TestOnlyTrainablePoliciesAreTrained(t *testing.T) {
	good := whale.Capabilities{Access: whale.TokenExact, LogProbs: true}
	if err := requireTrainable(good, whale.ReductionTokens); err != nil {
		t.Fatal(err)
	}
	noLogProbs := good
	noLogProbs.LogProbs = false
	for _, tc := range []struct {
		c         whale.Capabilities
		reduction string
		want      string
	}{
		{whale.Capabilities{Access: whale.TokenTextOnly, LogProbs: true}, whale.ReductionTokens, "text-only"},
		{noLogProbs, whale.ReductionTokens, "log-probabilities"},
		{good, whale.ReductionDatum, "per-datum-mean"},
		{good, whale.ReductionSum, `"sum"`},
	} {
		if err := requireTrainable(tc.c, tc.reduction); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%+v %s: got %v, want %q", tc.c, tc.reduction, err, tc.want)
		}
	}
}
