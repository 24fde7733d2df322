package metaharness

import (
	"fmt"

	"github.com/dustin/go-humanize/english"
)

// The reasons for which a phase ends.
const (
	EndSessions = "sessions" // all of its sessions were run
	EndPatience = "patience" // Config.Patience sessions in a row gave no new best score
)

// End says why a phase ended, with the numbers that decided it.
type End struct {
	Why         string    `json:"why"`      // EndSessions or EndPatience
	Sessions    int       `json:"sessions"` // that were run
	Planned     int       `json:"planned"`  // Config.Sessions
	Patience    int       `json:"patience,omitempty"`
	MinSessions int       `json:"min_sessions,omitempty"`
	Stale       int       `json:"stale"` // sessions since the last new best score
	Best        []float64 `json:"best"`  // best score of the archive before the first session, then after each: Sessions + 1 numbers, 0 to 1
}

// String says it for people.
func (e End) String() string {
	if e.Why == EndPatience {
		return fmt.Sprintf("%s in a row without a new best score (patience %d, at least %s), after %d of at most %d",
			english.Plural(e.Stale, "session", ""), e.Patience, english.Plural(e.MinSessions, "session", ""), e.Sessions, e.Planned)
	}
	if e.Planned == 1 {
		return "its one session was run"
	}
	return fmt.Sprintf("all %d sessions were run", e.Planned)
}
