package fis

import (
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/daemok/daemok/test/emulator/wire"
	"github.com/daemok/daemok/test/emulator/world"
	"github.com/daemok/daemok/test/market"
)

// experimentTemplate says what an experiment of the Fault Injection Service does: of all its
// actions the emulator has the interruption of spot instances.
type experimentTemplate struct {
	ID, Description, RoleARN string
	Targets                  map[string]fisTarget
	Actions                  map[string]fisAction
	Tags                     map[string]string
	CreatedAt                time.Time
}

type fisTarget struct {
	ResourceType  string            `json:"resourceType"`
	ResourceArns  []string          `json:"resourceArns,omitempty"` //nolint:revive // the name on the wire
	ResourceTags  map[string]string `json:"resourceTags,omitempty"`
	Filters       []fisFilter       `json:"filters,omitempty"`
	SelectionMode string            `json:"selectionMode"`
}

type fisFilter struct {
	Path   string   `json:"path"`
	Values []string `json:"values"`
}

type fisAction struct {
	ActionID   string            `json:"actionId"`
	Parameters map[string]string `json:"parameters,omitempty"`
	Targets    map[string]string `json:"targets,omitempty"`
}

// experiment is one run of a template; spot interruptions are done as soon as they were sent.
type experiment struct {
	ID        string
	Template  experimentTemplate // as it was at the start
	StartedAt time.Time
	Reason    string // why it failed; empty: it did not
	Instances []string
	Tags      map[string]string
}

const (
	fisInterrupt = "aws:ec2:send-spot-instance-interruptions"
	fisSpot      = "aws:ec2:spot-instance"
)

// isoDuration is what FIS writes lengths as: PT2M.
var isoDuration = regexp.MustCompile(`^PT(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?$`)

// interruptionAfter is how long before the interruption its warning comes: two to fifteen minutes.
func (a fisAction) interruptionAfter() (time.Duration, error) {
	text := a.Parameters["durationBeforeInterruption"]
	found := isoDuration.FindStringSubmatch(text)
	var length time.Duration
	for i, unit := range []time.Duration{time.Hour, time.Minute, time.Second} {
		if found != nil {
			n, _ := strconv.Atoi(found[i+1]) // digits, or nothing
			length += time.Duration(n) * unit
		}
	}
	if length < 2*time.Minute || length > 15*time.Minute {
		return 0, fisError("durationBeforeInterruption %q must be between PT2M and PT15M", text)
	}
	return length, nil
}

func fisError(format string, args ...any) *wire.Error {
	return wire.Errorf("ValidationException", format, args...)
}

func createExperimentTemplate(c *call) (any, error) {
	var in struct {
		Description string               `json:"description"`
		RoleARN     string               `json:"roleArn"`
		Targets     map[string]fisTarget `json:"targets"`
		Actions     map[string]fisAction `json:"actions"`
		Tags        map[string]string    `json:"tags"`
	}
	if err := c.Decode(&in); err != nil {
		return nil, err
	}
	t := experimentTemplate{Description: in.Description, RoleARN: in.RoleARN, Targets: in.Targets, Actions: in.Actions, Tags: in.Tags, CreatedAt: c.At}
	if err := t.check(); err != nil {
		return nil, err
	}
	t.ID = "EXT" + strings.TrimPrefix(c.server.NewID("fis"), "fis-")
	c.server.Experiments.Templates[t.ID] = &t
	return map[string]any{"experimentTemplate": c.templateAnswer(t)}, nil
}

func (t experimentTemplate) check() error {
	if len(t.Actions) == 0 {
		return fisError("a template needs an action")
	}
	for name, a := range t.Actions {
		if a.ActionID != fisInterrupt {
			return fisError("action %s is %s: the emulator has %s alone", name, a.ActionID, fisInterrupt)
		}
		if _, err := a.interruptionAfter(); err != nil {
			return err
		}
		target, known := t.Targets[a.Targets["SpotInstances"]]
		if !known {
			return fisError("action %s needs a target SpotInstances that the template has", name)
		}
		if target.ResourceType != fisSpot {
			return fisError("target of action %s is %s, it must be %s", name, target.ResourceType, fisSpot)
		}
		if _, err := target.chosen(make([]world.Instance, 100)); err != nil {
			return err
		}
	}
	return nil
}

