package fakecloud

import (
	"math/rand/v2"
	"slices"
	"sync"
)

// Call names one method of the port.
type Call string

// The calls in which a fault can be injected.
const (
	CallKinds     Call = "Kinds"
	CallLaunch    Call = "Launch"
	CallPrepare   Call = "Prepare"
	CallTerminate Call = "Terminate"
	CallList      Call = "List"
	CallTag       Call = "Tag"
	CallNext      Call = "Next"
	CallDone      Call = "Done"
)

// Fault makes calls fail.
type Fault struct {
	Call   Call
	Nth    int     // the nth call from now on fails, once; 1 is the next
	Chance float64 // where Nth is 0: the share of calls that fail, by the cloud's seed
	After  bool    // the call takes effect and its answer is lost; otherwise nothing happens
	Err    error
}

// Inject adds a fault to those already there.
func (c *Cloud) Inject(f Fault) { c.faults.add(f) }

// Heal removes all faults.
func (c *Cloud) Heal() { c.faults.clear() }

type faults struct {
	mu   sync.Mutex
	list []Fault
	rand *rand.Rand
}

func newFaults(seed uint64) *faults {
	return &faults{rand: rand.New(rand.NewPCG(seed, uint64(len("faults"))))}
}

func (f *faults) add(fault Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = append(f.list, fault)
}

func (f *faults) clear() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = nil
}

// next counts a call and returns the errors that are due before and after
// its effect. The first fault of each kind wins.
func (f *faults) next(call Call) (before, after error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range f.list {
		fault := &f.list[i]
		if fault.Call != call || !f.strikes(fault) {
			continue
		}
		if fault.After && after == nil {
			after = fault.Err
		}
		if !fault.After && before == nil {
			before = fault.Err
		}
	}
	f.list = slices.DeleteFunc(f.list, func(x Fault) bool { return x.Nth == spent })
	return before, after
}

// spent marks a fault that has struck.
const spent = -1

func (f *faults) strikes(fault *Fault) bool {
	if fault.Nth == 0 {
		return f.rand.Float64() < fault.Chance
	}
	if fault.Nth--; fault.Nth > 0 {
		return false
	}
	fault.Nth = spent
	return true
}

// firstOf is the first error that is not nil.
func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
