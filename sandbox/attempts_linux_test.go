package sandbox

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// place is what a worker is told of the world outside, to try to reach it.
type place struct {
	parent int    // its process id
	secret string // a file of it
	tcp    string // addresses where it listens
	unix   string
	hidden string // of an abstract socket
}

func (p place) String() string {
	return strings.Join([]string{strconv.Itoa(p.parent), p.secret, p.tcp, p.unix, p.hidden}, " ")
}

func readPlace(s string) (p place) {
	f := strings.Fields(s)
	p.parent, _ = strconv.Atoi(f[0])
	p.secret, p.tcp, p.unix, p.hidden = f[1], f[2], f[3], f[4]
	return p
}

// attempts are the things that a worker must not do, each with the mechanisms that each alone prevent it. With all of them in force
// each must fail. Nothing here does harm where it succeeds.
var attempts = []struct {
	name string
	by   string // l, s, n: landlock, seccomp, namespaces; p: the lack of capabilities, that none of these has to do with
	do   func(place) error
}{
	{"read a file of the parent", "lsn", func(p place) error { return reads(p.secret) }},
	{"read /etc/passwd", "lsn", func(place) error { return reads("/etc/passwd") }},
	{"read /proc/1/environ", "plsn", func(place) error { return reads("/proc/1/environ") }},
	{"read its own environ", "lsn", func(place) error { return reads("/proc/self/environ") }},
	{"read the parent's environ", "plsn", func(p place) error { return reads(fmt.Sprintf("/proc/%d/environ", p.parent)) }},
	{"list the root", "ls", func(place) error { _, err := os.ReadDir("/"); return err }},
	{"list the home", "lsn", func(place) error { _, err := os.ReadDir("/root"); return err }},
	{"write in /tmp", "lsn", func(p place) error { return os.WriteFile(p.secret+".new", nil, 0o600) }},
	{"write in its program", "plsn", func(place) error { _, err := os.OpenFile("/worker", os.O_WRONLY, 0); return err }},
	{"make a directory", "lsn", func(p place) error { return os.Mkdir(p.secret+".dir", 0o700) }},
	{"remove a file of the parent", "lsn", func(p place) error { return os.Remove(p.secret + ".old") }},
	{"stat a file of the parent", "sn", func(p place) error { _, err := os.Stat(p.secret); return err }},
	{"follow a link", "sn", func(place) error { _, err := os.Readlink("/proc/self/exe"); return err }},
	{"go elsewhere", "sn", func(p place) error { return os.Chdir(filepath.Dir(p.secret)) }},
	{"connect by TCP", "lsn", func(p place) error { return dials("tcp", p.tcp) }},
	{"send by UDP", "sn", func(place) error { return dials("udp", "127.0.0.1:9") }},
	{"listen", "s", func(place) error { _, err := net.Listen("tcp", "127.0.0.1:0"); return err }},
	{"connect to a file", "sn", func(p place) error { return dials("unix", p.unix) }},
	{"connect to an abstract socket", "lsn", func(p place) error { return dials("unix", p.hidden) }},
	{"make a socket", "s", func(place) error { _, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0); return err }},
	{"execute", "lsn", func(place) error { return exec.Command("/bin/true").Run() }},
	{"fork", "s", func(place) error { return forks() }},
	{"signal the parent", "lsn", func(p place) error { return syscall.Kill(p.parent, 0) }},
	{"signal a thread of the parent", "lsn", func(p place) error { return unix.Tgkill(p.parent, p.parent, 0) }},
	{"signal itself by kill", "s", func(place) error { return syscall.Kill(syscall.Getpid(), 0) }},
	{"trace the parent", "plsn", func(p place) error {
		return call(unix.SYS_PTRACE, unix.PTRACE_SEIZE, uintptr(p.parent), 0, 0)
	}},
	{"read the parent's memory", "plsn", func(p place) error {
		var word [8]byte
		mine := []unix.Iovec{{Base: &word[0], Len: 8}}
		_, err := unix.ProcessVMReadv(p.parent, mine, []unix.RemoteIovec{{Base: uintptr(unsafe.Pointer(&word[0])), Len: 8}}, 0)
		if errors.Is(err, unix.EFAULT) {
			return nil // it may, only not there
		}
		return err
	}},
	{"limit the parent", "sn", func(p place) error {
		var now unix.Rlimit
		return unix.Prlimit(p.parent, unix.RLIMIT_CORE, nil, &now)
	}},
	{"hold the parent", "sn", func(p place) error { _, err := unix.PidfdOpen(p.parent, 0); return err }},
	{"raise its limits", "psn", func(place) error {
		return syscall.Setrlimit(unix.RLIMIT_NICE, &syscall.Rlimit{Cur: 40, Max: 40}) // as good as any, and harmless
	}},
	{"have capabilities", "plsn", func(place) error {
		header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
		var data [2]unix.CapUserData
		if err := unix.Capget(&header, &data[0]); err != nil {
			return err
		}
		if data == [2]unix.CapUserData{} { // inheritable ones included
			return errors.New("it has none")
		}
		return nil
	}},
	{"become another user", "plsn", func(place) error { return unix.Setresuid(1, 1, 1) }},
	{"mount", "psn", func(place) error { return unix.Mount("", "/does/not/exist", "", unix.MS_PRIVATE, "") }},
	{"make code", "s", func(place) error {
		_, err := unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_EXEC, unix.MAP_ANON|unix.MAP_PRIVATE)
		return err
	}},
	{"make a file in memory", "s", func(place) error { _, err := unix.MemfdCreate("x", 0); return err }},
	{"make a pipe", "s", func(place) error { _, _, err := os.Pipe(); return err }},
	{"watch files", "s", func(place) error { _, err := unix.InotifyInit(); return err }},
	{"use io_uring", "s", func(place) error { return call(unix.SYS_IO_URING_SETUP, 0, 0, 0, 0) }},
	{"use BPF", "s", func(place) error { return call(unix.SYS_BPF, 99, 0, 0, 0) }},
	{"use userfaultfd", "ps", func(place) error { return call(unix.SYS_USERFAULTFD, 1<<20, 0, 0, 0) }},
	{"use keys", "s", func(place) error { return call(unix.SYS_KEYCTL, 99, 0, 0, 0) }},
	{"use perf", "s", func(place) error { return call(unix.SYS_PERF_EVENT_OPEN, 0, 0, 0, 0) }},
	{"change its priority", "s", func(place) error { return unix.Setpriority(unix.PRIO_PROCESS, 0, 19) }},
	{"share memory", "s", func(place) error { _, err := unix.SysvShmGet(unix.IPC_PRIVATE, 4096, unix.IPC_CREAT|0o600); return err }},
}