func (c *call) templateAnswer(t experimentTemplate) map[string]any {
	a := c.server.Settings
	return map[string]any{
		"id": t.ID, "arn": a.ARN("fis", a.Region, "experiment-template/"+t.ID), "description": t.Description, "roleArn": t.RoleARN,
		"targets": t.Targets, "actions": t.Actions, "tags": t.Tags, "stopConditions": []map[string]string{{"source": "none"}},
		"creationTime": world.Seconds(t.CreatedAt), "lastUpdateTime": world.Seconds(t.CreatedAt),
	}
}

func (c *call) experimentTemplate(id string) (*experimentTemplate, error) {
	t := c.server.Experiments.Templates[id]
	if t == nil {
		return nil, wire.Errorf("ResourceNotFoundException", "Unable to find experiment template %s", id).WithStatus(http.StatusNotFound)
	}
	return t, nil
}

func getExperimentTemplate(c *call) (any, error) {
	t, err := c.experimentTemplate(c.Names["id"])
	if err != nil {
		return nil, err
	}
	if c.Action == "DeleteExperimentTemplate" {
		delete(c.server.Experiments.Templates, t.ID)
	}
	return map[string]any{"experimentTemplate": c.templateAnswer(*t)}, nil
}

func listExperimentTemplates(c *call) (any, error) {
	all := []any{}
	for _, id := range slices.Sorted(maps.Keys(c.server.Experiments.Templates)) {
		all = append(all, c.templateAnswer(*c.server.Experiments.Templates[id]))
	}
	return map[string]any{"experimentTemplates": all}, nil
}

// startExperiment sends the interruptions at once: a rebalance recommendation now, the warning two minutes
// before the end, as FIS does.
func startExperiment(c *call) (any, error) {
	var in struct {
		TemplateID string            `json:"experimentTemplateId"`
		Tags       map[string]string `json:"tags"`
	}
	if err := c.Decode(&in); err != nil {
		return nil, err
	}
	t, err := c.experimentTemplate(in.TemplateID)
	if err != nil {
		return nil, err
	}
	e := &experiment{ID: "EXP" + strings.TrimPrefix(c.server.NewID("fis"), "fis-"), Template: *t, StartedAt: c.At, Tags: in.Tags}
	for _, name := range slices.Sorted(maps.Keys(t.Actions)) {
		a := t.Actions[name]
		after, err := a.interruptionAfter()
		if err != nil {
			return nil, err
		}
		chosen, err := t.Targets[a.Targets["SpotInstances"]].chosen(c.targets(t.Targets[a.Targets["SpotInstances"]]))
		if err != nil {
			return nil, err
		}
		if len(chosen) == 0 {
			e.Reason = "Target resolution returned empty set"
		}
		for _, l := range chosen {
			e.Instances = append(e.Instances, l.ID)
			c.server.Market().InterruptAdvised(l.ID, after-2*time.Minute)
		}
	}
	c.server.Experiments.Runs[e.ID] = e
	return map[string]any{"experiment": c.experimentAnswer(e)}, nil
}

// targets are the running spot instances that a target is about, by ID.
func (c *call) targets(t fisTarget) []world.Instance {
	return slices.DeleteFunc(c.server.instances.Visible(c.At), func(l world.Instance) bool {
		if !l.Spot || l.State != string(market.Running) && l.State != string(market.Pending) {
			return true
		}
		a := c.server.Settings
		if len(t.ResourceArns) > 0 && !slices.Contains(t.ResourceArns, a.ARN("ec2", a.Region, "instance/"+l.ID)) {
			return true
		}
		for key, value := range t.ResourceTags {
			if l.Tags[key] != value {
				return true
			}
		}
		return slices.ContainsFunc(t.Filters, func(f fisFilter) bool { return !slices.Contains(f.Values, attribute(l, f.Path)) })
	})
}

