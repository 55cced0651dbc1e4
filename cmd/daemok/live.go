package main

import (
	"context"
	"errors"

	"github.com/daemok/daemok/core/cluster"
)

// reader reads the situation of a live cluster; an empty kubeconfig means the
// one that kubectl would use.
type reader func(ctx context.Context, kubeconfig string) (*cluster.Snapshot, error)

// readLive reads the cluster that the kubeconfig names.
func readLive(context.Context, string) (*cluster.Snapshot, error) {
	return nil, errors.New("not built yet: reading a live cluster; give a saved situation with --snapshot FILE")
}
