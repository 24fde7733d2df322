//go:build linux && amd64

package sandbox

import (
	"encoding/binary"
	"os"
	"testing"

	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

// What a filter answers, as the kernel reads it (uapi/linux/seccomp.h).
const (
	allowed   = unix.SECCOMP_RET_ALLOW
	forbidden = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	noCall    = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
)

// decide runs a filter on one system call, in the machine of golang.org/x/net/bpf, which reads in network byte order.
func decide(t interface{ Fatal(...any) }, program []bpf.RawInstruction, architecture uint32, number int, args ...uint64) uint32 {
	instructions, ok := bpf.Disassemble(program)
	if !ok {
		t.Fatal("not a program")
	}
	vm, err := bpf.NewVM(instructions)
	if err != nil {
		t.Fatal(err)
	}
	data := make([]byte, 64) // struct seccomp_data
	binary.BigEndian.PutUint32(data, uint32(number))
	binary.BigEndian.PutUint32(data[4:], architecture)
	for i, a := range args {
		binary.BigEndian.PutUint32(data[16+8*i:], uint32(a)) // the low half comes first on this processor
		binary.BigEndian.PutUint32(data[20+8*i:], uint32(a>>32))
	}
	verdict, err := vm.Run(data)
	if err != nil {
		t.Fatal(err)
	}
	return uint32(verdict)
}

func testFilters(t *testing.T) (worker, command []bpf.RawInstruction) {
	t.Helper()
	worker, err := workerFilter()
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := commandFilter()
	if err != nil {
		t.Fatal(err)
	}
	for ; len(encoded) > 0; encoded = encoded[8:] {
		command = append(command, bpf.RawInstruction{
			Op: binary.NativeEndian.Uint16(encoded), Jt: encoded[2], Jf: encoded[3], K: binary.NativeEndian.Uint32(encoded[4:]),
		})
	}
	return worker, command
}

func TestFilters(t *testing.T) {
	worker, command := testFilters(t)
	pid := uint64(os.Getpid())
	const x32 = 0x40000000
	own, i386 := uint32(arch.X86_64.ID), uint32(arch.I386.ID)
	for _, c := range []struct {
		name            string
		arch            uint32
		number          int
		args            []uint64
		worker, command uint32
	}{
		{"read", own, unix.SYS_READ, []uint64{0}, allowed, allowed},
		{"open", own, unix.SYS_OPENAT, nil, forbidden, allowed},
		{"execve", own, unix.SYS_EXECVE, nil, forbidden, allowed},
		{"socket", own, unix.SYS_SOCKET, nil, forbidden, forbidden},
		{"fork", own, unix.SYS_FORK, nil, forbidden, forbidden},
		{"kill", own, unix.SYS_KILL, []uint64{pid, 0}, forbidden, forbidden},
		{"clone3", own, unix.SYS_CLONE3, nil, noCall, noCall},
		{"process", own, unix.SYS_CLONE, []uint64{uint64(unix.SIGCHLD)}, forbidden, forbidden},
		{"thread", own, unix.SYS_CLONE, []uint64{unix.CLONE_THREAD | unix.CLONE_VM}, allowed, allowed},
		{"thread and more", own, unix.SYS_CLONE, []uint64{unix.CLONE_THREAD | unix.CLONE_NEWNET}, forbidden, allowed}, // the kernel has its say too
		{"high half", own, unix.SYS_CLONE, []uint64{unix.CLONE_THREAD << 32}, forbidden, forbidden},
		{"signal to itself", own, unix.SYS_TGKILL, []uint64{pid, 1, 23}, allowed, allowed},
		{"signal to another", own, unix.SYS_TGKILL, []uint64{pid + 1, 1, 23}, forbidden, allowed}, // which its name space does not show
		{"signal to a long number", own, unix.SYS_TGKILL, []uint64{pid | 1<<40, 1, 23}, forbidden, allowed},
		{"memory", own, unix.SYS_MMAP, []uint64{0, 4096, unix.PROT_READ | unix.PROT_WRITE}, allowed, allowed},
		{"code", own, unix.SYS_MMAP, []uint64{0, 4096, unix.PROT_READ | unix.PROT_EXEC}, forbidden, allowed}, // node compiles
		{"flags of a descriptor", own, unix.SYS_FCNTL, []uint64{0, unix.F_GETFL}, allowed, allowed},
		{"owner of a descriptor", own, unix.SYS_FCNTL, []uint64{0, unix.F_SETOWN}, forbidden, allowed},
		{"own limits", own, unix.SYS_PRLIMIT64, []uint64{0}, forbidden, allowed},
		{"limits of another", own, unix.SYS_PRLIMIT64, []uint64{pid}, forbidden, forbidden},
		{"a newer call", own, 999, nil, noCall, noCall},
		{"a call of 32 bits", i386, unix.SYS_READ, nil, noCall, noCall},
		{"another call of 32 bits", i386, 2, nil, noCall, noCall},
		{"a call of x32", own, x32 | unix.SYS_READ, nil, noCall, noCall},
	} {
		for _, f := range []struct {
			name    string
			program []bpf.RawInstruction
			want    uint32
		}{{"worker", worker, c.worker}, {"command", command, c.command}} {
			if got := decide(t, f.program, c.arch, c.number, c.args...); got != f.want {
				t.Errorf("%s, %s: got %#x, want %#x", c.name, f.name, got, f.want)
			}
		}
	}
}

// The filter of workers allows what is in its list and nothing else, and that of commands refuses what is in its.
func TestFiltersHoldTheirLists(t *testing.T) {
	worker, command := testFilters(t)
	listed, refused := map[string]bool{"mmap": true, "mprotect": true, "clone": true, "tgkill": true, "fcntl": true}, map[string]bool{}
	for _, name := range workerCalls {
		listed[name] = true
	}
	for _, name := range commandRefused {
		refused[name] = true
	}
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.IntRange(0, 600).Draw(t, "number")
		args := rapid.SliceOfN(rapid.Uint64(), 6, 6).Draw(t, "args")
		name := arch.X86_64.SyscallNumbers[number]
		if got := decide(t, worker, uint32(arch.X86_64.ID), number, args...); got == allowed && !listed[name] {
			t.Fatalf("a worker may call %s (%d)", name, number)
		}
		if got := decide(t, command, uint32(arch.X86_64.ID), number, args...); got == allowed && (refused[name] || number > 480) {
			t.Fatalf("a command may call %s (%d)", name, number)
		}
	})
	for _, name := range append(workerCalls, commandRefused...) {
		found := false
		for _, info := range []*arch.Info{arch.X86_64, arch.AARCH64, arch.ARM, arch.I386} {
			_, ok := info.SyscallNames[name]
			found = found || ok
		}
		if !found {
			t.Errorf("no processor has a call of the name %s", name)
		}
	}
}
