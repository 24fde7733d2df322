package audit

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func TestScratchPy(t *testing.T) {
	cs := scratchCorpora(t)
	for _, side := range []string{"dev", "hard"} {
		for _, dir := range []string{"cheating", "ordinary"} {
			files, _ := filepath.Glob("testdata/" + side + "/" + dir + "/*.star")
			found := 0
			for _, f := range files {
				src, _ := os.ReadFile(f)
				base := filepath.Base(f)
				task := base[:4]
				if task == "ches" {
					task = "chess"
				} else if task[:2] == "qa" {
					task = "qa"
				}
				for other := range cs {
					for _, ext := range []string{".py", ".star"} {
						got, err := cs[other].Audit("x"+ext, src)
						if err != nil {
							t.Error(err)
						}
						if dir == "ordinary" && len(got) > 0 {
							fmt.Println(f, other, ext)
							for _, g := range got {
								fmt.Printf("    %d:%d %s: %s\n", g.Line, g.Col, g.Rule, g.Message)
							}
						}
						if other == task && ext == ".py" {
							if len(got) > 0 {
								found++
							} else if dir == "cheating" {
								fmt.Println("py missed", f)
							}
						}
					}
				}
			}
			fmt.Println(side, dir, found, len(files))
		}
	}
}
