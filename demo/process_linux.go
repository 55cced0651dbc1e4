package demo

import "syscall"

// ownGroup keeps the terminal's Ctrl-C from the lab, which is stopped in
// order, and takes it along should the demo be killed.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
