package view

import "github.com/daemok/daemok/observe/record"

// Source shows a cluster as it changes.
type Source interface {
	// View is the newest view. It must not be written; it is the same until something has changed.
	View() *Cluster
	// Changed receives a value after something changed; changes in quick succession give one value.
	Changed() <-chan struct{}
}

// Explainer explains what a Source shows.
type Explainer interface {
	// Explain makes the card of a pod, node, NodeClaim or pool, as Explain does. An error may wrap ErrUnknown.
	Explain(o record.Object) (Card, error)
}

// Inputs says what a Source shows is made from.
type Inputs interface {
	// Input is what the newest view is made from; nil: there is none yet. It must not be written.
	Input() *Input
}
