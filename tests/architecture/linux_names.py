"""Names and files that macOS does not have, or that mean something else there."""

import re

#: By module of the standard library.
LINUX = {
    "os": r"sched_\w+|pidfd_\w+|memfd_\w+|eventfd\w*|timerfd_\w+|pipe2|splice|copy_file_range|posix_fa\w+|fdatasync"
    r"|getrandom|setns|unshare|waitid|preadv|pwritev|[gs]etresuid|[gs]etresgid|[gs]etxattr|O_TMPFILE|O_DIRECT|O_PATH"
    r"|O_NOATIME",
    "signal": r"pidfd_send_signal|sigwaitinfo|sigtimedwait|SIGRTM\w+|SIGPWR|SIGSTKFLT|SIGPOLL",
    "select": r"epoll|EPOLL\w+",
    "socket": r"SOCK_SEQPACKET|SOCK_CLOEXEC|SOCK_NONBLOCK|SO_REUSEPORT|SO_PEERCRED|SO_BINDTODEVICE|TCP_USER_TIMEOUT"
    r"|TCP_KEEPIDLE|TCP_QUICKACK|AF_VSOCK|AF_NETLINK",
    "resource": r"RLIMIT_AS|RLIMIT_MSGQUEUE|RLIMIT_NICE|RLIMIT_RT\w+|RLIMIT_SIGPENDING|RUSAGE_THREAD|prlimit",
    "time": r"CLOCK_BOOTTIME|CLOCK_TAI|pthread_getcpuclockid",
    "ctypes": r"CDLL",
}
PATHS = re.compile(r"/(proc|sys|dev/shm)(/|$)")
