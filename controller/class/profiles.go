package class

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/kube/api"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

// Profiles sees to it that instance profiles go which no class names and no
// claim was launched with: those of roles that classes had before.
type Profiles struct {
	Live  client.Reader // that misses no claim
	Cloud interface {
		CollectProfiles(ctx context.Context, used map[string]bool) ([]string, error)
	}
	Every time.Duration
	Log   *slog.Logger
}

// Round takes one look and returns when the next is due. Where no class names
// a role, profiles may be none of the controller's business: that it has no
// rights on them is no error then.
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
	var classes awsv1.EC2NodeClassList
	if err := p.Live.List(ctx, &classes); err != nil {
		return nil, false, fmt.Errorf("list EC2NodeClasses: %w", err)
	}
	var claims karpv1.NodeClaimList
	if err := p.Live.List(ctx, &claims); err != nil {
		return nil, false, fmt.Errorf("list NodeClaims: %w", err)
	}
	used = map[string]bool{}
	for i := range classes.Items {
		c := &classes.Items[i]
		used[c.Status.InstanceProfile], used[value(c.Spec.InstanceProfile)] = true, true
		roles = roles || c.Spec.Role != ""
	}
	for i := range claims.Items {
		used[claims.Items[i].Annotations[api.AnnotationInstanceProfileName]] = true
	}
	return used, roles, nil
}
