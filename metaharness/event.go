package metaharness

import "github.com/seed-095d5d2b/whale"

// EventKind says what an Event tells.
type EventKind string

// The kinds of events, in the order in which a phase sends them.
const (
	EventIncoming  EventKind = "incoming"  // the incoming harness has its score: ID, Score
	EventSession   EventKind = "session"   // a proposer session begins: Session
	EventProposed  EventKind = "proposed"  // it ended: Session, Cost, Count, Text (its error, if any)
	EventCandidate EventKind = "candidate" // a candidate is decided: Session, Name, ID, Status, Score or Text
	EventAccepted  EventKind = "accepted"  // another program is accepted: Session, Name, ID, Score
	EventConfirmed EventKind = "confirmed" // a program was evaluated anew: ID, Count (episodes), Fresh, or Text
)

// Event tells an observer of a phase's progress. A resumed phase sends the events of its recorded steps again, with Replayed set.
type Event struct {
	Kind     EventKind
	Phase    int
	Session  int // counted over the run; -1 outside sessions
	Name     string
	ID       whale.ID
	Status   Status
	Score    *Score
	Count    int     // candidates of the session; fresh episodes
	Fresh    float64 // mean reward of fresh episodes
	Cost     whale.SessionCost
	Text     string // why a candidate was rejected, or what failed
	Replayed bool
}
