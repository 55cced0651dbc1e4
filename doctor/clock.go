package doctor

import (
	"context"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// clocksDiffer is by how much the leader's clock and the API server's are apart at the least
// before that is a finding; less does no harm, and the controller itself says nothing of it.
const clocksDiffer = 2 * time.Minute

// clock compares the leader's clock with the API server's: the leader writes into its lease when it
// renewed it, and the API server notes there when that was written.
func clock(ctx context.Context, p *Patient) ([]Finding, error) {
	found, err := p.find(ctx)
	if err != nil {
		return nil, err
	}
	if found.Lease().IsNone() {
		return []Finding{fine("the controller leads by %s, so there is no clock to compare", found.Lease())}, nil
	}
	key := client.ObjectKey(found.Lease())
	lease := &coordinationv1.Lease{}
	if err := p.Store.Get(ctx, key, lease); client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("read lease %s: %w", key, err)
	}
	written, renewed := lastWritten(lease.ManagedFields), lease.Spec.RenewTime
	if renewed == nil || written.IsZero() || lease.Spec.HolderIdentity == nil || *lease.Spec.HolderIdentity == "" {
		return []Finding{fine("no controller leads by lease %s, so there is no clock to compare", key)}, nil
	}
	by, way := renewed.Sub(written), "ahead of"
	if by < 0 {
		by, way = -by, "behind"
	}
	if by < clocksDiffer {
		return []Finding{fine("the clock of the leader agrees with the API server's")}, nil
	}
	return []Finding{trouble(Warning, "Lease/"+key.String(),
		fmt.Sprintf("the clock of its holder, %s, is %v %s the API server's: no node is disrupted meanwhile, and AWS refuses signatures and tokens of a wrong time", *lease.Spec.HolderIdentity, by.Round(time.Minute), way),
		"correct the time synchronisation of the holder's node, or of the control plane (chronyc tracking, timedatectl)")}, nil
}

// lastWritten is when the API server saw the last change of an object.
func lastWritten(fields []metav1.ManagedFieldsEntry) (last time.Time) {
	for _, f := range fields {
		if f.Time != nil && f.Time.After(last) {
			last = f.Time.Time
		}
	}
	return last
}
