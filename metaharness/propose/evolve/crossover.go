package evolve

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// crossovers takes functions and constants over from other archived programs: those of the same name, and functions that fill a role in
// a call. Programs that scored well are the likelier donors.
func crossovers(p *program, parent *archived, programs []archived) []mutation {
	var out []mutation
	for i := range programs {
		donor := &programs[i]
		if donor.program == nil || donor.line.ID == parent.line.ID {
			continue
		}
		weight := donorWeight(parent, donor)
		from := fmt.Sprintf("from %s", donor.line.ID.Short())
		for _, d := range donor.program.defs {
			if own := p.definition(d.name); own != nil && own.text != d.text {
				out = append(out, mutation{
					op: opCrossover, target: d.name, axis: axisOf(d.name), weight: weight,
					what: d.name + "() " + from, edits: []edit{{own.at, d.text}},
				})
			}
		}
		for _, c := range donor.program.consts {
			text := donor.source[c.at.start:c.at.end]
			if own := p.constant(c.name); own != nil && p.source[own.at.start:own.at.end] != text {
				out = append(out, mutation{
					op: opCrossover, target: c.name, axis: axisOf(c.name), weight: weight,
					what: fmt.Sprintf("%s %s: %s", c.name, from, oneLine(text)), edits: []edit{{own.at, text}},
				})
			}
		}
		out = append(out, roleTransfers(p, donor, weight)...)
	}
	return out
}

// roleTransfers puts a donor's own function in a role of a call, with its definition at the end of the file.
func roleTransfers(p *program, donor *archived, weight float64) []mutation {
	var out []mutation
	uses := donor.program.roleUses()
	for i := range p.calls {
		c := &p.calls[i]
		for j := range c.fn.Params {
			q := &c.fn.Params[j]
			for _, d := range uses[q.role()] {
				if p.definition(d.name) != nil {
					continue // a crossover by name
				}
				set := p.setArgument(c, q.Name, d.name)
				end := len(p.source)
				tail := "\n\n" + d.text + "\n"
				if !strings.HasSuffix(p.source, "\n") {
					tail = "\n" + tail
				}
				out = append(out, mutation{
					op: opLocal, target: q.Name, detail: d.name, axis: axisOf(q.Name), weight: weight,
					what:  fmt.Sprintf("%s = %s() from %s", q.Name, d.name, donor.line.ID.Short()),
					edits: []edit{set, {span{end, end}, tail}},
				})
			}
		}
	}
	return out
}

// setArgument gives a parameter a value, in the place of the one that it has.
func (p *program) setArgument(c *call, name, value string) edit {
	i := slices.IndexFunc(c.args, func(a argument) bool { return a.param != nil && a.param.Name == name })
	if i < 0 {
		return p.insertArgument(c, name+" = "+value)
	}
	return edit{c.args[i].valueAt, value}
}

// donorWeight is 1 for a donor as good as the parent, and more for one that improved on its own parent.
func donorWeight(parent, donor *archived) float64 {
	w := math.Exp(max(-2, min(2, (*donor.line.Mean-*parent.line.Mean)/0.1)))
	if d := donor.line.Delta; d != nil && *d > 0 {
		w *= 1 + min(3, 20**d)
	}
	return w
}
