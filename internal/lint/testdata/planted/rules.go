package planted

import (
	"context"
	"errors"
	. "math" // want revive/dot-imports staticcheck/ST1001
)

func late(n int, ctx context.Context) float64 { // want revive/context-as-argument
	if n > 0 && ctx.Err() == nil { // want revive/early-return
		n++
		n *= 2
	} else {
		return Pi
	}
	return float64(n)
}

var failed = errors.New("failed") // want revive/error-naming staticcheck/ST1012

func first() (error, int) { return failed, 1 } // want revive/error-return staticcheck/ST1008

func Exported() {} // want revive/exported

// Shown is.
func Shown() secret { return 1 } // want revive/unexported-return

type secret int

func (this secret) one() int { return int(this) } // want revive/receiver-naming staticcheck/ST1006

func superfluous(n int) int {
	for ; n > 0; n-- {
		if n%2 == 0 {
			continue
		} else { // want revive/superfluous-else
			n--
		}
	}
	return n
}

func unreachable() int {
	return 1 // want revive/unreachable-code
	return 2 // want govet/unreachable
}

func declared() int {
	var n int = 0 // want revive/var-declaration staticcheck/QF1011 staticcheck/ST1023
	n++
	return n
}

var _ = []any{late, first, secret.one, superfluous, unreachable, declared}
