// Command train measures training against PyTorch: the same model, the same tokens, the
// same optimiser, float32, all cores, unpadded, in turns within one run, so that whatever
// else the machine does falls on both. It prints tokens/s, the ratio of the medians, and
// how far the losses are apart.
//
//	go run ./bench/train -python /path/to/venv/bin/python -shape tiny
//	go run ./bench/train -python /path/to/venv/bin/python -shape 135m -rounds 4
//
// PyTorch's OpenMP threads spin at barriers by default. Where other processes want the same
// cores that wastes most of their time: with a load of 7 to 13 on two cores, the tiny shape
// gave 175 to 333 tokens/s (about 1,100 a CPU second) spinning and 2,500 to 9,100 (9,500 a CPU
// second) with OMP_WAIT_POLICY=PASSIVE. A ratio against spinning threads on a busy machine says
// nothing about either engine, so PASSIVE is the default here; on an idle machine measure
// ACTIVE too (-omp ACTIVE) and take PyTorch's better one. glibc's malloc tunables made no
// difference that could be told from noise.
//
// The venv needs torch, numpy and safetensors (and transformers for -impl transformers).
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/seed-095d5d2b/whale/lm"
	"github.com/seed-095d5d2b/whale/lm/kernel"
)

type options struct {
	python, shape, impl, script, lengths string
	profile, omp                         string
	rounds, batch, micro                 int
	trainer                              lm.TrainerOptions
	lr                                   float64
}

func main() {
	var o options
	flag.StringVar(&o.python, "python", "python3", "a Python with torch")
	flag.StringVar(&o.script, "script", "bench/train/torch_train.py", "the PyTorch side")
	flag.StringVar(&o.shape, "shape", "tiny", "tiny (whale-tiny) or 135m (SmolLM2-135M)")
	flag.StringVar(&o.impl, "impl", "plain", "comma-separated: plain, compile, transformers; none for whale alone")
	flag.StringVar(&o.lengths, "lengths", "equal", "equal or mixed sequence lengths")
	flag.IntVar(&o.rounds, "rounds", 9, "measured steps a side")
	flag.IntVar(&o.batch, "tokens", 0, "trained tokens a step; 0 picks 4096 for tiny, 1024 for 135m")
	flag.IntVar(&o.micro, "micro", 2048, "PyTorch's tokens a forward pass")
	flag.Float64Var(&o.lr, "lr", 1e-4, "learning rate")
	flag.StringVar(&o.omp, "omp", "PASSIVE", "OMP_WAIT_POLICY of the PyTorch side: PASSIVE or ACTIVE")
	flag.StringVar(&o.profile, "cpuprofile", "", "write whale's CPU profile to this `file`")
	rank := flag.Int("lora", 0, "train an adapter of this rank on all targets; only with -impl none")
	flag.BoolVar(&o.trainer.Recompute, "recompute", false, "recompute activations on whale's side")
	flag.Parse()
	if *rank > 0 {
		if o.impl != "none" {
			fmt.Fprintf(os.Stderr, "train: -lora: got -impl %s, want none: PyTorch's side trains all weights\n", o.impl)
			os.Exit(2)
		}
		o.trainer.LoRA = &lm.LoRA{Rank: *rank, Alpha: float32(2 * *rank), Targets: lm.LoRATargets()}
	}
	if err := run(context.Background(), o, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "train:", err)
		os.Exit(1)
	}
}

func shapeOf(name string) (lm.Config, int, error) {
	switch name {
	case "tiny":
		return lm.Config{
			Vocab: 512, Dim: 128, Layers: 5, Heads: 4, KVHeads: 2, HeadDim: 32, FFN: 384, MaxSeq: 512,
			RopeTheta: 10000, NormEps: 1e-5, TieEmbeddings: true,
		}, 4096, nil
	case "135m":
		return lm.Config{
			Vocab: 49152, Dim: 576, Layers: 30, Heads: 9, KVHeads: 3, HeadDim: 64, FFN: 1536, MaxSeq: 2048,
			RopeTheta: 100000, NormEps: 1e-5, TieEmbeddings: true,
		}, 1024, nil
	}
	return lm.Config{}, 0, fmt.Errorf("shape: got %q, want tiny or 135m", name)
}

// sequences draws random tokens; each sequence trains all of its tokens but the first.
func sequences(vocab, total int, mixed bool) []lm.Sequence {
	rng := rand.New(rand.NewPCG(1, 2))
	var seqs []lm.Sequence
	for left := total; left > 0; {
		n := 128
		if mixed {
			n = 40 + rng.IntN(216)
		}
		n = min(n, left)
		left -= n
		s := lm.Sequence{Tokens: make([]int32, n+1), Weights: make([]float32, n+1)}
		for i := range s.Tokens {
			s.Tokens[i] = int32(rng.IntN(vocab))
			s.Weights[i] = min(float32(i), 1)
		}
		seqs = append(seqs, s)
	}
	return seqs
}

