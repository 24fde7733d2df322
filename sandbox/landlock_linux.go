package sandbox

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// landlockAccess are the rights over files that each version of the kernel's interface added (uapi/linux/landlock.h). A domain
// forbids those that it handles, apart from its rules.
var landlockAccess = []uint64{
	1: unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_READ_FILE |
		unix.LANDLOCK_ACCESS_FS_READ_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG |
		unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_SYM,
	2: unix.LANDLOCK_ACCESS_FS_REFER,
	3: unix.LANDLOCK_ACCESS_FS_TRUNCATE,
	5: unix.LANDLOCK_ACCESS_FS_IOCTL_DEV,
}

// landlockThread forbids the calling thread, and whatever it becomes by exec, all files but the given ones and the one open as program, which it may
// read and execute; from version 4 of the interface on also TCP, and from version 6 on signals and abstract sockets to processes outside. The
// thread must have no_new_privs set. It returns the version.
//
// These are raw system calls because the library for it (go-landlock) restricts all threads at once, by way of the psx package, which
// links C where a C compiler is present.
func landlockThread(files []string, program int) (version int, err error) {
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0, fmt.Errorf("the kernel has none: %w", errno)
	}
	version = int(v)
	attr := unix.LandlockRulesetAttr{}
	size := unsafe.Sizeof(attr.Handled_access_fs)
	for i, access := range landlockAccess {
		if i <= version {
			attr.Handled_access_fs |= access
		}
	}
	if version >= 4 {
		attr.Handled_access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
		size += unsafe.Sizeof(attr.Handled_access_net)
	}
	if version >= 6 {
		attr.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
		size += unsafe.Sizeof(attr.Scoped)
	}
	set, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0)
	if errno != 0 {
		return 0, fmt.Errorf("create the rules: %w", errno)
	}
	defer unix.Close(int(set))
	if err := landlockAllow(int(set), program); err != nil {
		return 0, fmt.Errorf("this program: %w", err)
	}
	for _, name := range files {
		fd, err := unix.Open(name, unix.O_PATH|unix.O_CLOEXEC, 0)
		if err == nil {
			err = landlockAllow(int(set), fd)
			unix.Close(fd)
		}
		if err != nil {
			return 0, fmt.Errorf("%s: %w", name, err)
		}
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, set, 0, 0); errno != 0 {
		return 0, fmt.Errorf("restrict: %w", errno)
	}
	return version, nil
}

// landlockAllow adds the rule that an open file may be read and executed.
func landlockAllow(set, fd int) error {
	rule := unix.LandlockPathBeneathAttr{
		Allowed_access: unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE, Parent_fd: int32(fd),
	}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(set), unix.LANDLOCK_RULE_PATH_BENEATH,
		uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}
