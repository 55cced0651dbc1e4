package view

// Source shows a cluster as it changes.
type Source interface {
	// View is the newest view. It must not be written; it is the same until something has changed.
	View() *Cluster
	// Changed receives a value after something changed; changes in quick succession give one value.
	Changed() <-chan struct{}
}
