package apiclock

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// world is a host whose clock may jump, and an API server with a clock of its own.
type world struct {
	passed       time.Duration
	jump, server time.Duration // what the clocks are off by
	*Clock
}

func newWorld() *world {
	w := &world{}
	w.Clock = &Clock{Wall: func() time.Time { return noon.Add(w.passed + w.jump) }, Steady: func() time.Duration { return w.passed }}
	return w
}

func (w *world) pass(d time.Duration) { w.passed += d }

// replies is a reply of the API server that came so long after its request.
func (w *world) replies(took time.Duration) {
	date := noon.Add(w.passed + w.server).Truncate(time.Second)
	w.pass(took)
	w.Heard(date, took)
}

// off is how far Now is from the time that has passed.
func (w *world) off() time.Duration { return w.Now().Sub(noon.Add(w.passed)) }

func TestNowDoesNotJumpWithTheClock(t *testing.T) {
	tests := map[string]struct {
		story  func(w *world)
		off    time.Duration // of Now
		doubts bool
	}{
		"clocks that agree are trusted":           {func(w *world) { w.replies(time.Second) }, 0, false},
		"so is one that nothing was heard about":  {func(w *world) { w.jump = time.Hour }, time.Hour, false},
		"a minute apart is no difference":         {func(w *world) { w.jump = time.Minute; w.replies(0) }, time.Minute, false},
		"a jump is noticed before the next reply": {func(w *world) { w.replies(0); w.jump = 2 * time.Hour }, 0, true},
		"and after it":               {func(w *world) { w.replies(0); w.jump = 2 * time.Hour; w.replies(0); w.pass(time.Hour); w.replies(0) }, 0, true},
		"a jump back too":            {func(w *world) { w.replies(0); w.jump = -2 * time.Hour; w.replies(0) }, 0, true},
		"a jump of the API server's": {func(w *world) { w.replies(0); w.server = 2 * time.Hour; w.replies(0) }, 0, true},
		"a clock that was wrong from the start gives way to the API server's": {func(w *world) { w.jump = 2 * time.Hour; w.replies(0); w.pass(time.Minute) }, 0, true},
		"a clock that was set right is waited for a while": {func(w *world) {
			w.replies(0)
			w.jump = time.Hour
			w.Now()
			w.jump = 0
			w.pass(stabilizeFor - time.Second)
			w.replies(0)
		}, 0, true},
		"and is trusted then": {func(w *world) {
			w.replies(0)
			w.jump = time.Hour
			w.Now()
			w.jump = 0
			w.replies(0)
			w.pass(stabilizeFor)
		}, 0, false},
		"both clocks may go on where the other does": {func(w *world) {
			w.replies(0)
			w.jump = time.Hour
			w.replies(0)
			w.server = time.Hour
			w.replies(0)
			w.pass(stabilizeFor)
		}, time.Hour, false},
		"one API server of several with another clock": {func(w *world) {
			for range 10 {
				w.server = time.Hour - w.server
				w.replies(0)
				w.pass(stabilizeFor / 3)
			}
		}, 0, true},
		"a reply that was long on its way is no difference": {func(w *world) { w.replies(0); w.replies(10 * time.Minute) }, 0, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			tt.story(w)
			if off := w.off(); off.Abs()-tt.off.Abs() > time.Second || tt.off.Abs()-off.Abs() > time.Second {
				t.Errorf("Now() is %v off, want %v", off, tt.off)
			}
			if why := w.Doubt(); (why != "") != tt.doubts {
				t.Errorf("Doubt() = %q, want one: %v", why, tt.doubts)
			}
		})
	}
}

func TestDoubtSaysByHowMuchAndDoesNotChangeByTheSecond(t *testing.T) {
	w := newWorld()
	w.replies(0)
	w.jump = time.Hour + 3*time.Minute + 7*time.Second
	w.replies(0)
	first := w.Doubt()
	if !strings.Contains(first, "the clock of this controller is 1h3m0s ahead of the API server's") {
		t.Errorf("Doubt() = %q", first)
	}
	w.jump += 40 * time.Second
	w.replies(0)
	if w.Doubt() != first {
		t.Errorf("a moment later it is %q", w.Doubt())
	}
	if ahead := w.Ahead(); ahead < time.Hour+3*time.Minute || ahead > time.Hour+4*time.Minute {
		t.Errorf("Ahead() = %v", ahead)
	}
	w.jump = -time.Hour
	w.replies(0)
	if now := w.Doubt(); !strings.Contains(now, "1h0m0s behind the API server's") {
		t.Errorf("Doubt() = %q", now)
	}
}

// answers is an API server that is asked nothing but the time.
type answers struct {
	code int
	date string
}

func (a answers) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: a.code, Header: http.Header{"Date": {a.date}}}, nil
}

func TestRepliesHoldTheTime(t *testing.T) {
	hourAgo := noon.Add(-time.Hour).Format(http.TimeFormat)
	tests := map[string]struct {
		reply  answers
		doubts bool
	}{
		"a reply with a date":           {answers{200, hourAgo}, true},
		"a refusal as well":             {answers{404, hourAgo}, true},
		"not one that may be a proxy's": {answers{502, hourAgo}, false},
		"nor one without a date":        {answers{200, ""}, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			if _, err := w.Transport(tt.reply).RoundTrip(&http.Request{}); err != nil {
				t.Fatal(err)
			}
			if why := w.Doubt(); (why != "") != tt.doubts {
				t.Errorf("Doubt() = %q", why)
			}
		})
	}
}
