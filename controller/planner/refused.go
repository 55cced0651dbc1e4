package planner

import (
	"errors"
	"fmt"
	"net/http"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/feasibility"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/internal/brief"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/observe"
)

// reportMinValues reports on pools that their minValues keep pods from a launch.
func (t *Recorder) reportMinValues(list []plan.Unplaced) {
	for _, u := range list {
		for _, r := range u.Reasons {
			if !r.MinValues || u.Early {
				continue
			}
			t.warnPool(r.Pool, "MinValuesNotMet",
				fmt.Sprintf("Nothing is launched for %s: %s; lower minValues, allow more values, or set MIN_VALUES_POLICY=BestEffort",
					firstPod(u), r.Text), "minValues "+whose(u))
		}
	}
}

// reportLimits reports on pools that their limits keep pods from a launch: how many, and by which numbers.
func (t *Recorder) reportLimits(list []plan.Unplaced) {
	pods, why := map[cluster.PoolID]int{}, map[cluster.PoolID]string{}
	var pools []cluster.PoolID
	for _, u := range list {
		for _, r := range u.Reasons {
			if u.Early || r.Rule != string(feasibility.Limit) || r.Pool == (cluster.PoolID{}) {
				continue
			}
			if pods[r.Pool] == 0 {
				pools, why[r.Pool] = append(pools, r.Pool), r.Text
			}
			pods[r.Pool] += len(u.Pods)
		}
	}
	for _, id := range pools {
		text := fmt.Sprintf("Nothing is launched for %s: %s", brief.Counted(pods[id], "pending pod"), why[id])
		if help := translate.RaiseLimit(why[id]); help != "" {
			text += "; " + help + ", or let another NodePool take them"
		}
		t.warnPool(id, "LimitReached", text, "limit")
	}
}

// missing says for a static pool that it lacks nodes which cannot be launched now; empty: nothing, since what a pool that
// is not ready lacks its conditions say.
func missing(s *cluster.Snapshot, x *plan.Short) string {
	p, ok := s.Pool(x.Pool)
	if !ok || p.NotReady != "" {
		return ""
	}
	help := "it is tried again until they can be had"
	if slices.ContainsFunc(x.Reasons, func(r plan.Reason) bool { return r.Rule == string(feasibility.Limit) }) {
		if help = translate.RaiseLimit(x.Why()); help != "" {
			help += ", or "
		}
		help += "lower spec.replicas"
	}
	return fmt.Sprintf("%d of %d nodes (%s) cannot be launched: %s; %s", x.Missing, x.Want, p.SaidBy(), x.Why(), help)
}

// reportRefusal reports on the pool, and on the pods it was for, that the API server
// refused a NodeClaim: the next plan makes the same again. Other errors pass by themselves.
func (t *Recorder) reportRefusal(l plan.Launch, err error) {
	why, refused := refusal(err)
	if !refused {
		return
	}
	t.warnPool(l.Pool, "NodeClaimRefused",
		fmt.Sprintf("The API server refuses NodeClaims of this pool: %s; change what it names in the pool",
			why), "refused")
	for i, p := range l.Pods {
		if i == podEventsMax {
			break
		}
		text := fmt.Sprintf("%s: the API server refused the NodeClaim: %s", l.Pool, why)
		t.Events.Publish(t.failure(p, "", text, "refused "+l.Pool.String()).event)
	}
}

// refusal is the API server's reason where it refuses an object for what it says or
// who sends it, so that the same is refused again.
func refusal(err error) (why string, refused bool) {
	var answer apierrors.APIStatus
	if !errors.As(err, &answer) {
		return "", false
	}
	switch answer.Status().Code {
	case http.StatusBadRequest, http.StatusForbidden, http.StatusUnprocessableEntity:
		return answer.Status().Message, true
	}
	return "", false
}

func (t *Recorder) warnPool(id cluster.PoolID, reason, text, topic string) {
	t.Events.Publish(observe.Event{About: translate.PoolRef(id), Key: id.String(), Warning: true, Reason: reason,
		Message: text,
		Topic:   topic, DedupeFor: failuresEvery, Pace: t.Failures})
}