func run(ctx context.Context, o options, out io.Writer) error {
	cfg, batch, err := shapeOf(o.shape)
	if err != nil {
		return err
	}
	if o.batch > 0 {
		batch = o.batch
	}
	m, err := lm.New(cfg, 1)
	if err != nil {
		return err
	}
	seqs := sequences(cfg.Vocab, batch, o.lengths == "mixed")
	dir, err := os.MkdirTemp("", "whale-train")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := m.Save(filepath.Join(dir, "model"), lm.F32); err != nil {
		return err
	}
	ids := make([][]int32, len(seqs))
	for i, s := range seqs {
		ids[i] = s.Tokens
	}
	data, err := json.Marshal(ids)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "tokens.json"), data, 0o644); err != nil {
		return err
	}

	pool := kernel.NewPool(runtime.GOMAXPROCS(0))
	defer pool.Close()
	plan, err := lm.PlanMemory(cfg, o.trainer, 257, pool.Size())
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "whale's memory, at most: %v\n", plan)
	trainer, err := lm.NewTrainerWith(m, pool, lm.DefaultAdamW(), o.trainer)
	if err != nil {
		return err
	}
	whale := func() (m measured, err error) {
		began, cpu := time.Now(), cpuSeconds()
		loss, err := trainer.Accumulate(ctx, seqs)
		if err == nil {
			_, err = trainer.Step(float32(o.lr))
		}
		return measured{Loss: loss.Mean(), Seconds: time.Since(began).Seconds(), CPU: cpuSeconds() - cpu}, err
	}
	sides := []side{{name: "whale", step: whale}}
	for impl := range strings.SplitSeq(o.impl, ",") {
		if impl == "none" {
			continue
		}
		t, err := startTorch(ctx, o, dir, impl)
		if err != nil {
			return fmt.Errorf("pytorch %s: %w", impl, err)
		}
		defer t.close()
		sides = append(sides, side{name: "pytorch " + impl, step: t.step})
	}

	fmt.Fprintf(out, "%s: %d parameters, %d sequences (%s lengths), %d tokens a step, kernels %s, %d threads, OMP_WAIT_POLICY=%s\n",
		o.shape, m.NumParams(), len(seqs), o.lengths, batch, kernel.Variant(), runtime.GOMAXPROCS(0), o.omp)
	if o.profile != "" {
		f, err := os.Create(o.profile)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	for round := range o.rounds + 1 { // the first warms up
		for i := range sides {
			m, err := sides[i].step()
			if err != nil {
				return fmt.Errorf("%s: %w", sides[i].name, err)
			}
			if round > 0 {
				sides[i].seconds = append(sides[i].seconds, m.Seconds)
				sides[i].cpu = append(sides[i].cpu, m.CPU)
			}
			sides[i].losses = append(sides[i].losses, m.Loss)
		}
	}
	report(out, sides, batch)
	return nil
}

// measured is one step.
type measured struct{ Loss, Seconds, CPU float64 }

// side is one of the contestants.
type side struct {
	name                 string
	step                 func() (measured, error)
	seconds, cpu, losses []float64
}

func rate(tokens int, seconds []float64) float64 { return float64(tokens) / median(seconds) }

func median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	return (x[(len(x)-1)/2] + x[len(x)/2]) / 2
}

// cpuSeconds is the processor time of this process so far. On a machine that others use
// too it says more than the clock on the wall.
func cpuSeconds() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return math.NaN()
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

func report(out io.Writer, sides []side, tokens int) {
	fmt.Fprintln(out, "| engine | tokens/s (median) | best | whale is | tokens/CPU-s | whale is | first loss | last loss |")
	fmt.Fprintln(out, "|---|---|---|---|---|---|---|---|")
	for _, s := range sides {
		fmt.Fprintf(out, "| %s | %.0f | %.0f | %.2fx | %.0f | %.2fx | %.6f | %.6f |\n", s.name,
			rate(tokens, s.seconds), float64(tokens)/slices.Min(s.seconds), rate(tokens, sides[0].seconds)/rate(tokens, s.seconds),
			rate(tokens, s.cpu), rate(tokens, sides[0].cpu)/rate(tokens, s.cpu), s.losses[0], s.losses[len(s.losses)-1])
	}
}

// torch is the other process.
type torch struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

func startTorch(ctx context.Context, o options, dir, impl string) (*torch, error) {
	cmd := exec.CommandContext(ctx, o.python, o.script, "--model", filepath.Join(dir, "model"), "--tokens", filepath.Join(dir, "tokens.json"),
		"--impl", impl, "--micro", strconv.Itoa(o.micro), "--lr", strconv.FormatFloat(o.lr, 'g', -1, 64))
	cmd.Stderr = os.Stderr
	cmd.Env = append(os.Environ(), "OMP_WAIT_POLICY="+o.omp)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	t := &torch{cmd: cmd, in: in, out: bufio.NewScanner(out)}
	if !t.out.Scan() {
		t.close()
		return nil, fmt.Errorf("ended before its first line")
	}
	return t, nil
}

func (t *torch) step() (m measured, err error) {
	if _, err := io.WriteString(t.in, "step\n"); err != nil {
		return m, err
	}
	if !t.out.Scan() {
		return m, fmt.Errorf("ended early")
	}
	err = json.Unmarshal(t.out.Bytes(), &m)
	return m, err
}

func (t *torch) close() {
	t.in.Close()
	_ = t.cmd.Wait() // it ends at the end of its input; what it printed has been read
}
