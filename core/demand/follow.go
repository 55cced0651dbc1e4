package demand

// Follower is a pod class whose pods must be near certain others, with the keys over
// which they must be: nil for all of them, as on the same host.
type Follower struct {
	PodClass *PodClass
	Keys     []int
}
