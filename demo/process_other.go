//go:build !linux

package demo

import "syscall"

// ownGroup has nothing to set where processes have no death signal; the lab
// itself runs on Linux.
func ownGroup() *syscall.SysProcAttr { return nil }
