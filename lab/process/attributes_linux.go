package process

import "syscall"

// attributes gives a child a process group of its own, so that Ctrl-C at the
// terminal reaches the lab alone and children stop in order; and has the
// kernel kill it when the lab dies.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
