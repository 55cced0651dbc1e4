package parallel

import "sync"

// Known keeps by key what is worked out from values that none writes any more, for
// whoever needs it again. The zero value keeps nothing. It must not be copied.
type Known[T any] struct {
	Most int // how many values are kept; when there are more, all are forgotten; 0: any number
	mu   sync.Mutex
	made map[string]*T // guarded by mu
}

// Get returns what is kept for the key, or what is made now. Several may make it at the same
// time; it has to come out the same for all of them. The key is not kept.
func (k *Known[T]) Get(key []byte, do func() *T) *T {
	if known := k.look(key); known != nil {
		return known
	}
	made := do()
	k.mu.Lock()
	defer k.mu.Unlock()
	if known := k.made[string(key)]; known != nil {
		return known
	}
	if k.made == nil || k.Most > 0 && len(k.made) >= k.Most {
		k.made = map[string]*T{}
	}
	k.made[string(key)] = made
	return made
}

func (k *Known[T]) look(key []byte) *T {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.made[string(key)]
}
