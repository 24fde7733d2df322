package process

import (
	"context"
	"errors"
	"fmt"
	"strings"

	whale "github.com/seed-095d5d2b/whale"
	"github.com/seed-095d5d2b/whale/harness"
)

// foreign is a program in another language than Starlark. Every episode is a fresh process, so that nothing survives from one to the next.
type foreign struct {
	runtime     *Runtime
	name        string
	language    string
	source      []byte
	interpreter interpreter
}

var _ whale.Harness = (*foreign)(nil)

// newForeign makes a harness of a program in another language, after the gates of that language.
func (r *Runtime) newForeign(name string, src []byte) (whale.Harness, error) {
	language := harness.LanguageOf(name)
	if found := checkBytes(name, src); found != nil {
		return nil, found
	}
	ip, err := r.interpreter(r.ctx, language)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	found, err := r.check(r.ctx, ip, name, src)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(found) > 0 {
		return nil, found
	}
	return &foreign{runtime: r, name: cleanName(name), language: language, source: append([]byte(nil), src...), interpreter: ip}, nil
}

// ID is the content hash of the source under this contract and language.
func (f *foreign) ID() whale.ID { return whale.HarnessIDIn(f.language, f.source) }

// Language is the program's.
func (f *foreign) Language() string { return f.language }

// Source is the program's text.
func (f *foreign) Source() []byte { return append([]byte(nil), f.source...) }

// Name is what positions begin with.
func (f *foreign) Name() string { return f.name }

// Run implements [whale.Harness]. The process is killed the moment that the episode is decided, whatever it still does.
func (f *foreign) Run(ctx context.Context, h whale.Host) (whale.ReplyRef, error) {
	p, err := f.runtime.start(ctx, f.interpreter.episode(f.name, f.source, f.runtime.opt.Memory))
	if err != nil {
		return 0, err
	}
	// Not before there is a process: what it waits for others is not the program's own time.
	start := h.Start()
	answer, err := serve(ctx, p.lines(f.name, MaxLine(start.Limits)), started{h, start}, session{name: f.name})
	return answer, f.advise(err)
}

// advise adds to a failure what its author most likely has to do.
func (f *foreign) advise(err error) error {
	var failed *whale.HarnessError
	if errors.As(err, &failed) && failed.Failure.Reason == whale.FailProtocol && strings.HasSuffix(failed.Failure.Detail, ", want an object") {
		return fail(whale.FailProtocol, "%s (standard output is the pipe to the host: log with a message of type print)", failed.Failure.Detail)
	}
	return err
}

// started is a host whose start was asked for already: that may be done only once.
type started struct {
	whale.Host
	start whale.Start
}

func (s started) Start() whale.Start { return s.start }

// complaint finds in what a program wrote to its standard error the line that says most: the first that names an error, else other, else the
// first.
func complaint(stderr, other string) string {
	first := other
	for line := range strings.Lines(stderr) {
		line = strings.TrimSpace(line)
		word, _, _ := strings.Cut(line, ":")
		if word != line && !strings.ContainsAny(word, " /") && (strings.HasSuffix(word, "Error") || strings.HasSuffix(word, "Exception")) {
			return line
		}
		if first == "" {
			first = line
		}
	}
	if first == "" {
		return "it said nothing"
	}
	return first
}
