//go:build !linux

package process

import "syscall"

// attributes gives a child a process group of its own, so that Ctrl-C at the
// terminal reaches the lab alone and children stop in order. This system has
// no way to tie a child's life to ours.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
