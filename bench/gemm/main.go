// Command gemm measures matrix products against the peak of the multiply-add units, which it
// measures in turns with them: registers alone, on as many goroutines as there are cores.
// It prints GFLOP/s and the share of the peak for 1024³ in the three orders and for the
// products of whale-tiny and SmolLM2-135M, as medians over rounds, by the clock and by processor time, and
// how many cores it got.
//
//	go run ./bench/gemm
package main

import (
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"syscall"
	"time"

	"github.com/seed-095d5d2b/whale/lm/kernel"
)

func main() {
	rounds := flag.Int("rounds", 15, "rounds")
	tokens := flag.Int("tokens", 2048, "rows of the models' products")
	variant := flag.String("variant", kernel.Variant(), "kernels")
	workers := flag.Int("workers", runtime.GOMAXPROCS(0), "goroutines")
	flag.Parse()
	if err := run(os.Stdout, *variant, *rounds, *tokens, *workers); err != nil {
		fmt.Fprintln(os.Stderr, "gemm:", err)
		os.Exit(1)
	}
}

// product is one shape: C[m,n] summed over k.
type product struct {
	name    string
	o       kernel.Order
	m, n, k int
}

// products lists what a training step of a model computes: forward, and backward to the
// input and to the weights.
func products(tokens int) []product {
	var ps []product
	for _, o := range []kernel.Order{kernel.NT, kernel.NN, kernel.TN} {
		ps = append(ps, product{"cube", o, 1024, 1024, 1024})
	}
	for _, w := range []struct {
		name    string
		out, in int
	}{
		{"tiny qkv", 256, 128}, {"tiny out", 128, 128}, {"tiny gate, up", 768, 128}, {"tiny down", 128, 384}, {"tiny head", 512, 128},
		{"135m qkv", 960, 576}, {"135m out", 576, 576}, {"135m gate, up", 3072, 576}, {"135m down", 576, 1536},
	} {
		ps = append(ps,
			product{w.name, kernel.NT, tokens, w.out, w.in},
			product{w.name, kernel.NN, tokens, w.in, w.out},
			product{w.name, kernel.TN, w.out, w.in, tokens})
	}
	return ps
}

func run(out io.Writer, variant string, rounds, tokens, workers int) error {
	ks, err := kernel.ByName(variant)
	if err != nil {
		return err
	}
	pool := kernel.NewPool(workers)
	defer pool.Close()
	r := rand.New(rand.NewPCG(1, 1))
	ps := products(tokens)
	type matrices struct{ a, b, c []float32 }
	mats := make([]matrices, len(ps))
	for i, p := range ps {
		mats[i] = matrices{noise(r, p.m*p.k), noise(r, p.n*p.k), make([]float32, p.m*p.n)}
	}
	const burst = 1.5e9 // operations timed at once; alike for both, since a scheduler favours short bursts
	turns := int(burst / float64(workers) / ks.Peak(1))
	peak := func() rate {
		flops := make([]float64, workers)
		return timed(func() (total float64) {
			pool.For(workers, func(i int) { flops[i] = ks.Peak(turns) })
			for _, f := range flops {
				total += f
			}
			return total
		})
	}
	peak()
	rates, shares, cpuShares, cores := make([][]float64, len(ps)), make([][]float64, len(ps)), make([][]float64, len(ps)), make([][]float64, len(ps))
	var peaks, cpuPeaks, peakCores []float64
	for range rounds {
		for i, p := range ps {
			x := mats[i]
			flops := 2 * float64(p.m) * float64(p.n) * float64(p.k)
			times := max(1, int(burst/flops+0.5))
			before := peak()
			r := timed(func() float64 {
				for range times {
					ks.MatMul(pool, p.o, false, x.c, x.a, x.b, p.m, p.n, p.k)
				}
				return flops * float64(times)
			})
			after := peak()
			wall, cpu := (before.wall+after.wall)/2, (before.cpu+after.cpu)/2
			peaks, cpuPeaks = append(peaks, wall), append(cpuPeaks, cpu)
			got := min(before.wall/before.cpu, after.wall/after.cpu)
			peakCores = append(peakCores, got)
			if got < quiet*float64(workers) {
				continue // others had a core; judged by the peaks alone, so that nothing is picked for being fast
			}
			cores[i] = append(cores[i], r.wall/r.cpu)
			rates[i] = append(rates[i], r.wall)
			shares[i] = append(shares[i], r.wall/wall)
			cpuShares[i] = append(cpuShares[i], r.cpu/cpu)
		}
	}
	fmt.Fprintf(out, "%s kernels, %d goroutines; peak %.0f GFLOP/s, %.0f a CPU second (medians)\n\n", variant, workers, median(peaks), median(cpuPeaks))
	fmt.Fprintf(out, "cores that the peak got: %.2f; only samples between two peaks that got %.2f or more count\n\n", median(peakCores), quiet*float64(workers))
	fmt.Fprintln(out, "| product | order | m×n×k | samples | GFLOP/s | of the peak | of the peak, by CPU time | cores |")
	fmt.Fprintln(out, "|---|---|---|---|---|---|---|---|")
	for i, p := range ps {
		if len(rates[i]) == 0 {
			fmt.Fprintf(out, "| %s | %v | %d×%d×%d | 0 | | | | |\n", p.name, p.o, p.m, p.n, p.k)
			continue
		}
		fmt.Fprintf(out, "| %s | %v | %d×%d×%d | %d | %.0f | %.0f%% | %.0f%% | %.2f |\n", p.name, p.o, p.m, p.n, p.k, len(rates[i]),
			median(rates[i]), 100*median(shares[i]), 100*median(cpuShares[i]), median(cores[i]))
	}
	return nil
}

// quiet is the share of the cores that a peak must get for the sample beside it to count.
const quiet = 0.92

// rate is 10⁹ operations by the wall's clock and by the processor time of this process. On
// a machine that others use the first falls with what they take; the second leaves out
// time in which a goroutine waits for a core or for another goroutine.
type rate struct{ wall, cpu float64 }

// timed runs f, which returns the operations it did.
func timed(f func() float64) rate {
	cpu, began := cpuSeconds(), time.Now()
	flops := f()
	return rate{flops / time.Since(began).Seconds() / 1e9, flops / (cpuSeconds() - cpu) / 1e9}
}

func cpuSeconds() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return math.NaN()
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

func noise(r *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	return x
}

func median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	return (x[(len(x)-1)/2] + x[len(x)/2]) / 2
}
