package audit

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	whale "github.com/seed-095d5d2b/whale"
	tmath "github.com/seed-095d5d2b/whale/task/math"
)

func scratchCorpora(t testing.TB) map[string]*Corpus {
	out := map[string]*Corpus{}
	byTask := map[string][]whale.Example{}
	data, _ := os.ReadFile("testdata/examples.json")
	var xs []struct {
		Task, ID string
		View     map[string]string
		Answer   json.RawMessage
	}
	if err := json.Unmarshal(data, &xs); err != nil {
		t.Fatal(err)
	}
	for _, x := range xs {
		byTask[x.Task] = append(byTask[x.Task], whale.Example{ID: x.ID, View: x.View, Answer: x.Answer})
	}
	byTask["math"] = scratchMath(t, 11, 512, 128)
	names := []string{"math", "qa", "chess", "generated", "searchqa", "HotpotQA", "Bamboogle", "Musique", "GSM8K", "MATH-500", "DeepMath", "lichess"}
	for k, v := range byTask {
		c, err := NewCorpus(v, Options{Names: names})
		if err != nil {
			t.Fatal(err)
		}
		out[k] = c
	}
	return out
}

type nocalc struct{ tmath.Calculator }

func scratchMath(t testing.TB, seed uint64, train, search int) []whale.Example {
	c := tmath.DefaultConfig()
	c.Generator.Seed = seed
	c.Generator.Counts = tmath.Counts{Train: train, Search: search, Validation: 1, Test: 1}
	task, err := tmath.New(context.Background(), c, nocalc{})
	if err != nil {
		t.Fatal(err)
	}
	a, _ := task.Examples(whale.SplitTrain)
	b, _ := task.Examples(whale.SplitSearch)
	return append(a, b...)
}

func TestScratch(t *testing.T) {
	cs := scratchCorpora(t)
	for _, dir := range []string{"cheating", "ordinary"} {
		files, _ := filepath.Glob("testdata/dev/" + dir + "/*.star")
		found, slow := 0, time.Duration(0)
		for _, f := range files {
			src, _ := os.ReadFile(f)
			base := filepath.Base(f)
			task := base[:4]
			if task == "ches" {
				task = "chess"
			} else if task[:2] == "qa" {
				task = "qa"
			}
			start := time.Now()
			got, err := cs[task].Audit(base, src)
			d := time.Since(start)
			slow = max(slow, d)
			if err != nil {
				t.Error(err)
			}
			if len(got) > 0 {
				found++
			}
			if (len(got) > 0) != (dir == "cheating") || os.Getenv("ALL") != "" {
				fmt.Println(dir, base, d)
				for _, g := range got {
					fmt.Printf("    %d:%d %s: %s\n", g.Line, g.Col, g.Rule, g.Message)
				}
			}
		}
		fmt.Println(dir, found, "of", len(files), "slowest", slow)
	}
}

func TestScratchLarge(t *testing.T) {
	for _, n := range []int{32, 640, 20000} {
		start := time.Now()
		xs := scratchMath(t, 5, n*4/5, n/5)
		fmt.Println("made", time.Since(start))
		start = time.Now()
		c, err := NewCorpus(xs, Options{})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println(n, "built", time.Since(start), "coverage", c.coverage["1 1 "], c.coverage["2 2 "], c.coverage["3 3 "])
		files, _ := filepath.Glob("testdata/dev/*/*.star")
		more, _ := filepath.Glob("../../examples/*/*.star")
		more2, _ := filepath.Glob("../../metaharness/propose/evolve/testdata/*.star")
		slow, total, k := time.Duration(0), time.Duration(0), 0
		for _, f := range append(append(files, more...), more2...) {
			src, _ := os.ReadFile(f)
			start := time.Now()
			got, err := c.Audit(filepath.Base(f), src)
			d := time.Since(start)
			if err != nil {
				t.Error(err)
			}
			if filepath.Base(filepath.Dir(f)) == "cheating" {
				if len(got) == 0 && filepath.Base(f)[:4] == "math" {
					fmt.Println("not here: ", f)
				}
				if d > 50*time.Millisecond {
					fmt.Println("slow", f, d)
				}
				continue
			}
			slow = max(slow, d)
			total += d
			k++
			if d > 20*time.Millisecond {
				fmt.Println("slow", f, d)
			}
			for _, g := range got {
				fmt.Printf("   %s %d:%d %s: %s\n", f, g.Line, g.Col, g.Rule, g.Message)
			}
		}
		fmt.Println("slowest", slow, "mean", total/time.Duration(k))
	}
}
