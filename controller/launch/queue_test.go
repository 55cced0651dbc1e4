package launch

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// What is launched together, and when: claims come at moments, in milliseconds from the
// first on, of which some are announced before.
func TestWhatIsLaunchedTogether(t *testing.T) {
	tests := map[string]struct {
		announced string
		comes     map[time.Duration]string // by when; "-x" is dismissed
		want      string
	}{
		"claims that come close upon one another": {"",
			map[time.Duration]string{0: "a", 20: "b", 50: "c"}, "a b c at 85ms"},
		"claims that come far apart, one by one": {"",
			map[time.Duration]string{0: "a", 50: "b"}, "a at 35ms, b at 85ms"},
		"claims that were announced, when the last is here": {"a b c",
			map[time.Duration]string{0: "a", 200: "b", 400: "c"}, "a b c at 400ms"},
		"one that was announced, at once": {"a",
			map[time.Duration]string{0: "a"}, "a at 0s"},
		"others beside those that were announced": {"a b",
			map[time.Duration]string{0: "a", 10: "other", 20: "b"}, "a b other at 20ms"},
		"those that were announced, where one of them does not come": {"a b",
			map[time.Duration]string{0: "a"}, "a at 1s"},
		"those that were announced, where one of them is dismissed": {"a b",
			map[time.Duration]string{0: "a", 10: "-b"}, "a at 10ms"},
		"claims after one that was announced and did not come": {"a b",
			map[time.Duration]string{0: "a", 2000: "c"}, "a at 1s, c at 2.035s"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q, began := newQueue(), time.Now()
				q.announce(true, strings.Fields(tt.announced)...)
				for at, what := range tt.comes {
					time.AfterFunc(at*time.Millisecond, func() {
						if gone, dismissed := strings.CutPrefix(what, "-"); dismissed {
							q.dismiss(gone)
							return
						}
						q.add(what)
					})
				}
				var got []string
				for left := len(tt.comes) - strings.Count(fmt.Sprint(tt.comes), "-"); left > 0; {
					q.await(t.Context())
					q.gather(t.Context())
					if names := q.take(); len(names) > 0 {
						left -= len(names)
						got = append(got, strings.Join(names, " ")+" at "+time.Since(began).String())
					}
				}
				if words := strings.Join(got, ", "); words != tt.want {
					t.Errorf("bought for %s; want %s", words, tt.want)
				}
			})
		})
	}
}

// Of many claims that were announced the first are launched for while the others are still
// being written, which takes a millisecond for each; those are launched for together. One that
// comes long after them does not wait for what never came.
func TestTheFirstOfManyGoAhead(t *testing.T) {
	tests := map[string]struct {
		announced, come int
		unawaited       bool
		want            string
	}{
		"as many as a first batch":        {25, 25, false, "25 at 24ms"},
		"one more":                        {26, 26, false, "25 at 24ms, 1 at 25ms"},
		"a thousand":                      {1000, 1000, false, "25 at 24ms, 975 at 999ms"},
		"of which some never come":        {100, 60, false, "25 at 24ms, 35 at 1.024s"},
		"of which none comes after those": {100, 25, false, "25 at 24ms"},
		"beside more that nobody told of": {26, 200, false, "25 at 24ms, 1 at 25ms, 174 at 234ms"},
		"that nobody told of":             {0, 60, false, "60 at 94ms"},
		"for which no pod waits":          {200, 200, true, "200 at 199ms"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q, began, names := newQueue(), time.Now(), make([]string, max(tt.announced, tt.come))
				for i := range names {
					names[i] = fmt.Sprintf("claim-%04d", i)
				}
				q.announce(!tt.unawaited, names[:tt.announced]...)
				for i, name := range names[:tt.come] {
					time.AfterFunc(time.Duration(i)*time.Millisecond, func() { q.add(name) })
				}
				time.AfterFunc(3*time.Second, func() { q.add("another") })
				var got []string
				for another := false; !another; {
					q.await(t.Context())
					q.gather(t.Context())
					taken := q.take()
					if another = slices.Contains(taken, "another"); len(taken) > 0 && !another {
						got = append(got, fmt.Sprintf("%d at %v", len(taken), time.Since(began)))
					}
				}
				if late := time.Since(began); late != 3035*time.Millisecond {
					t.Errorf("one that comes after three seconds waits until %v, want 3.035s", late)
				}
				if words := strings.Join(got, ", "); words != tt.want {
					t.Errorf("bought for %s; want %s", words, tt.want)
				}
			})
		})
	}
}
