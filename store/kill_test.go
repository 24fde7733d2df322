package store

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

const childWriters = 8

// childWrite writes rollouts with charges, events, files and weights until it is killed, and prints a line for each
// thing that was acknowledged.
func childWrite(args []string) error {
	dir := args[0]
	from, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	r, err := Open(dir, testOptions)
	if err != nil {
		return err
	}
	defer r.Close()
	ctx := context.Background()
	var mu sync.Mutex
	say := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Printf(format+"\n", args...)
	}
	failed := make(chan error)
	for w := range childWriters {
		go func() {
			for i := from + w; ; i += childWriters {
				rr, line := row(i)
				b := new(Batch)
				b.PutRollout(rr, line)
				b.Charge(rr.Key, Item{"weight", map[string]float64{"rollouts": 1}})
				b.Append("done", rr.Key, i)
				if err := r.Commit(ctx, b); err != nil {
					failed <- err
					return
				}
				say("rollout %d", i)
			}
		}()
	}
	go func() {
		for i := from; ; i++ {
			if err := r.WriteFile("archive/p0/index.jsonl", fileContent(i)); err != nil {
				failed <- err
				return
			}
			say("file %d", i)
			id := fmt.Sprint("w", i%3)
			if err := r.RemoveWeights(id); err != nil {
				failed <- err
				return
			}
			if err := r.WriteWeights(id, writeTestWeights(i)); err != nil {
				failed <- err
				return
			}
			say("weights %d", i)
		}
	}()
	return <-failed
}

func fileContent(i int) []byte {
	return []byte(strings.Repeat(fmt.Sprintf("%d\n", i), 2000))
}

func writeTestWeights(i int) func(dir string) error {
	return func(dir string) error {
		if err := os.WriteFile(filepath.Join(dir, "model.safetensors"), fileContent(i), 0o644); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, "optimizer.bin"), fileContent(i+1), 0o644)
	}
}

func TestKillAnywhere(t *testing.T) {
	kills := 10
	if testing.Short() {
		kills = 3
	}
	dir := filepath.Join(t.TempDir(), "run")
	r, err := Create(dir, nil, testOptions)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	acked := map[int]bool{}
	from := 0
	for range kills {
		delay := time.Duration(rng.IntN(150)) * time.Millisecond
		lastFile := writeAndKill(t, "write", dir, from, delay, acked)
		checkAfterKill(t, dir, acked, lastFile)
		for i := range acked {
			from = max(from, i+1)
		}
		from += 100 // past what was written but not acknowledged
	}
	if len(acked) < kills {
		t.Fatalf("only %d rollouts were acknowledged: the test exercises nothing", len(acked))
	}
	t.Logf("%d kills, %d rollouts acknowledged", kills, len(acked))
}

// writeAndKill runs a writing child, kills it some time after its first word, and collects what it acknowledged.
func writeAndKill(t *testing.T, name, dir string, from int, delay time.Duration, acked map[int]bool) (lastFile int) {
	t.Helper()
	cmd := child(t, name, dir, strconv.Itoa(from))
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stdout)
	var timer *time.Timer
	lastFile = -1
	for lines.Scan() {
		if timer == nil {
			timer = time.AfterFunc(delay, func() { _ = cmd.Process.Kill() })
			defer timer.Stop()
		}
		var what string
		var i int
		if _, err := fmt.Sscanf(lines.Text(), "%s %d", &what, &i); err != nil {
			continue // the kill cut the line
		}
		switch what {
		case "rollout":
			acked[i] = true
		case "file":
			lastFile = i
		}
	}
	if err := cmd.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Fatalf("child: got %v, want it killed; it said %s", err, stderr.String())
	}
	return lastFile
}

func checkAfterKill(t *testing.T, dir string, acked map[int]bool, lastFile int) {
	t.Helper()
	ctx := t.Context()
	r, err := Open(dir, testOptions)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	seen := map[int]bool{}
	for rr, err := range r.Rollouts(ctx, Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		var i int
		if _, err := fmt.Sscanf(rr.Key, "key-%d", &i); err != nil {
			t.Fatal(err)
		}
		seen[i] = true
		// Acknowledged or not: whatever is visible is whole.
		if got, err := r.Trajectory(ctx, rr.Key); err != nil || string(got) != string(trajectory(i)) {
			t.Fatalf("rollout %d: got %q, %v", i, got, err)
		}
	}
	for i := range acked {
		if !seen[i] {
			t.Fatalf("rollout %d was acknowledged and is gone", i)
		}
	}
	events, err := r.Events(ctx, "done")
	if err != nil || len(events) != len(seen) {
		t.Fatalf("got %d events, %v, want one for each of %d rollouts", len(events), err, len(seen))
	}
	if l, err := r.Ledger(ctx); err != nil || l["weight"]["rollouts"] != float64(len(seen)) {
		t.Fatalf("ledger: got %v, %v, want %d", l, err, len(seen))
	}
	if lastFile >= 0 {
		data, err := r.ReadFile("archive/p0/index.jsonl")
		if s := string(data); err != nil || s != string(fileContent(lastFile)) && s != string(fileContent(lastFile+1)) {
			t.Fatalf("file: got %.20q…, %v, want that of %d or the next", data, err, lastFile)
		}
	}
	ids, err := r.ListWeights()
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		if err := r.VerifyWeights(id); err != nil {
			t.Fatal(err)
		}
	}
}
