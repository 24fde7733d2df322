package main

import (
	"fmt"

	"github.com/seed-095d5d2b/whale/modelupdate"
)

// describeStep is a rollout step as one line for people.
func describeStep(s *modelupdate.StepResult) string {
	p := s.Policy
	gradient := p != modelupdate.PolicyStats{}
	line := fmt.Sprintf("  step %-3d reward %.3f", s.Step+1, s.Reward)
	if gradient {
		line += fmt.Sprintf("  groups that differ %d/%d", p.Informative, p.Informative+p.Equal)
	} else {
		line += fmt.Sprintf("  learned from %d/%d", s.Accepted, s.Rollouts)
	}
	if s.Failed > 0 {
		line += fmt.Sprintf("  failed %d (%s)", s.Failed, oneLine(s.Failure))
	}
	switch {
	case s.Updates == 0 && gradient:
		return line + "  nothing to learn from: no update"
	case s.Updates == 0:
		return line + "  nothing to learn from: no update"
	case !gradient:
		return line + fmt.Sprintf("  loss %.3f  %d tokens trained", s.Loss, s.Tokens)
	}
	line += fmt.Sprintf("  ratio %.3f  clipped %.1f%%", p.MeanRatio, 100*p.Clipped)
	if p.KL > 0 {
		line += fmt.Sprintf("  divergence %.3f", p.KL)
	}
	return line + fmt.Sprintf("  %d tokens trained", s.Tokens)
}
