package supply

// MostFree is what an instance of the type has for pods, surplus credits included.
func (b *Candidate) MostFree(kind int) []int64 {
	if b.Whole != nil {
		return b.Whole[kind]
	}
	return b.Free[kind]
}
