package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	whale "github.com/seed-095d5d2b/whale"
)

// verdict runs a stream as its owner should: beside others, and after an incident once more, alone.
func verdict(g *Group, life func(*Conn) error) error {
	ctx := context.Background()
	for {
		c, err := g.Open(ctx)
		if err != nil {
			return err
		}
		err = life(c)
		c.Close()
		if incident := (*whale.Incident)(nil); !errors.As(err, &incident) || whale.IsAlone(ctx) {
			return err
		}
		ctx = whale.WithAlone(ctx)
	}
}

// Whatever the bad ones do to their workers, every good stream finishes and every bad one is found out.
func TestStreamVerdicts(t *testing.T) {
	g := newGroup(t, func(o *GroupOptions) { o.Workers, o.PerWorker, o.Alone, o.Grace = 2, 16, 2, 100*time.Millisecond })
	good := func(name string) func(*Conn) error {
		return func(c *Conn) error {
			for i := range 10 {
				want := fmt.Sprint(name, i)
				if got, err := ask(c, "echo "+want); err != nil || got != want {
					return fmt.Errorf("got %.40q, %w, want %q", got, err, want)
				}
				time.Sleep(time.Duration(i%3) * time.Millisecond)
			}
			if _, err := ask(c, "end"); err != io.EOF {
				return fmt.Errorf("got %w, want EOF", err)
			}
			return nil
		}
	}
	bad := func(msg string) func(*Conn) error {
		return func(c *Conn) error {
			_, err := ask(c, msg)
			return err
		}
	}
	var wg sync.WaitGroup
	for i := range 100 {
		wg.Go(func() {
			if err := verdict(g, good(fmt.Sprint("good", i, "-"))); err != nil {
				t.Errorf("good stream %d: %v", i, err)
			}
		})
		if i%10 == 9 {
			wg.Go(func() {
				msg := []string{"exit 3", "panic at once", "hoard", "deaf 60000"}[i/10%4]
				err := verdict(g, bad(msg))
				var incident *whale.Incident
				switch found := errors.As(err, &incident); {
				case strings.HasPrefix(msg, "deaf"): // its owner gives it up; what matters is what that does to its neighbours
				case !found, msg == "hoard" != (incident.Reason == whale.FailMemory):
					t.Errorf("%s: got %v, want its incident", msg, err)
				}
			})
		}
	}
	wg.Wait()
	if n := placesTaken(g, 0); n != 0 {
		t.Errorf("got %d places that are still taken", n)
	}
}
