package sandbox

import (
	"bytes"
	"encoding/binary"

	seccomp "github.com/elastic/go-seccomp-bpf"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// commandRefused are the system calls that no interpreter needs to run a program that talks over its pipes. Interpreters differ too much
// for a list of what they may do; so this one forbids whatever starts processes, leaves the process, or is a door into the kernel that
// nobody needs.
var commandRefused = []string{
	// Processes. What clone may do is in commandFilter.
	"fork", "vfork", "execveat", "kill", "tkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "pidfd_open", "pidfd_getfd", "pidfd_send_signal",
	"ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "process_mrelease", "kcmp",
	"sched_setscheduler", "sched_setattr", "sched_setparam", "setpriority", "ioprio_set",
	"personality", "acct", "setsid", "setpgid", "unshare", "setns",
	// Network.
	"socket", "socketpair", "connect", "bind", "listen", "accept", "accept4", "sendto", "sendmsg", "sendmmsg", "recvfrom", "recvmsg", "recvmmsg",
	// Memory that no limit counts.
	"memfd_create", "memfd_secret", "shmget", "shmat", "shmctl", "msgget", "msgsnd", "msgrcv", "msgctl", "semget", "semop", "semtimedop", "semctl",
	"mq_open", "mq_unlink", "mq_timedsend", "mq_timedreceive", "mq_notify", "mq_getsetattr", "mlock", "mlock2", "mlockall", "remap_file_pages",
	// Mounts and name spaces of files.
	"mount", "umount2", "pivot_root", "chroot", "fsopen", "fsconfig", "fsmount", "fspick", "open_tree", "move_mount", "mount_setattr",
	"statmount", "listmount", "name_to_handle_at", "open_by_handle_at", "mknod", "mknodat", "swapon", "swapoff", "quotactl", "quotactl_fd",
	"fanotify_init", "fanotify_mark", "inotify_init", "inotify_init1", "inotify_add_watch",
	// The kernel.
	"bpf", "io_uring_setup", "io_uring_enter", "io_uring_register", "io_setup", "io_submit", "io_getevents", "io_destroy", "io_cancel", "io_pgetevents",
	"userfaultfd", "perf_event_open", "keyctl", "add_key", "request_key", "seccomp", "modify_ldt", "ioperm", "iopl",
	"init_module", "finit_module", "delete_module", "kexec_load", "kexec_file_load", "reboot", "syslog", "sysfs", "lookup_dcookie", "vhangup",
	"settimeofday", "clock_settime", "clock_adjtime", "adjtimex", "sethostname", "setdomainname", "nfsservctl", "uselib", "ustat",
	"move_pages", "migrate_pages", "mbind", "set_mempolicy", "set_mempolicy_home_node", "landlock_create_ruleset", "landlock_add_rule",
	"landlock_restrict_self", "lsm_set_self_attr", "cachestat", "timer_create", "splice", "tee", "vmsplice",
}

// commandFilter assembles the filter of a foreign program, in the form that bubblewrap reads.
func commandFilter() ([]byte, error) {
	refused, err := knownCalls(commandRefused)
	if err != nil {
		return nil, err
	}
	notThread := seccomp.ArgumentConditions{{Argument: 0, Operation: seccomp.BitsNotSet, Value: unix.CLONE_THREAD}}
	others := seccomp.ArgumentConditions{{Argument: 0, Operation: seccomp.NotEqual, Value: 0}}
	program, err := assemble(seccomp.Policy{DefaultAction: seccomp.ActionAllow, Syscalls: []seccomp.SyscallGroup{
		{Names: []string{"clone3"}, Action: unknown},
		{Names: refused, NamesWithCondtions: []seccomp.NameWithConditions{
			{Name: "clone", Conditions: notThread}, {Name: "prlimit64", Conditions: others},
		}, Action: refuse},
	}})
	if err != nil {
		return nil, err
	}
	return encodeFilter(program)
}

// encodeFilter writes an array of struct sock_filter.
func encodeFilter(program []bpf.RawInstruction) ([]byte, error) {
	var b bytes.Buffer
	err := binary.Write(&b, binary.NativeEndian, program)
	return b.Bytes(), err
}
