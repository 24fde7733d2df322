// Command quickseeds runs one config with several run seeds and generator seeds, one after the other, and prints a Markdown table of the
// final pairs with the time and the peak memory of each run.
//
//	go build -o /tmp/whale ./cmd/whale
//	go run ./bench/quickseeds -whale /tmp/whale -config examples/math/quick.yaml -generators 11,90210 -seeds 1,2,3
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

type summary struct {
	Pairs []struct {
		Name, Weights, Harness string
		Mean, Low, High        float64
	}
}

func main() {
	whale := flag.String("whale", "whale", "the binary")
	config := flag.String("config", "examples/math/quick.yaml", "the config")
	generators := flag.String("generators", "11", "generator seeds, comma-separated")
	seeds := flag.String("seeds", "1,2,3", "run seeds, comma-separated")
	flag.Parse()
	if err := run(*whale, *config, strings.Split(*generators, ","), strings.Split(*seeds, ",")); err != nil {
		fmt.Fprintln(os.Stderr, "quickseeds:", err)
		os.Exit(1)
	}
}

func run(whale, config string, generators, seeds []string) error {
	dir, err := os.MkdirTemp("", "quickseeds")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	fmt.Println("| generator | seed | (θ0,h0) | (θK,h0) | (θ0,hK) | (θK,hK) | weights | harness | seconds | peak MB |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|---|")
	for _, g := range generators {
		for _, s := range seeds {
			if err := one(whale, config, g, s, filepath.Join(dir, g+"-"+s)); err != nil {
				return fmt.Errorf("generator %s, seed %s: %w", g, s, err)
			}
		}
	}
	return nil
}

func one(whale, config, generator, seed, dir string) error {
	cmd := exec.Command(whale, "run", config, "--generator-seed", generator, "--seed", seed, "--dir", dir, "--json")
	cmd.Stderr = os.Stderr
	start := time.Now()
	if err := cmd.Run(); err != nil {
		return err
	}
	seconds := time.Since(start).Seconds()
	data, err := os.ReadFile(filepath.Join(dir, "report", "summary.json"))
	if err != nil {
		return err
	}
	var s summary
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	fmt.Printf("| %s | %s |", generator, seed)
	for _, p := range s.Pairs {
		fmt.Printf(" %.1f [%.1f, %.1f] |", 100*p.Mean, 100*p.Low, 100*p.High)
	}
	last := s.Pairs[len(s.Pairs)-1]
	peak := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss / 1024
	fmt.Printf(" %.8s | %.8s | %.0f | %d |\n", last.Weights, last.Harness, seconds, peak)
	return nil
}
