package class

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/pages"
)

// Profiles sees to it that instance profiles go which no class names and no
// claim was launched with: those of roles that classes had before.
type Profiles struct {
	Live  client.Reader // that misses no claim
	Kinds []Kind        // of classes that there are
	Cloud interface {
		CollectProfiles(ctx context.Context, used map[string]bool) ([]string, error)
	}
	Every time.Duration
	Log   *slog.Logger
}

// Round checks once and returns when the next is due. Where no class names a role, the
// controller may have no profiles to manage: that it has no rights on them is no error
// then.
func (p *Profiles) Round(ctx context.Context) (time.Duration, error) {
	used, roles, err := p.used(ctx)
	if err != nil {
		return p.Every, err
	}
	removed, err := p.Cloud.CollectProfiles(ctx, used)
	for _, name := range removed {
		p.Log.Info("removed an instance profile that nothing uses", "profile", name)
	}
	if refused, ok := errors.AsType[*cloud.RefusedError](err); ok && refused.Reason == "Unauthorized" && !roles {
		return p.Every, nil
	}
	return p.Every, err
}

// used names the profiles of all classes and claims, and says whether any
// class names a role.
func (p *Profiles) used(ctx context.Context) (used map[string]bool, roles bool, err error) {
	used = map[string]bool{}
	err = pages.Each(ctx, p.Live, &karpv1.NodeClaimList{}, func(l *karpv1.NodeClaimList) {
		for i := range l.Items {
			used[l.Items[i].Annotations[api.AnnotationInstanceProfileName]] = true
		}
	})
	if err != nil {
		return nil, false, fmt.Errorf("list NodeClaims: %w", err)
	}
	for i := range p.Kinds {
		kind := &p.Kinds[i]
		classes := kind.NewList()
		if err := p.Live.List(ctx, classes); err != nil {
			return nil, false, fmt.Errorf("list %ss: %w", kind.Name, err)
		}
		_ = apimeta.EachListItem(classes, func(o runtime.Object) error { // fails for what is no list
			if o := o.(client.Object); kind.Is == nil || kind.Is(o) {
				c := kind.Of(o)
				used[c.Status.InstanceProfile], used[c.Spec.InstanceProfile] = true, true
				roles = roles || c.Spec.Role != ""
			}
			return nil
		})
	}
	return used, roles, nil
}