func reads(name string) error {
	_, err := os.ReadFile(name)
	return err
}

func dials(network, address string) error {
	c, err := net.DialTimeout(network, address, time.Second)
	if err != nil {
		return err
	}
	_, err = c.Write([]byte("x"))
	return err
}

// call makes a system call with arguments that the kernel refuses. That it got so far is told by another error than those of a filter or of
// missing rights.
func call(number, a, b, c, d uintptr) error {
	_, _, errno := unix.Syscall6(number, a, b, c, d, 0, 0)
	switch errno {
	case 0, unix.EINVAL, unix.EFAULT, unix.EOPNOTSUPP, unix.E2BIG:
		return nil
	}
	return errno
}

// forks makes a process that ends at once.
func forks() error {
	r, _, errno := unix.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
	if errno != 0 {
		return errno
	}
	if r == 0 {
		unix.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
	}
	return nil
}

// tryAll is a verb of the test entry: it makes all attempts and tells of each whether it was refused.
func tryAll(arg string) []byte {
	p := readPlace(arg)
	var out strings.Builder
	for _, a := range attempts {
		if err := a.do(p); err != nil {
			fmt.Fprintf(&out, "%s: refused: %v\n", a.name, err)
		} else {
			fmt.Fprintf(&out, "%s: done\n", a.name)
		}
	}
	return []byte(out.String())
}

// churn is a verb of the test entry: it makes the runtime do whatever it can do on several processors, for n rounds.
func churn(n int) ([]byte, error) {
	runtime.GOMAXPROCS(4)
	defer runtime.GOMAXPROCS(1)
	for range n {
		var wg sync.WaitGroup
		var sum atomic.Int64
		ch := make(chan []int)
		for i := range 50 {
			wg.Go(func() {
				kept := make([]int, 10_000+i)
				time.Sleep(time.Millisecond)
				ch <- kept
			})
			wg.Go(func() { sum.Add(int64(len(<-ch))) })
		}
		// A loop without calls stops only for a signal.
		var stop atomic.Bool
		wg.Go(func() {
			runtime.LockOSThread() // and the thread ends with it
			for !stop.Load() {
			}
		})
		wg.Go(func() {
			time.Sleep(3 * time.Millisecond)
			runtime.GC()
			stop.Store(true)
		})
		wg.Wait()
		if sum.Load() != 50*10_000+49*50/2 {
			return nil, fmt.Errorf("got %d", sum.Load())
		}
	}
	runtime.GOMAXPROCS(1)
	var stop atomic.Bool
	time.AfterFunc(time.Millisecond, func() { stop.Store(true) })
	for !stop.Load() { // on the only processor
	}
	if _, err := time.LoadLocation("Europe/Berlin"); err == nil {
		return nil, errors.New("it reads time zones")
	}
	return []byte(time.Unix(0, 0).In(time.Local).Format(time.Kitchen)), nil
}

// namespacesRefused says why this system grants no namespaces; empty if it does.
func namespacesRefused() string {
	cmd := exec.Command("/bin/true")
	cmd.SysProcAttr = attributes(commandNamespaces, commandCapabilities())
	return noNamespaces(cmd.Run())
}
