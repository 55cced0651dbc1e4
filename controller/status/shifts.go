package status

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	awsv1alpha1 "github.com/daemok/daemok/kube/api/aws/v1alpha1"
	"github.com/daemok/daemok/kube/api/karpenter/v1alpha5"
	"github.com/daemok/daemok/observe"
)

// shiftsEvery is how soon a shift counts.
const shiftsEvery = 30 * time.Second

// Shifts follows zonal shifts, and reports them on classes that have subnets in the zone. If AWS cannot be asked, a shift
// stays in effect until its announced end; a refusal is reported once. The cloud adapter launches nothing in a zone that
// traffic is shifted away from; no instance is terminated because of a shift.
type Shifts struct {
	Reporter
	Cloud cloud.Shifts
	Again func() // asks for a new plan
	Older bool   // there are AWSNodeTemplates and Provisioners too

	refused  string                 // why the cloud returns nothing, as it was reported last
	reported map[reportedShift]bool // of shifts that go on

	mu     sync.Mutex
	shifts []cloud.Shift // by zone
}

// Shifted reports whether the zone of that ID is shifted away from, as far as was seen.
func (w *Shifts) Shifted(zoneID string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return hasZone(w.shifts, zoneID)
}

func hasZone(shifts []cloud.Shift, zoneID string) bool {
	return slices.ContainsFunc(shifts, func(s cloud.Shift) bool { return s.ZoneID == zoneID })
}

// Round checks once and returns when to check again.
func (w *Shifts) Round(ctx context.Context) (time.Duration, error) {
	now, err := w.Cloud.Shifts(ctx)
	refused, ok := errors.AsType[*cloud.RefusedError](err)
	switch {
	case ok:
		w.reportRefused(refused)
		if now = nil; refused.Reason != cloud.ShiftsNotRegistered {
			now = w.goingOn()
		}
		return shiftsEvery, w.follow(ctx, now)
	case err != nil:
		return shiftsEvery, errors.Join(fmt.Errorf("ask which zones are shifted away from: %w", err), w.follow(ctx, w.goingOn()))
	}
	w.refused = ""
	return shiftsEvery, w.follow(ctx, now)
}

func (w *Shifts) reportRefused(why *cloud.RefusedError) {
	if becomes(&w.refused, why.Cause) {
		w.Log.Warn("zonal shifts cannot be followed", "reason", why.Reason, "message", why.Cause)
	}
}

// goingOn are the shifts seen last, as far as they are not over by what was said of them.
func (w *Shifts) goingOn() []cloud.Shift {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(w.shifts), func(s cloud.Shift) bool { return !s.EndsAt.IsZero() && !w.Now().Before(s.EndsAt) })
}

// follow takes over which shifts there are now, and says what is new.
func (w *Shifts) follow(ctx context.Context, now []cloud.Shift) error {
	w.mu.Lock()
	before := w.shifts
	w.shifts = now
	w.mu.Unlock()
	changed := false
	for _, s := range now {
		if !hasZone(before, s.ZoneID) {
			changed = true
			w.Log.Warn("a zone is shifted away from: nothing is launched there", "zone", s.ZoneID, "until", until(s))
		}
	}
	for _, s := range before {
		if !hasZone(now, s.ZoneID) {
			changed = true
			w.Log.Info("a zone is used again", "zone", s.ZoneID)
		}
	}
	if changed {
		w.Again()
	}
	return w.report(ctx, now)
}

// classSeen is a class, with the subnets that were found for it.
type classSeen struct {
	client.Object
	kind    string
	subnets []awsv1.Subnet
}

// classes are those that there are: by Kind, then as they are listed.
func (w *Shifts) classes(ctx context.Context) (out []classSeen, err error) {
	var classes awsv1.EC2NodeClassList
	if err := w.Store.List(ctx, &classes); err != nil {
		return nil, err
	}
	for i := range classes.Items {
		c := &classes.Items[i]
		out = append(out, classSeen{c, "EC2NodeClass", c.Status.Subnets})
	}
	if !w.Older {
		return out, nil
	}
	var templates awsv1alpha1.AWSNodeTemplateList
	var provisioners v1alpha5.ProvisionerList
	if err := errors.Join(w.Store.List(ctx, &templates), w.Store.List(ctx, &provisioners)); err != nil {
		return nil, err
	}
	for i := range templates.Items {
		t := &templates.Items[i]
		out = append(out, classSeen{t, awsv1alpha1.Kind, t.Status.Subnets})
	}
	for i := range provisioners.Items {
		if p := &provisioners.Items[i]; p.Status.Provider != nil {
			out = append(out, classSeen{p, "Provisioner", p.Status.Provider.Subnets})
		}
	}
	return out, nil
}

// reportedShift records that a shift was reported on a class.
type reportedShift struct {
	class  types.UID
	zoneID string
}

// report reports on each class the shifts of its zones, each once, whichever was there first, and their ends.
func (w *Shifts) report(ctx context.Context, now []cloud.Shift) error {
	if len(now)+len(w.reported) == 0 {
		return nil
	}
	classes, err := w.classes(ctx)
	if err != nil {
		return fmt.Errorf("list classes to report zonal shifts: %w", err)
	}
	reported := map[reportedShift]bool{}
	for _, c := range classes {
		for _, s := range now {
			of := reportedShift{c.GetUID(), s.ZoneID}
			if w.reported[of] || w.say(c, s.ZoneID, "ZonalShiftActive", fmt.Sprintf("work is shifted away from this zone, %s: instances are launched in others, and those that are there stay", until(s))) {
				reported[of] = true
			}
		}
		for of := range w.reported {
			if of.class == c.GetUID() && !hasZone(now, of.zoneID) {
				w.say(c, of.zoneID, "ZonalShiftCleared", "work is no longer shifted away from this zone: instances are launched there again")
			}
		}
	}
	w.reported = reported
	return nil
}

// until says how long a shift lasts.
func until(s cloud.Shift) string {
	if s.EndsAt.IsZero() {
		return "until AWS ends the autoshift"
	}
	return "until " + s.EndsAt.UTC().Format(time.RFC3339) + " or until it is cancelled"
}

// say reports a shift on a class that has subnets in the zone; false: it has none.
func (w *Shifts) say(c classSeen, zoneID, reason, text string) bool {
	at := slices.IndexFunc(c.subnets, func(n awsv1.Subnet) bool { return n.ZoneID == zoneID })
	if at < 0 {
		return false
	}
	zone := cmp.Or(c.subnets[at].Zone, zoneID)
	w.Events.Publish(observe.Event{About: c.Object, Key: c.kind + "/" + c.GetName(), Warning: reason == "ZonalShiftActive", Reason: reason,
		Message: fmt.Sprintf("%s (%s): %s", zone, zoneID, text)})
	return true
}
