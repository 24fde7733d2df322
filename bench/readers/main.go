// Command readers measures how fast task/rows reads files of each format, and in how much memory.
//
//	go run ./bench/readers [-mib 1024] [-dir folder]
//
// It writes one file a format, of random words that come to so much JSON text, and reads each in a process of its own, whose peak is what the
// kernel says of it (VmHWM, Linux).
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/seed-095d5d2b/whale/task/rows"
)

func main() {
	mib := flag.Int("mib", 1024, "MiB of text a file")
	dir := flag.String("dir", os.TempDir(), "where the files are written; they are removed again")
	read := flag.String("read", "", "read this file and print a line (what the program calls itself with)")
	flag.Parse()
	err := error(nil)
	if *read != "" {
		err = readOne(*read)
	} else {
		err = measure(*dir, int64(*mib)<<20)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "readers:", err)
		os.Exit(1)
	}
}

func measure(dir string, bytes int64) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	fmt.Printf("%d MiB of text a file, %s, %d CPUs\n\n", bytes>>20, runtime.Version(), runtime.NumCPU())
	fmt.Println("| format | file, MiB | rows | seconds | MiB/s of text | CPU seconds | MiB by the CPU second | peak memory, MiB |")
	fmt.Println("|---|---|---|---|---|---|---|---|")
	for _, name := range []string{"a.jsonl", "a.jsonl.gz", "a.jsonl.zst", "a.csv", "a.csv.zst", "a.parquet", "zstd.parquet"} {
		if err := measureOne(self, filepath.Join(dir, "whale-readers-"+name), strings.TrimPrefix(name, "a."), bytes); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func measureOne(self, path, format string, bytes int64) error {
	defer os.Remove(path)
	text, err := generate(path, bytes)
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	reader := exec.Command(self, "-read", path)
	out, err := reader.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	processor := (reader.ProcessState.UserTime() + reader.ProcessState.SystemTime()).Seconds()
	var n int64
	var seconds, peak float64
	if _, err := fmt.Sscan(string(out), &n, &seconds, &peak); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	mib := float64(text) / (1 << 20)
	fmt.Printf("| %s | %d | %d | %.1f | %.0f | %.1f | %.0f | %.0f |\n", format, info.Size()>>20, n, seconds, mib/seconds, processor, mib/processor, peak)
	return nil
}

// readOne reads a file with two fields of each row, as a loader would.
func readOne(path string) error {
	start := time.Now()
	r, err := rows.Open(path, rows.Options{})
	if err != nil {
		return err
	}
	defer r.Close()
	n, length := 0, 0
	for {
		row, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		for _, field := range []string{"question", "answer"} {
			s, err := row.Text(field)
			if err != nil {
				return fmt.Errorf("%s: %w", row.At(), err)
			}
			length += len(s)
		}
		n++
	}
	took := time.Since(start).Seconds()
	peak, err := peakMiB()
	if err != nil {
		return err
	}
	if length == 0 {
		return errors.New("got no text")
	}
	fmt.Println(n, took, peak)
	return nil
}

func peakMiB() (float64, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kib, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			return kib / 1024, err
		}
	}
	return 0, errors.New("the kernel does not tell the peak")
}
