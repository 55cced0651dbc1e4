package image

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ssm"

	"github.com/daemok/daemok/cloud/aws/fault"
)

// How long a parameter is believed: one that is pinned to a release never
// changes, one that names the latest does now and then, and one that is not
// there may appear soon.
const (
	keepPinned = 24 * time.Hour
	keepLatest = 30 * time.Minute
	keepAbsent = time.Minute
)

type parameterAPI interface {
	GetParameter(context.Context, *ssm.GetParameterInput, ...func(*ssm.Options)) (*ssm.GetParameterOutput, error)
}

// Parameters reads parameters of SSM and remembers them for a while. It is
// safe for concurrent use.
type Parameters struct {
	api parameterAPI
	now func() time.Time

	mu   sync.Mutex
	seen map[string]seen
}

type seen struct {
	value string
	err   error // of a parameter that is not there
	until time.Time
}

// NewParameters returns a reader with an empty memory.
func NewParameters(api parameterAPI, now func() time.Time) *Parameters {
	return &Parameters{api: api, now: now, seen: map[string]seen{}}
}

// Get returns the value of a parameter by name or ARN. Moving says that its value changes
// with time. That it is not there is an error for which fault.NotFound holds.
func (p *Parameters) Get(ctx context.Context, name string, moving bool) (string, error) {
	if s, ok := p.remembered(name); ok {
		return s.value, s.err
	}
	keep := keepPinned
	if moving {
		keep = keepLatest
	}
	out, err := p.api.GetParameter(ctx, &ssm.GetParameterInput{Name: &name})
	switch {
	case fault.NotFound(err):
		p.remember(name, seen{err: err, until: p.now().Add(keepAbsent)})
		return "", err
	case err != nil:
		return "", err
	case out.Parameter == nil || aws.ToString(out.Parameter.Value) == "":
		return "", fmt.Errorf("parameter %s has no value", name)
	}
	value := aws.ToString(out.Parameter.Value)
	p.remember(name, seen{value: value, until: p.now().Add(keep)})
	return value, nil
}

// Forget makes the next Get ask again.
func (p *Parameters) Forget(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.seen, name)
}

func (p *Parameters) remembered(name string) (seen, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s, ok := p.seen[name]
	return s, ok && p.now().Before(s.until)
}

func (p *Parameters) remember(name string, s seen) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen[name] = s
}
