package main

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/gotypes"
	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/pass"
	"github.com/mmcloughlin/avo/printer"
	"github.com/mmcloughlin/avo/reg"
	"github.com/mmcloughlin/avo/x86"
)

// set is what differs between the instruction sets.
type set struct {
	name       string // as it appears in function names
	file       string // as it appears in file names
	bytes      int    // of a vector
	rows, vecs int    // of the largest tile of a product
	masks      bool   // has mask registers (AVX-512)
	transposes bool   // holds the transposition, which serves both
}

func sets() []set {
	return []set{
		// 24 sums, 4 vectors of B and a broadcast: 29 of 32 registers.
		{name: "AVX512", file: "avx512_amd64", bytes: 64, rows: 6, vecs: 4, masks: true},
		// 12 sums, 2 vectors of B and a broadcast: 15 of 16.
		{name: "AVX2", file: "avx2_amd64", bytes: 32, rows: 6, vecs: 2, transposes: true},
	}
}

// lanes is the number of floats in a vector.
func (s set) lanes() int { return s.bytes / 4 }

// builder collects the functions of one file. Errors are kept until files.
type builder struct {
	set
	*reg.Collection
	file   *ir.File
	fn     *ir.Function
	labels int
	consts map[string]operand.Mem
	errs   []error
}

func newBuilder(s set) *builder {
	return &builder{set: s, Collection: reg.NewCollection(), file: ir.NewFile(), consts: map[string]operand.Mem{}}
}

// op appends an instruction, as its constructor in package x86 returns it.
func (b *builder) op(i *ir.Instruction, err error) {
	if err != nil {
		b.errs = append(b.errs, fmt.Errorf("%s: %w", b.fn.Name, err))
		return
	}
	b.fn.AddInstruction(i)
}

// begin starts a function; its name gets the set's as a suffix.
func (b *builder) begin(name, signature string, doc ...string) {
	b.fn = ir.NewFunction(name)
	b.fn.Doc = doc
	b.fn.Attributes = attr.NOSPLIT
	b.fn.AddPragma("noescape")
	sig, err := gotypes.ParseSignature("func" + signature)
	if err != nil {
		b.errs = append(b.errs, fmt.Errorf("%s: %w", name, err))
		sig = gotypes.NewSignatureVoid()
	}
	b.fn.SetSignature(sig)
	b.file.AddSection(b.fn)
}

// end returns. Dirty upper halves would slow every SSE instruction that follows in Go
// code, math.Exp among them, many times over.
func (b *builder) end() {
	b.op(x86.VZEROUPPER())
	b.op(x86.RET())
}

func (b *builder) label(name string) string {
	b.labels++
	return fmt.Sprintf("%s%d", name, b.labels)
}

func (b *builder) place(label string) { b.fn.AddLabel(ir.Label(label)) }

func to(label string) operand.Op { return operand.LabelRef(label) }

// param loads a parameter of eight bytes.
func (b *builder) param(c gotypes.Component) reg.GPVirtual {
	r := b.GP64()
	b.op(x86.MOVQ(b.address(c), r))
	return r
}

func (b *builder) arg(name string) reg.GPVirtual {
	return b.param(b.fn.Signature.Params().Lookup(name))
}

func (b *builder) base(name string) reg.GPVirtual {
	return b.param(b.fn.Signature.Params().Lookup(name).Base())
}

func (b *builder) length(name string) reg.GPVirtual {
	return b.param(b.fn.Signature.Params().Lookup(name).Len())
}

func (b *builder) address(c gotypes.Component) operand.Mem {
	basic, err := c.Resolve()
	if err != nil {
		b.errs = append(b.errs, fmt.Errorf("%s: %w", b.fn.Name, err))
		return operand.Mem{}
	}
	return basic.Addr
}

// spread puts a parameter of four bytes into every lane.
func (b *builder) spread(name string) reg.VecVirtual {
	v := b.vec()
	b.op(x86.VBROADCASTSS(b.address(b.fn.Signature.Params().Lookup(name)), v))
	return v
}

// stride loads a parameter that counts floats, as bytes.
func (b *builder) stride(name string) reg.GPVirtual {
	r := b.arg(name)
	b.op(x86.SHLQ(operand.U8(2), r))
	return r
}

// vec is a new vector register of the set's width.
func (b *builder) vec() reg.VecVirtual {
	if b.masks {
		return b.ZMM()
	}
	return b.YMM()
}

func (b *builder) zero() reg.VecVirtual {
	v := b.vec()
	if b.masks {
		b.op(x86.VPXORD(v, v, v))
	} else {
		b.op(x86.VXORPS(v, v, v))
	}
	return v
}

// splat is a constant in every lane, in memory.
func (b *builder) splat(v float32) operand.Mem { return b.splatBits(math.Float32bits(v)) }

func (b *builder) splatBits(bits uint32) operand.Mem {
	words := make([]uint32, b.lanes())
	for i := range words {
		words[i] = bits
	}
	return b.table(fmt.Sprintf("splat%08x", bits), words)
}

func (b *builder) table(name string, words []uint32) operand.Mem {
	name = strings.ToLower(b.name) + "_" + name
	if m, ok := b.consts[name]; ok {
		return m
	}
	g := ir.NewStaticGlobal(name)
	g.Attributes = attr.RODATA | attr.NOPTR
	for _, w := range words {
		g.Append(operand.U32(w))
	}
	b.file.AddSection(g)
	b.consts[name] = g.Base()
	return g.Base()
}

// files compiles and prints what was built.
func (b *builder) files() (map[string][]byte, error) {
	if err := errors.Join(b.errs...); err != nil {
		return nil, err
	}
	if err := pass.Compile.Execute(b.file); err != nil {
		return nil, fmt.Errorf("compiling %s: %w", b.name, err)
	}
	cfg := printer.Config{Argv: []string{"go", "generate"}, Pkg: "kernel"}
	asm, err := printer.NewGoAsm(cfg).Print(b.file)
	if err != nil {
		return nil, err
	}
	stubs, err := printer.NewStubs(cfg).Print(b.file)
	if err != nil {
		return nil, err
	}
	return map[string][]byte{b.set.file + ".s": asm, b.set.file + ".go": append(append(stubs, b.microTable()...), b.blockTables()...)}, nil
}
