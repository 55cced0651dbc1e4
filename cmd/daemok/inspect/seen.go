package inspect

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/apiclock"
)

// Seen is what was read of a live cluster by a command that goes on without what its user may not read.
type Seen struct {
	Snapshot *cluster.Snapshot
	Live     client.Client // whose errors are the API server's

	troubles *troubles
}

// See reads a live cluster, and asks AWS for prices where askAWS says so. What may not be read is missing, and Troubles
// say so; the error is that of a cluster that cannot be reached.
func See(ctx context.Context, at *Target, askAWS bool) (*Seen, error) {
	l, err := newLooker(ctx, at)
	if err != nil {
		return nil, err
	}
	if askAWS {
		ctx, cancel := context.WithTimeout(ctx, askAWSFor)
		defer cancel()
		l.askAWS(ctx)
	}
	return l.see(ctx)
}

// SeeThrough is See through a client, without AWS.
func SeeThrough(ctx context.Context, at *Target, store client.Client) (*Seen, error) {
	l := &looker{at: at, clock: &apiclock.Clock{}, troubles: &troubles{}}
	at.Notes = l.troubles
	if err := l.use(ctx, store); err != nil {
		return nil, err
	}
	return l.see(ctx)
}

func (l *looker) see(ctx context.Context) (*Seen, error) {
	if _, err := l.state.Read(ctx, l.store); err != nil {
		return nil, err
	}
	l.troubles.set("commitments", listedUnread(l.state))
	return &Seen{l.state.Snapshot(), l.store.Client, l.troubles}, nil
}

// Add adds a trouble, once.
func (s *Seen) Add(format string, args ...any) { s.troubles.add(format, args...) }

// Troubles are what could not be read, and the way out, a sentence each.
func (s *Seen) Troubles() []string { return s.troubles.list() }
