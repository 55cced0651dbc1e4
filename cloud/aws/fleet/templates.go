package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"golang.org/x/sync/errgroup"

	"github.com/daemok/daemok/cloud/aws/fault"
	"github.com/daemok/daemok/cloud/aws/nodeclass"
)

const (
	// keepUnused is how long a launch template stays that nothing is launched from.
	keepUnused = time.Hour
	// hiddenFor is how long a template just made may be unknown to EC2's fleets.
	hiddenFor = 10 * time.Second
	// makersMax is how many templates of one request are made at once: EC2
	// lets an account make a few a second only.
	makersMax = 4
)

type templateAPI interface {
	ec2.DescribeLaunchTemplatesAPIClient
	CreateLaunchTemplate(context.Context, *ec2.CreateLaunchTemplateInput, ...func(*ec2.Options)) (*ec2.CreateLaunchTemplateOutput, error)
	DeleteLaunchTemplate(context.Context, *ec2.DeleteLaunchTemplateInput, ...func(*ec2.Options)) (*ec2.DeleteLaunchTemplateOutput, error)
}

// Templates keeps the launch templates of one cluster: makes them when they
// are needed and removes those that are not used. It is safe for concurrent use.
type Templates struct {
	UID string // of the cluster; others of its name have other templates. To be set before use; empty: not known

	api     templateAPI
	cluster string
	now     func() time.Time

	mu    sync.Mutex
	known map[string]usage   // by name
	made  map[string]*making // by name, while under way
}

// making is a template on its way, for all who need it.
type making struct {
	done chan struct{}
	err  error // once done
}

// usage is when a template was made, or found by whoever was to make it, and
// used last.
type usage struct{ madeAt, usedAt time.Time }

// NewTemplates returns a keeper that knows of no template.
func NewTemplates(client templateAPI, cluster string, now func() time.Time) *Templates {
	return &Templates{api: client, cluster: cluster, now: now, known: map[string]usage{}, made: map[string]*making{}}
}

// ensureAll sees to it that the templates exist, a few at a time.
func (t *Templates) ensureAll(ctx context.Context, want []template) error {
	var calls errgroup.Group
	calls.SetLimit(makersMax)
	for _, one := range want {
		calls.Go(func() error { return t.ensure(ctx, one) })
	}
	return calls.Wait()
}

// ensure sees to it that the template exists. One made just now may not be
// seen everywhere at EC2 yet. Several who need the same one wait for the call
// that is under way.
func (t *Templates) ensure(ctx context.Context, want template) error {
	for {
		mine, m := t.begin(want.name)
		switch {
		case m == nil:
			return nil
		case mine:
			err := t.make(ctx, want)
			t.end(want.name, m, err)
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-m.done:
		}
		if m.err != nil && !isOfContext(m.err) { // whoever gave up did so for itself
			return m.err
		}
	}
}

func isOfContext(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// begin marks a known template as used and returns nil; else the making that
// is under way, which is the caller's to do where mine is true.
func (t *Templates) begin(name string) (mine bool, m *making) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if u, known := t.known[name]; known {
		u.usedAt = t.now()
		t.known[name] = u
		return false, nil
	}
	if m = t.made[name]; m != nil {
		return false, m
	}
	m = &making{done: make(chan struct{})}
	t.made[name] = m
	return true, m
}

func (t *Templates) end(name string, m *making, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.made, name)
	m.err = err
	close(m.done)
}

// make makes a template, and is content if there is one of that name.
func (t *Templates) make(ctx context.Context, want template) error {
	_, err := t.api.CreateLaunchTemplate(ctx, want.input())
	if err != nil && !fault.Exists(err) {
		return fault.Wrap("ec2:CreateLaunchTemplate", err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.known[want.name] = usage{madeAt: t.now(), usedAt: t.now()}
	return nil
}

// doubt makes the next ensure make the templates again, one of which EC2 does
// not find. Where one was made so lately that EC2 may not see it everywhere
// yet, that is the one: calls that make a template are few a second, too few to
// ask for those again that are there.
func (t *Templates) doubt(templates []template) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, one := range templates {
		if t.now().Sub(t.known[one.name].madeAt) <= hiddenFor {
			return
		}
	}
	for _, one := range templates {
		delete(t.known, one.name)
	}
}

// Refresh learns which templates of the cluster exist and deletes those that
// were not used for an hour.
func (t *Templates) Refresh(ctx context.Context) error {
	found, err := t.list(ctx, nil)
	if err != nil {
		return err
	}
	var errs []error
	for _, name := range t.learn(found) {
		errs = append(errs, t.delete(ctx, name))
	}
	return errors.Join(errs...)
}

// learn takes over what exists and returns the names of what is not needed.
// Those that it took from the known ones must be deleted.
func (t *Templates) learn(found []string) (unused []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	for _, name := range found {
		u, known := t.known[name]
		switch {
		case !known:
			t.known[name] = usage{usedAt: now}
		case now.Sub(u.usedAt) > keepUnused:
			delete(t.known, name)
			unused = append(unused, name)
		}
	}
	return unused
}

// forget drops a template that is being deleted.
func (t *Templates) forget(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.known, name)
}

// DeleteOf removes all templates of a class.
func (t *Templates) DeleteOf(ctx context.Context, class string) error {
	found, err := t.list(ctx, []types.Filter{{Name: aws.String("tag:" + nodeclass.TagClass), Values: []string{class}}})
	if err != nil {
		return err
	}
	var errs []error
	for _, name := range found {
		t.forget(name)
		errs = append(errs, t.delete(ctx, name))
	}
	return errors.Join(errs...)
}

func (t *Templates) list(ctx context.Context, more []types.Filter) ([]string, error) {
	filters := append([]types.Filter{
		{Name: aws.String("tag:" + nodeclass.TagOwned + t.cluster), Values: []string{nodeclass.ClusterOwned}},
	}, more...)
	var names []string
	pages := ec2.NewDescribeLaunchTemplatesPaginator(t.api, &ec2.DescribeLaunchTemplatesInput{Filters: filters})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fault.Wrap("ec2:DescribeLaunchTemplates", err)
		}
		for _, l := range page.LaunchTemplates {
			if name := aws.ToString(l.LaunchTemplateName); strings.HasPrefix(name, templatePrefix) && !t.ofAnother(l.Tags) {
				names = append(names, name)
			}
		}
	}
	return names, nil
}

// ofAnother reports whether tags are those of another cluster of the same name.
func (t *Templates) ofAnother(tags []types.Tag) bool {
	return t.UID != "" && slices.ContainsFunc(tags, func(tag types.Tag) bool {
		return aws.ToString(tag.Key) == nodeclass.TagUID && aws.ToString(tag.Value) != t.UID
	})
}

func (t *Templates) delete(ctx context.Context, name string) error {
	_, err := t.api.DeleteLaunchTemplate(ctx, &ec2.DeleteLaunchTemplateInput{LaunchTemplateName: aws.String(name)})
	if err != nil && !fault.NotFound(err) {
		return fmt.Errorf("delete launch template %s: %w", name, fault.Wrap("ec2:DeleteLaunchTemplate", err))
	}
	return nil
}
