package whale

import "context"

// Proposer writes candidate harnesses in a workspace folder, in sessions.
type Proposer interface {
	Name() string
	ID() ID // content hash of what decides its proposals (kind, settings)
	// Propose runs one session in the workspace. It reads the archive copy there and writes its candidates there; see
	// the package metaharness for the layout. What it spent is reported even where it fails.
	Propose(ctx context.Context, s Session) (SessionCost, error)
}

// Session is one proposer session.
type Session struct {
	Workspace  string // absolute path of a folder that holds the archive copy
	Candidates int    // how many candidates are wanted (M)
	Index      int    // session number in the run, from 0
	Seed       uint32 // below 2^31
	PromptOnly bool   // candidates may differ from the phase's first harness in SYSTEM_PROMPT and USER_PROMPT alone
}

// SessionCost is what a proposer session spent.
type SessionCost struct {
	PromptTokens  int     `json:"prompt_tokens"`
	SampledTokens int     `json:"sampled_tokens"`
	USD           float64 `json:"usd"`
	Seconds       float64 `json:"seconds"`
}
