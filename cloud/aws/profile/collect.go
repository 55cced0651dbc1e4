package profile

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"
)

// KeepUnused is how long a profile stays that nothing uses: a launch that
// began with it may not be known of yet.
const KeepUnused = time.Hour

// Collector removes the profiles of a cluster that nothing uses any more:
// those of roles that classes named once, and of classes that went by force.
// It is safe for concurrent use; NewCollector makes one.
type Collector struct {
	profiles Profiles
	now      func() time.Time

	mu     sync.Mutex
	unused map[string]time.Time // by name: when it was first seen without a user
}

// NewCollector returns a collector that has seen nothing.
func NewCollector(k Profiles, now func() time.Time) *Collector {
	return &Collector{profiles: k, now: now, unused: map[string]time.Time{}}
}

// Collect removes every profile that was made for the cluster and has had no user for
// KeepUnused, as far as this collector has seen, and returns their names, sorted. Used are
// those that are in use for sure; running is asked for those of instances, only where
// something would be removed. One that cannot be removed does not keep the others.
func (c *Collector) Collect(ctx context.Context, used map[string]bool, running func(context.Context) (map[string]bool, error)) ([]string, error) {
	made, err := c.profiles.Made(ctx)
	if err != nil {
		return nil, err
	}
	due := c.due(made, used)
	if len(due) == 0 {
		return nil, nil
	}
	worn, err := running(ctx)
	if err != nil {
		return nil, err
	}
	var removed []string
	var errs []error
	for _, p := range due {
		name := aws.ToString(p.InstanceProfileName)
		if worn[name] {
			c.forget(name)
			continue
		}
		if err := c.profiles.Remove(ctx, p); err != nil {
			errs = append(errs, err)
			continue
		}
		c.forget(name)
		removed = append(removed, name)
	}
	return removed, errors.Join(errs...)
}

// due notes which profiles have no user, and returns those that had none for
// long enough, sorted by name.
func (c *Collector) due(made []types.InstanceProfile, used map[string]bool) []types.InstanceProfile {
	c.mu.Lock()
	defer c.mu.Unlock()
	now, there := c.now(), map[string]types.InstanceProfile{}
	for _, p := range made {
		if name := aws.ToString(p.InstanceProfileName); !used[name] {
			there[name] = p
		}
	}
	maps.DeleteFunc(c.unused, func(name string, _ time.Time) bool { _, still := there[name]; return !still })
	var out []types.InstanceProfile
	for _, name := range slices.Sorted(maps.Keys(there)) {
		since, known := c.unused[name]
		switch {
		case !known:
			c.unused[name] = now
		case now.Sub(since) >= KeepUnused:
			out = append(out, there[name])
		}
	}
	return out
}

func (c *Collector) forget(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.unused, name)
}

// Made returns all profiles that were made for the cluster.
func (k Profiles) Made(ctx context.Context) ([]types.InstanceProfile, error) {
	return k.list(ctx, k.prefix())
}

// list returns the profiles below a path. What is listed may be removed, so an endpoint in
// AWS's place that lists others too is not believed.
func (k Profiles) list(ctx context.Context, path string) (out []types.InstanceProfile, err error) {
	pages := iam.NewListInstanceProfilesPaginator(k.API, &iam.ListInstanceProfilesInput{PathPrefix: aws.String(path)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, wrap("iam:ListInstanceProfiles", err)
		}
		for _, p := range page.InstanceProfiles {
			if strings.HasPrefix(aws.ToString(p.Path), path) {
				out = append(out, p)
			}
		}
	}
	return out, nil
}
