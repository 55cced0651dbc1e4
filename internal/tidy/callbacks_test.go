package tidy

import (
	"fmt"
	"testing"
)

func TestCallbacks(t *testing.T) {
	for name, tt := range map[string]struct{ body, want string }{
		"a parameter":                       {"func F(a int, less, more func(int) bool) {}", "a.F:2"},
		"a parameter under a name":          {"type Less func(a, b int) bool; func F(l Less) {}", "a.F:1"},
		"options":                           {"func F(o ...func(*int)) {}", "a.F:1"},
		"a map of functions":                {"func F(o map[string][]func()) {}", "a.F:1"},
		"a method":                          {"type T int; func (T) F(func()) {}", "a.T.F:1"},
		"a method of an interface":          {"type I interface{ F(func()) }", "a.I.F:1"},
		"a field":                           {"type T struct{ A int; Less func() }", "a.T:1"},
		"a field that none sees elsewhere":  {"type T struct{ less func() }", ""},
		"functions that none calls":         {"func f(func()) {}; type t struct{ F func() }; func (t) G(func()) {}", ""},
		"results":                           {"func F() (f func()) { return f }", ""},
		"an iterator":                       {"import \"iter\"; func F(all iter.Seq[int]) {}; type T struct{ All iter.Seq2[int, int] }", ""},
		"a value with methods is no match":  {"type I interface{ F() }; func F(i I, t *T) {}; type T struct{ i []I }", ""},
		"another name of a type counts not": {"type T struct{ F func() }; type S = T", "a.T:1"},
	} {
		t.Run(name, func(t *testing.T) {
			loaded := planted(t, map[string]string{"a/a.go": "package a\n\n" + tt.body + "\n", "b/b.go": "package b\n\nfunc F(func()) {}\n"})
			if got := fmt.Sprint(Callbacks(loaded, "b")); got != "map["+tt.want+"]" {
				t.Errorf("found %s, want map[%s]", got, tt.want)
			}
		})
	}
}
