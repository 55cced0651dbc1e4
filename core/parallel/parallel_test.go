package parallel_test

import (
	"runtime"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/daemok/daemok/core/parallel"
)

// workers makes the test run on n processors.
func workers(t *testing.T, n int) {
	t.Helper()
	before := runtime.GOMAXPROCS(n)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
}

func TestEachDoesAllOfItOnceWhateverTheWorkers(t *testing.T) {
	for _, processors := range []int{1, 2, 7} {
		workers(t, processors)
		for _, n := range []int{0, 1, 2, 1000} {
			got, want := make([]int, n), make([]int, n)
			parallel.Each(n, func(i int) { got[i] += i * i })
			for i := range want {
				want[i] = i * i
			}
			if !slices.Equal(got, want) {
				t.Errorf("Each(%d) on %d processors = %v; want the squares", n, processors, got)
			}
		}
	}
}

// TestEachWorksAtTheSameTime has each of two calls wait for the other, which
// ends only where both run at once.
func TestEachWorksAtTheSameTime(t *testing.T) {
	workers(t, 2)
	met := [2]chan bool{make(chan bool, 1), make(chan bool, 1)}
	parallel.Each(2, func(i int) {
		met[i] <- true
		<-met[1-i]
	})
}

func TestEachPanicsWithTheLowestOne(t *testing.T) {
	for _, processors := range []int{1, 4} {
		workers(t, processors)
		for range 50 {
			if got := panicOf(func(i int) {
				if i%10 == 3 {
					panic(i)
				}
			}); got != 3 {
				t.Fatalf("on %d processors Each panics with %v; want 3", processors, got)
			}
		}
	}
}

func TestEachWaitsForAllBeforeItPanics(t *testing.T) {
	workers(t, 2)
	var running atomic.Int32
	begun, panics := make(chan bool), make(chan bool)
	if got := panicOf(func(i int) {
		running.Add(1)
		defer running.Add(-1)
		switch i {
		case 0:
			close(begun)
			<-panics
		case 1:
			<-begun
			close(panics)
			panic("one")
		}
	}); got != "one" || running.Load() != 0 {
		t.Errorf("Each panics with %v while %d calls run; want one, and none", got, running.Load())
	}
}

func panicOf(do func(i int)) (value any) {
	defer func() { value = recover() }()
	parallel.Each(100, do)
	return nil
}
