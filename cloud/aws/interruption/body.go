package interruption

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/daemok/daemok/cloud"
)

// said is what a message says of one instance; instance is empty where it is about none
// that anything follows for.
type said struct {
	kind     cloud.InterruptionMessageKind
	instance string
	at       time.Time // when it was said; zero where the message does not say
	endsAt   time.Time // when the instance is taken away; zero where it does not say
}

// event is an EventBridge event. Only what all documented samples have is asked
// for: some have no version, and resources may be absent, a list or one text.
type event struct {
	DetailType string          `json:"detail-type"`
	PrintedAs  string          `json:"detail_type"` // in AWS's sample of a capacity block that ends
	Source     string          `json:"source"`
	Time       string          `json:"time"`
	Resources  texts           `json:"resources"`
	Detail     json.RawMessage `json:"detail"`
}

// texts is a list of texts, or a single one.
type texts []string

// UnmarshalJSON takes both forms.
func (t *texts) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*t = texts{one}
		return nil
	}
	var list []string
	if err := json.Unmarshal(b, &list); err != nil {
		return errors.New("resources are neither a text nor a list of texts")
	}
	*t = list
	return nil
}

// Sources and detail types that something follows for.
const (
	sourceEC2         = "aws.ec2"
	sourceHealth      = "aws.health"
	typeInterruption  = "EC2 Spot Instance Interruption Warning"
	typeRebalance     = "EC2 Instance Rebalance Recommendation"
	typeState         = "EC2 Instance State-change Notification"
	typeReservation   = "EC2 Capacity Reservation Instance Interruption Warning"
	typeHealth        = "AWS Health Event"
	warningFor        = 2 * time.Minute // from a spot warning to the end
	actionHibernate   = "hibernate"     // which begins with the warning
	healthClosed      = "closed"
	entityResolved    = "RESOLVED"
	categoryScheduled = "scheduledChange"
	healthTime        = "Mon, 2 Jan 2006 15:04:05 MST" // with a day of one digit or of two
)

// read understands a message's body. An error says what is wrong with it; an
// event that nothing follows for is cloud.NoOp.
func read(body string) ([]said, error) {
	var e event
	if err := json.Unmarshal([]byte(body), &e); err != nil {
		return nil, fmt.Errorf("it is no EventBridge event: %w", err)
	}
	e.DetailType = cmp.Or(e.DetailType, e.PrintedAs)
	if e.Source == "" || e.DetailType == "" {
		return nil, errors.New("it is no EventBridge event: source or detail-type is missing")
	}
	out, err := e.read()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", e.DetailType, err)
	}
	at := e.at()
	for i := range out {
		out[i].at, out[i].endsAt = at.UTC(), out[i].endsAt.UTC()
		if out[i].kind == cloud.Interrupted && out[i].endsAt.IsZero() && !at.IsZero() {
			out[i].endsAt = at.Add(warningFor)
		}
	}
	if len(out) == 0 {
		return []said{{kind: cloud.NoOp, at: at.UTC()}}, nil
	}
	return out, nil
}

// at is when it was said; one without a time is of when it came.
func (e *event) at() time.Time {
	at, _ := time.Parse(time.RFC3339, e.Time)
	return at
}

func (e *event) read() ([]said, error) {
	switch {
	case e.Source == sourceEC2 && e.DetailType == typeInterruption:
		return e.ofInstance(func(instanceDetail) (cloud.InterruptionMessageKind, bool) { return cloud.Interrupted, true })
	case e.Source == sourceEC2 && e.DetailType == typeRebalance:
		return e.ofInstance(func(instanceDetail) (cloud.InterruptionMessageKind, bool) { return cloud.Rebalance, true })
	case e.Source == sourceEC2 && e.DetailType == typeReservation:
		return e.ofInstance(func(instanceDetail) (cloud.InterruptionMessageKind, bool) { return cloud.ReservationInterrupted, true })
	case e.Source == sourceEC2 && e.DetailType == typeState:
		return e.ofInstance(kindOfState)
	case e.Source == sourceHealth && e.DetailType == typeHealth:
		return e.ofHealth()
	}
	return nil, nil
}

// instanceDetail is the detail of EC2's own events.
type instanceDetail struct {
	Instance string `json:"instance-id"`
	State    string `json:"state"`
	Action   string `json:"instance-action"`
	EndsAt   string `json:"instance-termination-time"`
}

// kindOfState is what a new state means; false for those of an ordinary start.
func kindOfState(d instanceDetail) (cloud.InterruptionMessageKind, bool) {
	switch cloud.State(d.State) {
	case cloud.Stopping, cloud.Stopped:
		return cloud.HasStopped, true
	case cloud.ShuttingDown, "terminated":
		return cloud.Terminated, true
	}
	return cloud.NoOp, false
}

func (e *event) ofInstance(kindOf func(instanceDetail) (cloud.InterruptionMessageKind, bool)) ([]said, error) {
	var d instanceDetail
	if err := json.Unmarshal(e.Detail, &d); err != nil {
		return nil, fmt.Errorf("its detail cannot be read: %w", err)
	}
	kind, acts := kindOf(d)
	if !acts {
		return nil, nil
	}
	id := instanceIn(d.Instance)
	for _, r := range e.Resources {
		if id == "" {
			id = instanceIn(r)
		}
	}
	if id == "" {
		return nil, fmt.Errorf("detail.instance-id is %q, and resources name no instance", d.Instance)
	}
	ends, _ := time.Parse(time.RFC3339, d.EndsAt) // where it is not said, it stays zero
	if d.Action == actionHibernate {
		ends = e.at()
	}
	return []said{{kind: kind, instance: id, endsAt: ends}}, nil
}

// healthDetail is the detail of events of AWS Health.
type healthDetail struct {
	Service  string `json:"service"`
	Category string `json:"eventTypeCategory"`
	StartsAt string `json:"startTime"`
	Status   string `json:"statusCode"`
	Entities []struct {
		Value  string `json:"entityValue"` // an id, or an ARN
		Status string `json:"status"`
	} `json:"affectedEntities"`
}

// ofHealth reads a change that is scheduled for instances. Such an event may come
// in pages, and again as a backup from another region: each is read by itself.
func (e *event) ofHealth() ([]said, error) {
	var d healthDetail
	if err := json.Unmarshal(e.Detail, &d); err != nil {
		return nil, fmt.Errorf("its detail cannot be read: %w", err)
	}
	if d.Service != "EC2" || d.Category != categoryScheduled || d.Status == healthClosed {
		return nil, nil
	}
	starts, _ := time.Parse(healthTime, d.StartsAt) // where it is not said, it stays zero
	named := e.Resources
	if len(d.Entities) > 0 {
		named = nil
	}
	for _, entity := range d.Entities {
		if entity.Status != entityResolved {
			named = append(named, entity.Value)
		}
	}
	var out []said
	for _, name := range named {
		if id := instanceIn(name); id != "" { // others are volumes and the like
			out = append(out, said{kind: cloud.Maintenance, instance: id, endsAt: starts})
		}
	}
	return out, nil
}

var instanceID = regexp.MustCompile(`^i-[0-9a-f]+$`)

// instanceIn finds the instance that an id or an ARN names; empty: it names none.
func instanceIn(name string) string {
	if i := strings.LastIndex(name, "instance/"); strings.HasPrefix(name, "arn:") && i >= 0 {
		name = name[i+len("instance/"):]
	}
	if !instanceID.MatchString(name) {
		return ""
	}
	return name
}
