package main

// each maps a list; the answer of an empty one is empty, not nil.
func each[A, B any](list []A, view func(A) B) []B {
	out := make([]B, 0, len(list))
	for _, x := range list {
		out = append(out, view(x))
	}
	return out
}
