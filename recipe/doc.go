// Package recipe is the alternation itself (WHALE, section 2): weight phase, harness phase, and again, until the budget is spent.
//
//	Config   everything that decides a run, with the paper's values as defaults; strict YAML
//	Plan     the phases of a config, with their steps, sessions and rollouts, before anything is spent
//	Run      begin → phases → final evaluation → finish, each step journaled before it is acted on
//
// A run killed at any moment and opened again replays its journal: recorded steps are not done again, rollouts come back by key, and
// weights come from the last whole snapshot. The final numbers are those of a run that was never killed.
package recipe
