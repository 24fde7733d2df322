package recipe

import (
	"errors"
	"os"
	"strings"
	"testing"
)

// TestFirstHarnessMustRun starts from a program that loads and fails in every episode: the run says so before it spends anything.
func TestFirstHarnessMustRun(t *testing.T) {
	t.Parallel()
	c := testConfig(t, t.TempDir())
	if err := os.WriteFile(c.Harness, []byte("def run(task, model, env):\n    return model.chat([chat.user(task.questoin)])\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	steps := 0
	r, err := Start(t.Context(), c, t.TempDir()+"/run", testOptions(func(e Event) {
		if e.Kind == EventStep {
			steps++
		}
	}))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	_, err = r.Execute(t.Context())
	var input *InputError
	if !errors.As(err, &input) || !strings.Contains(err.Error(), "questoin") || !strings.Contains(err.Error(), "trial episodes failed") || steps > 0 {
		t.Errorf("got %v after %d steps, want an InputError that shows the failure, and no step", err, steps)
	}
}
