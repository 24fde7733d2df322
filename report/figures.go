package report

import "fmt"

// figures are all plots of a group, in the order of the page.
func (g *Group) figures(prefix string) []*figure {
	ls := looks(g.Arms)
	var out []*figure
	for _, f := range []*figure{g.finals(ls), g.forest(ls), g.curves(ls), g.curvePanels(ls), g.stepsFigure(ls), g.searchFigure(ls)} {
		if f != nil {
			out = append(out, f)
		}
	}
	n := 0
	for i := range g.Runs {
		for _, m := range g.Runs[i].Matrix {
			n++
			if f := matrixFigure(fmt.Sprintf("matrix-%d", n), &g.Runs[i], m); f != nil {
				out = append(out, f)
			}
		}
	}
	for _, f := range out {
		f.name = prefix + f.name
	}
	return out
}

// prefix keeps the files of several tasks apart.
func (r *Report) prefix(group int) string {
	if len(r.Groups) == 1 {
		return ""
	}
	return fmt.Sprintf("task-%d-", group+1)
}
