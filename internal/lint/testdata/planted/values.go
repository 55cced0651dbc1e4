package planted

import (
	"fmt"
	"strings"
	"sync"

	"example.org/dependency"

	"github.com/daemok/daemok/planted/say"
)

func copied(all []int) (functions []func() int) {
	for _, one := range all {
		one := one // want copyloopvar
		functions = append(functions, func() int { return one })
	}
	return functions
}

func overwritten() int {
	n := 1 // want ineffassign
	n = 2
	return n
}

func converted(n int) int { return int(n) } // want unconvert

func nobody() {} // want unused

type hidden struct {
	used   int
	unused int // want unused
}

func locked(m sync.Mutex) {} // want govet/copylocks

func printed() { fmt.Printf("%d\n", "one") } // want govet/printf staticcheck/SA5009

func pure(s string) {
	strings.TrimSpace(s) // want staticcheck/SA4017
}

func pairs() *strings.Replacer {
	return strings.NewReplacer("a", "b", "c") // want staticcheck/SA5012
}

func simple() string {
	return fmt.Sprintf("one") // want staticcheck/S1039
}

func same(n int) bool {
	return n == n // want staticcheck/SA4000
}

func style(n int) {
	if 1 == n { // want staticcheck/ST1017
		fmt.Println(n)
	}
}

func quick(s string) *strings.Builder {
	b := &strings.Builder{}
	b.WriteString(fmt.Sprintf("%s!", s)) // want staticcheck/QF1012
	return b
}

func spelt() string { return "it was recieved" } // want misspell

func imported(p *int) int {
	say.Sayf("%d", "one")   // want govet/printf
	say.Old()               // want staticcheck/SA1019
	dependency.Old()        // want staticcheck/SA1019
	dependency.T{}.Old()    // want staticcheck/SA1019
	_ = dependency.T{}.Gone // want staticcheck/SA1019
	if p == nil {
		say.Stop()
	}
	return *p
}

var _ = []any{copied, overwritten, converted, hidden{used: 1}.used, locked, printed, pure, pairs, simple, same, style, quick, spelt, imported}
