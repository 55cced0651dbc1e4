package storage

import (
	"context"
	"fmt"
	"slices"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/api"
)

// calm refuses while other controllers act on these kinds, or would judge what is written of them.
func (m *Mover) calm(ctx context.Context) error {
	acting, err := m.acting(ctx)
	if err != nil {
		return err
	}
	judging, err := m.judging(ctx)
	if err != nil {
		return err
	}
	return refusal(slices.Concat(acting, judging))
}

// acting names the controllers that hold their lease.
func (m *Mover) acting(ctx context.Context) ([]string, error) {
	var leases coordinationv1.LeaseList
	if err := m.Store.List(ctx, &leases, client.MatchingFields{"metadata.name": m.lease()}); err != nil {
		return nil, fmt.Errorf("list the leases %s: %w", m.lease(), err)
	}
	var out []string
	for i := range leases.Items {
		l := &leases.Items[i]
		if held(l, m.Now()) {
			out = append(out, fmt.Sprintf("Lease %s/%s: %s holds it, so a controller runs: scale its Deployment to 0, such as by kubectl -n %s scale deployment karpenter --replicas=0, and wait until the lease has run out",
				l.Namespace, l.Name, *l.Spec.HolderIdentity, l.Namespace))
		}
	}
	return out, nil
}

// held reports whether a controller holds a lease at a moment.
func held(l *coordinationv1.Lease, now time.Time) bool {
	if l.Spec.HolderIdentity == nil || *l.Spec.HolderIdentity == "" || l.Spec.RenewTime == nil {
		return false
	}
	length := 15 * time.Second // as controllers have it that do not say
	if s := l.Spec.LeaseDurationSeconds; s != nil {
		length = time.Duration(*s) * time.Second
	}
	return now.Before(l.Spec.RenewTime.Add(length))
}

// judging names the admission webhooks made for these kinds, which know their older form.
func (m *Mover) judging(ctx context.Context) ([]string, error) {
	var out []string
	name := func(kind, configuration, webhook string, policy *admissionregistrationv1.FailurePolicyType, rules []admissionregistrationv1.RuleWithOperations) {
		if policy != nil && *policy == admissionregistrationv1.Ignore {
			return
		}
		for _, r := range rules {
			if slices.Contains(r.APIGroups, api.GroupKarpenter) || slices.Contains(r.APIGroups, api.GroupAWS) {
				out = append(out, fmt.Sprintf("%s %s: its webhook %s validates these kinds, and may know only their v1beta1 version or be gone: kubectl delete %s %s",
					kind, configuration, webhook, kind, configuration))
				return
			}
		}
	}
	var validating admissionregistrationv1.ValidatingWebhookConfigurationList
	if err := m.Store.List(ctx, &validating); err != nil {
		return nil, fmt.Errorf("list validating webhooks: %w", err)
	}
	for _, c := range validating.Items {
		for _, w := range c.Webhooks {
			name("ValidatingWebhookConfiguration", c.Name, w.Name, w.FailurePolicy, w.Rules)
		}
	}
	var mutating admissionregistrationv1.MutatingWebhookConfigurationList
	if err := m.Store.List(ctx, &mutating); err != nil {
		return nil, fmt.Errorf("list mutating webhooks: %w", err)
	}
	for _, c := range mutating.Items {
		for _, w := range c.Webhooks {
			name("MutatingWebhookConfiguration", c.Name, w.Name, w.FailurePolicy, w.Rules)
		}
	}
	return out, nil
}
