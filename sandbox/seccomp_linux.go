package sandbox

import (
	"fmt"
	"os"
	"unsafe"

	seccomp "github.com/elastic/go-seccomp-bpf"
	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// The answers of a filter to a system call that it does not allow. Errors and not death: a surprise shows where it happens.
const (
	refuse  = seccomp.ActionErrno                               // operation not permitted
	unknown = seccomp.ActionErrno | seccomp.Action(unix.ENOSYS) // no such call: the C library then uses an older one
)

// workerCalls are the system calls that a Go program needs while it runs: none opens, makes or finds anything outside the process.
// Names that a processor lacks are left out there.
var workerCalls = []string{
	// Pipes, which are inherited, and waiting for them.
	"read", "write", "readv", "writev", "close", "fstat",
	"epoll_create1", "epoll_ctl", "epoll_wait", "epoll_pwait", "eventfd2", "poll", "ppoll",
	// Memory. What is missing in this list and the next is in workerConditions.
	"munmap", "madvise", "brk", "mremap", "mincore",
	// Threads, signals within the process, clocks.
	"futex", "sched_yield", "sched_getaffinity", "set_robust_list", "rseq", "membarrier", "gettid", "getpid", "exit", "exit_group",
	"rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sigaltstack", "restart_syscall",
	"nanosleep", "clock_nanosleep", "clock_gettime", "clock_getres", "gettimeofday", "time", "getrandom", "getrusage",
}

// workerConditions are calls that a worker may make with some arguments only.
func workerConditions() []seccomp.NameWithConditions {
	noCode := seccomp.ArgumentConditions{{Argument: 2, Operation: seccomp.BitsNotSet, Value: unix.PROT_EXEC}}
	thread := seccomp.ArgumentConditions{
		{Argument: 0, Operation: seccomp.BitsSet, Value: unix.CLONE_THREAD},
		{Argument: 0, Operation: seccomp.BitsNotSet, Value: unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC |
			unix.CLONE_NEWUTS | unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP},
	}
	self := seccomp.ArgumentConditions{{Argument: 0, Operation: seccomp.Equal, Value: uint64(os.Getpid())}}
	conditions := []seccomp.NameWithConditions{
		{Name: "mmap", Conditions: noCode}, {Name: "mprotect", Conditions: noCode},
		{Name: "clone", Conditions: thread},
		{Name: "tgkill", Conditions: self}, // preemption of goroutines
	}
	// Others could have the kernel send signals.
	for _, command := range []uint64{unix.F_GETFL, unix.F_SETFL, unix.F_GETFD, unix.F_SETFD} {
		conditions = append(conditions, seccomp.NameWithConditions{
			Name: "fcntl", Conditions: seccomp.ArgumentConditions{{Argument: 1, Operation: seccomp.Equal, Value: command}},
		})
	}
	return conditions
}

// workerFilter assembles the filter of a worker.
func workerFilter() ([]bpf.RawInstruction, error) {
	known, err := knownCalls(workerCalls)
	if err != nil {
		return nil, err
	}
	return assemble(seccomp.Policy{DefaultAction: refuse, Syscalls: []seccomp.SyscallGroup{
		// Its arguments are in memory, where a filter does not see them.
		{Names: []string{"clone3"}, Action: unknown},
		{Names: known, NamesWithCondtions: workerConditions(), Action: seccomp.ActionAllow},
	}})
}

// knownCalls leaves out what this processor's kernel does not have, such as the older forms of calls.
func knownCalls(names []string) ([]string, error) {
	info, err := arch.GetInfo("")
	if err != nil {
		return nil, err
	}
	var known []string
	for _, name := range names {
		if _, ok := info.SyscallNames[name]; ok {
			known = append(known, name)
		}
	}
	return known, nil
}

// assemble makes the program of a policy. Before it stands that calls are unknown which the policy cannot have thought of: those of another
// architecture (a 64-bit process can make 32-bit calls, whose numbers mean other things; the library by itself gives them the
// default action, which may be to allow), and those that are newer than the library's tables.
func assemble(policy seccomp.Policy) ([]bpf.RawInstruction, error) {
	info, err := arch.GetInfo("")
	if err != nil {
		return nil, err
	}
	newest := 0
	for _, n := range info.SyscallNames {
		newest = max(newest, n)
	}
	body, err := policy.Assemble()
	if err != nil {
		return nil, err
	}
	const number, architecture, size = 0, 4, 4 // offsets and size in struct seccomp_data
	return bpf.Assemble(append([]bpf.Instruction{
		bpf.LoadAbsolute{Off: architecture, Size: size},
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: uint32(info.ID), SkipTrue: 2},
		bpf.LoadAbsolute{Off: number, Size: size},
		bpf.JumpIf{Cond: bpf.JumpLessOrEqual, Val: uint32(newest), SkipTrue: 1},
		bpf.RetConstant{Val: uint32(unknown)},
	}, body...))
}

// filterWorker puts all threads of this process, and those to come, under the filter. They have no_new_privs set.
func filterWorker() error {
	program, err := workerFilter()
	if err != nil {
		return err
	}
	filter := make([]unix.SockFilter, len(program))
	for i, in := range program {
		filter[i] = unix.SockFilter{Code: in.Op, Jt: in.Jt, Jf: in.Jf, K: in.K}
	}
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	r, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&prog)))
	switch {
	case errno != 0:
		return fmt.Errorf("install the filter: %w", errno)
	case r != 0: // a thread that already has another filter
		return fmt.Errorf("install the filter: thread %d does not take it", r)
	}
	return nil
}
