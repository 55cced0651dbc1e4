package instance

import (
	"fmt"
	"net/http"
	"time"

	"github.com/daemok/daemok/test/emulator/world"
)

// Check is one of EC2's status checks of an instance.
type Check string

// The checks: of the instance itself, and of the system that it runs on.
const (
	InstanceCheck Check = "instance"
	SystemCheck   Check = "system"
)

// health is what is wrong with an instance, or will be done to it.
type health struct {
	Impaired map[Check]time.Time `json:",omitempty"` // since when
	Events   []scheduled         `json:",omitempty"`
}

// scheduled is a change that EC2 means to make.
type scheduled struct {
	ID, Code, Description string
	NotBefore             time.Time
}

// descriptions are what EC2 says of scheduled changes, by their codes.
var descriptions = map[string]string{
	"instance-retirement": "The instance is running on degraded hardware",
	"instance-stop":       "The instance is running on degraded hardware",
	"instance-reboot":     "Scheduled reboot",
	"system-reboot":       "Scheduled reboot",
	"system-maintenance":  "Scheduled maintenance",
}

// healthCodes are what AWS Health calls them.
var healthCodes = map[string]string{
	"instance-retirement": "AWS_EC2_INSTANCE_RETIREMENT_SCHEDULED",
	"instance-stop":       "AWS_EC2_INSTANCE_STOP_SCHEDULED",
	"instance-reboot":     "AWS_EC2_INSTANCE_REBOOT_MAINTENANCE_SCHEDULED",
	"system-reboot":       "AWS_EC2_SYSTEM_REBOOT_MAINTENANCE_SCHEDULED",
	"system-maintenance":  "AWS_EC2_SYSTEM_MAINTENANCE_EVENT",
}

// Impair has a status check of an instance fail from now on, or pass again.
func (s *Inventory) Impair(id string, check Check, fails bool) error {
	if check != InstanceCheck && check != SystemCheck {
		return fmt.Errorf("there is no status check %q: want %s or %s", check, InstanceCheck, SystemCheck)
	}
	s.Mu.Lock()
	defer s.Mu.Unlock()
	i, err := s.running(id)
	if err != nil {
		return err
	}
	if !fails {
		delete(i.Health.Impaired, check)
		return nil
	}
	if i.Health.Impaired == nil {
		i.Health.Impaired = map[Check]time.Time{}
	}
	if i.Health.Impaired[check].IsZero() {
		i.Health.Impaired[check] = s.Now()
	}
	return nil
}

// Schedule announces a change of an instance, such as "instance-retirement", as EC2
// and AWS Health do. The change itself does not come.
func (s *Inventory) Schedule(id, code string, at time.Time) error {
	if descriptions[code] == "" {
		return fmt.Errorf("EC2 schedules no %q: want one such as instance-retirement", code)
	}
	s.Mu.Lock()
	defer s.Mu.Unlock()
	i, err := s.running(id)
	if err != nil {
		return err
	}
	i.Health.Events = append(i.Health.Events, scheduled{ID: s.NewID("instance-event"), Code: code, Description: descriptions[code], NotBefore: at.UTC()})
	s.bus.Post(s.healthEvent(id, code, at))
	return nil
}

// Cancel takes the changes of an instance back: EC2 shows them for a while, and says so.
func (s *Inventory) Cancel(id string) error {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	i, err := s.running(id)
	if err != nil {
		return err
	}
	for n := range i.Health.Events {
		i.Health.Events[n].Description = "[Canceled] " + descriptions[i.Health.Events[n].Code]
	}
	return nil
}

// running finds an instance that the market remembers, also one that the API does not
// show yet: what happens to instances does not wait for that. The lock is held.
func (s *Inventory) running(id string) (*Instance, error) {
	i := s.Records[id]
	if _, known := s.Market().Machine(id); i == nil || !known {
		return nil, fmt.Errorf("there is no instance %s", id)
	}
	return i, nil
}

// healthEvent is AWS Health's word about a scheduled change, as EventBridge passes it on.
func (s *Inventory) healthEvent(id, code string, at time.Time) world.Event {
	a := s.Settings
	const form = http.TimeFormat // RFC 1123, in GMT
	now := s.Now().UTC()
	return world.Event{
		Version: "0", ID: s.MessageID(), DetailType: world.DetailHealth, Source: "aws.health", Account: a.ID, Time: now.Format(time.RFC3339), Region: a.Region,
		Resources: []string{id},
		Detail: map[string]any{
			"eventArn": fmt.Sprintf("arn:aws:health:%s::event/EC2/%s/%s_%s", a.Region, healthCodes[code], healthCodes[code], s.MessageID()),
			"service":  "EC2", "eventTypeCode": healthCodes[code], "eventTypeCategory": "scheduledChange", "eventScopeCode": "ACCOUNT_SPECIFIC",
			"communicationId": s.MessageID(), "startTime": at.UTC().Format(form), "lastUpdatedTime": now.Format(form), "statusCode": "open", "eventRegion": a.Region,
			"eventDescription": []map[string]string{{"language": "en_US", "latestDescription": descriptions[code]}},
			"affectedEntities": []map[string]string{{"entityValue": a.ARN("ec2", a.Region, "instance/"+id), "lastUpdatedTime": now.Format(form), "status": "PENDING"}},
			"affectedAccount":  a.ID, "page": "1", "totalPages": "1", "backupEvent": "false",
		},
	}
}
