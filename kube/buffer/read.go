package buffer

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/api/autoscaling/v1beta1"
	"github.com/daemok/daemok/kube/pages"
)

// Read lists the CapacityBuffers of a live cluster that are to be served, and resolves them: none where their
// definition is not installed, or where they may not be listed.
func Read(ctx context.Context, from client.Reader, now time.Time) ([]Resolved, error) {
	var list []v1beta1.CapacityBuffer
	err := pages.Each(ctx, from, &v1beta1.CapacityBufferList{},
		func(l *v1beta1.CapacityBufferList) { list = append(list, l.Items...) })
	if pages.NotServed(err) || apierrors.IsForbidden(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read CapacityBuffers, for which capacity is kept: %w", err)
	}
	var out []Resolved
	for i := range list {
		if !Ours(&list[i]) {
			continue
		}
		r, err := Resolve(ctx, from, &list[i], now)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}
