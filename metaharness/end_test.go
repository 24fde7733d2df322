package metaharness

import "testing"

func TestEndForPeople(t *testing.T) {
	for _, tc := range []struct {
		end  End
		want string
	}{
		{End{Why: EndSessions, Sessions: 1, Planned: 1}, "its one session was run"},
		{End{Why: EndSessions, Sessions: 5, Planned: 5}, "all 5 sessions were run"},
		{End{Why: EndPatience, Stale: 1, Patience: 1, MinSessions: 1, Sessions: 3, Planned: 5}, "1 session in a row without a new best score (patience 1, at least 1 session), after 3 of at most 5"},
		{End{Why: EndPatience, Stale: 2, Patience: 2, MinSessions: 6, Sessions: 8, Planned: 15}, "2 sessions in a row without a new best score (patience 2, at least 6 sessions), after 8 of at most 15"},
	} {
		if got := tc.end.String(); got != tc.want {
			t.Errorf("got %q, want %q", got, tc.want)
		}
	}
}