// attribute is what a filter's path leads to in the description of an instance.
func attribute(l world.Instance, path string) string {
	switch path {
	case "State.Name":
		return l.State
	case "Placement.AvailabilityZone":
		return l.Zone
	case "InstanceType":
		return l.Type
	case "SubnetId":
		return l.Subnet
	}
	return ""
}

var selection = regexp.MustCompile(`^(ALL|COUNT\((\d+)\)|PERCENT\((\d+)\))$`)

// chosen are those of the instances that the selection mode takes: the first by ID, where FIS takes any.
func (t fisTarget) chosen(all []world.Instance) ([]world.Instance, error) {
	found := selection.FindStringSubmatch(t.SelectionMode)
	if found == nil {
		return nil, fisError("selection mode %q must be ALL, COUNT(n) or PERCENT(n)", t.SelectionMode)
	}
	n := len(all)
	if found[2] != "" {
		n, _ = strconv.Atoi(found[2])
	}
	if found[3] != "" {
		share, _ := strconv.Atoi(found[3])
		n = len(all) * share / 100
	}
	return all[:min(n, len(all))], nil
}

func (c *call) experimentAnswer(e *experiment) map[string]any {
	a := c.server.Settings
	state := map[string]string{"status": "completed", "reason": "Experiment completed."}
	if e.Reason != "" {
		state = map[string]string{"status": "failed", "reason": e.Reason}
	}
	actions := map[string]any{}
	for name, action := range e.Template.Actions {
		actions[name] = map[string]any{"actionId": action.ActionID, "parameters": action.Parameters, "targets": action.Targets, "state": state}
	}
	return map[string]any{
		"id": e.ID, "arn": a.ARN("fis", a.Region, "experiment/"+e.ID), "experimentTemplateId": e.Template.ID, "roleArn": e.Template.RoleARN,
		"state": state, "targets": e.Template.Targets, "actions": actions, "creationTime": world.Seconds(e.StartedAt), "startTime": world.Seconds(e.StartedAt),
		"endTime": world.Seconds(e.StartedAt), "tags": e.Tags,
	}
}

// getExperiment serves StopExperiment too: what was sent is not taken back.
func getExperiment(c *call) (any, error) {
	e := c.server.Experiments.Runs[c.Names["id"]]
	if e == nil {
		return nil, wire.Errorf("ResourceNotFoundException", "Unable to find experiment %s", c.Names["id"]).WithStatus(http.StatusNotFound)
	}
	return map[string]any{"experiment": c.experimentAnswer(e)}, nil
}

func listExperiments(c *call) (any, error) {
	all := []any{}
	for _, id := range slices.Sorted(maps.Keys(c.server.Experiments.Runs)) {
		all = append(all, c.experimentAnswer(c.server.Experiments.Runs[id]))
	}
	return map[string]any{"experiments": all}, nil
}

// listResolvedTargets says which instances an experiment was about.
func listResolvedTargets(c *call) (any, error) {
	e := c.server.Experiments.Runs[c.Names["id"]]
	if e == nil {
		return nil, wire.Errorf("ResourceNotFoundException", "Unable to find experiment %s", c.Names["id"]).WithStatus(http.StatusNotFound)
	}
	a := c.server.Settings
	all := []any{}
	for _, id := range e.Instances {
		all = append(all, map[string]any{
			"resourceType": fisSpot, "targetInformation": map[string]string{"arn": fmt.Sprint(a.ARN("ec2", a.Region, "instance/"+id))},
		})
	}
	return map[string]any{"resolvedTargets": all}, nil
}

// experiments are what the Fault Injection Service keeps.
type experiments struct {
	Templates map[string]*experimentTemplate // by ID
	Runs      map[string]*experiment         // by ID
}

func newExperiments() experiments {
	return experiments{Templates: map[string]*experimentTemplate{}, Runs: map[string]*experiment{}}
}
