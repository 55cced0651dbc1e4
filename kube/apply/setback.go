package apply

import (
	"fmt"
	"time"
)

// A pool whose instances could not be launched is planned for again at once, since the available
// offerings have changed; if that fails too, it is left out for restFirst, and twice as long each
// further time, up to restMax.
const (
	restFirst = time.Second
	restMax   = time.Minute
)

// forgetAfter is how long after its rest a setback no longer counts.
const forgetAfter = 2 * time.Minute

// setback is instances of one pool that could not be launched. The zero value is none.
type setback struct {
	times int
	until time.Time // the pool rests
}

// another adds one. Claims that fail together, while the pool rests already
// or within a moment, are one setback.
func (s setback) another(now time.Time) setback {
	if !s.until.IsZero() && now.Before(s.until.Add(restFirst/4)) {
		return s
	}
	if now.After(s.until.Add(forgetAfter)) {
		return setback{times: 1, until: now}
	}
	rest := restFirst << min(s.times-1, 10)
	return setback{times: s.times + 1, until: now.Add(min(rest, restMax))}
}

// why says why nothing is launched from the pool now; empty if it may be. The text is the same
// throughout a back-off and from one to the next, so that it is reported once.
func (s setback) why(now time.Time) string {
	if !now.Before(s.until) {
		return ""
	}
	return fmt.Sprintf("its instances could not be launched several times in a row; it is tried again after a back-off of at most %v", restMax)
}
