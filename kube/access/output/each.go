package output

// Each maps a list for an answer; that of an empty one is empty, which JSON shows as [] and not as null.
func Each[A, B any](list []A, view func(A) B) []B {
	out := make([]B, 0, len(list))
	for _, x := range list {
		out = append(out, view(x))
	}
	return out
}
