package eventbridge

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/daemok/daemok/test/emulator/wire"
	"github.com/daemok/daemok/test/emulator/world"
)

// rule is one rule of EventBridge's default bus.
type rule struct {
	Name, Description string
	Pattern           string // JSON
	Disabled          bool
	Targets           []ruleTarget // by ID
	Tags              map[string]string

	read map[string]any // the pattern; nil until it is wanted
}

type ruleTarget struct {
	ID  string `json:"Id"`
	ARN string `json:"Arn"`
}

// newRules are those that the guides make: what happens to instances goes to the cluster's queue.
func newRules(a world.Account) map[string]*rule {
	rules := map[string]*rule{}
	for name, p := range map[string][2]string{
		"scheduled-change":                 {"aws.health", world.DetailHealth},
		"spot-interruption":                {"aws.ec2", world.DetailWarning},
		"rebalance":                        {"aws.ec2", world.DetailRebalance},
		"instance-state-change":            {"aws.ec2", world.DetailStateChange},
		"capacity-reservation-interrupted": {"aws.ec2", "EC2 Capacity Reservation Instance Interruption Warning"},
	} {
		name = a.ClusterName + "-" + name
		rules[name] = &rule{
			Name: name, Pattern: fmt.Sprintf(`{"source":[%q],"detail-type":[%q]}`, p[0], p[1]),
			Targets: []ruleTarget{{"interruption-queue", a.ARN("sqs", a.Region, a.ClusterName)}},
		}
	}
	return rules
}

// Post has an event happen now; the lock is held.
func (s *Bus) Post(e world.Event) {
	s.Send(e, s.Now())
	s.WakePollers()
}

// Send hands an event to the targets of all rules that match it, after a drawn delay. The
// lock is held.
func (s *Bus) Send(e world.Event, at time.Time) {
	text, err := json.Marshal(e)
	if err != nil {
		panic("an event of strings does not encode: " + err.Error())
	}
	var event map[string]any
	if err := json.Unmarshal(text, &event); err != nil {
		panic("an event of ours does not decode: " + err.Error())
	}
	for _, name := range slices.Sorted(maps.Keys(s.Rules)) {
		r := s.Rules[name]
		if r.Disabled || !r.matches(event) {
			continue
		}
		for _, t := range r.Targets {
			s.queues.Deliver(t.ARN, string(text), at)
		}
	}
}

// matches reports whether the rule's pattern, which PutRule has checked, fits an event.
func (r *rule) matches(event map[string]any) bool {
	if r.read == nil && json.Unmarshal([]byte(r.Pattern), &r.read) != nil {
		return false
	}
	return fits(r.read, event)
}

// fits reports whether every field of the pattern fits that of the event: a list names the values
// that it may have, an object goes one level down.
func fits(pattern, event map[string]any) bool {
	for key, want := range pattern {
		got, there := event[key]
		switch want := want.(type) {
		case map[string]any:
			below, is := got.(map[string]any)
			if !is || !fits(want, below) {
				return false
			}
		case []any:
			if !slices.ContainsFunc(want, func(w any) bool { return fitsValue(w, got, there) }) {
				return false
			}
		}
	}
	return true
}

// fitsValue reports whether a value, or one of a list of values, is what one entry of a pattern allows.
func fitsValue(want, got any, there bool) bool {
	if test, is := want.(map[string]any); is {
		if exists, asked := test["exists"].(bool); asked {
			return exists == there
		}
		prefix, _ := test["prefix"].(string)
		return there && slices.ContainsFunc(listOf(got), func(v any) bool { text, is := v.(string); return is && strings.HasPrefix(text, prefix) })
	}
	return there && slices.Contains(listOf(got), want)
}

func listOf(v any) []any {
	if all, is := v.([]any); is {
		return all
	}
	return []any{v}
}

// checkPattern refuses what the emulator cannot follow, rather than to match wrongly.
func checkPattern(text string) error {
	var pattern map[string]any
	if err := json.Unmarshal([]byte(text), &pattern); err != nil || len(pattern) == 0 {
		return wire.Errorf("InvalidEventPatternException", "Event pattern is not valid. Reason: it is no JSON object with a field")
	}
	return checkLevel(pattern)
}

func checkLevel(pattern map[string]any) error {
	for key, want := range pattern {
		switch want := want.(type) {
		case map[string]any:
			if err := checkLevel(want); err != nil {
				return err
			}
		case []any:
			for _, w := range want {
				test, is := w.(map[string]any)
				if is && !(len(test) == 1 && (test["prefix"] != nil || test["exists"] != nil)) {
					return wire.Errorf("InvalidEventPatternException", "Event pattern is not valid. Reason: the emulator knows the tests prefix and exists, not %v of %q", test, key)
				}
			}
		default:
			return wire.Errorf("InvalidEventPatternException", "Event pattern is not valid. Reason: %q must be an object or an array", key)
		}
	}
	return nil
}

// ruleInput is what the calls about rules send.
type ruleInput struct {
	Name, Rule, NamePrefix string
	EventBusName           string
	EventPattern, Event    string
	Description, State     string
	ScheduleExpression     string
	Targets                []ruleTarget
	Ids                    []string //nolint:revive // the name on the wire
	TargetArn              string   //nolint:revive // the name on the wire
	Entries                []putEvent
	Tags                   []struct{ Key, Value string }
}

type putEvent struct {
	Source, DetailType, Detail string
	Resources                  []string
}

// ruleCall reads a call and finds the rule it names, if it must.
func (c *call) ruleCall(must bool) (in ruleInput, r *rule, err error) {
	if err := c.Decode(&in); err != nil {
		return in, nil, err
	}
	if bus := in.EventBusName; bus != "" && bus != "default" && !strings.HasSuffix(bus, ":event-bus/default") {
		return in, nil, wire.Errorf("ResourceNotFoundException", "Event bus %s does not exist: the emulator has the default bus alone.", bus)
	}
	name := cmp.Or(in.Name, in.Rule)
	r = c.server.Rules[name]
	if r == nil && must {
		return in, nil, wire.Errorf("ResourceNotFoundException", "Rule %s does not exist on EventBus default.", name)
	}
	return in, r, nil
}

func (c *call) ruleAnswer(r *rule) map[string]any {
	a := c.server.Settings
	return map[string]any{
		"Name": r.Name, "Arn": a.ARN("events", a.Region, "rule/"+r.Name), "EventPattern": r.Pattern, "Description": r.Description,
		"State": map[bool]string{true: "DISABLED", false: "ENABLED"}[r.Disabled], "EventBusName": "default",
	}
}

func putRule(c *call) (any, error) {
	in, r, err := c.ruleCall(false)
	if err != nil {
		return nil, err
	}
	if in.ScheduleExpression != "" {
		return nil, wire.Errorf("ValidationException", "The emulator has rules with an event pattern alone, none with a schedule.")
	}
	if err := checkPattern(in.EventPattern); err != nil {
		return nil, err
	}
	if r == nil {
		r = &rule{Name: in.Name}
		c.server.Rules[in.Name] = r
	}
	r.Pattern, r.Description, r.Disabled, r.read = in.EventPattern, in.Description, in.State == "DISABLED", nil
	return map[string]any{"RuleArn": c.ruleAnswer(r)["Arn"]}, nil
}

func describeRule(c *call) (any, error) {
	_, r, err := c.ruleCall(true)
	if err != nil {
		return nil, err
	}
	return c.ruleAnswer(r), nil
}

func listRules(c *call) (any, error) {
	in, _, err := c.ruleCall(false)
	if err != nil {
		return nil, err
	}
	all := []any{}
	for _, name := range slices.Sorted(maps.Keys(c.server.Rules)) {
		if strings.HasPrefix(name, in.NamePrefix) {
			all = append(all, c.ruleAnswer(c.server.Rules[name]))
		}
	}
	return map[string]any{"Rules": all}, nil
}

func deleteRule(c *call) (any, error) {
	_, r, err := c.ruleCall(false)
	if err != nil || r == nil {
		return nil, err // a rule that is gone is deleted
	}
	if len(r.Targets) > 0 {
		return nil, wire.Errorf("ValidationException", "Rule can't be deleted since it has targets.")
	}
	delete(c.server.Rules, r.Name)
	return nil, nil
}

// switchRule serves EnableRule and DisableRule.
func switchRule(c *call) (any, error) {
	_, r, err := c.ruleCall(true)
	if err != nil {
		return nil, err
	}
	r.Disabled = c.Action == "DisableRule"
	return nil, nil
}

// putTargets takes any target; events reach those that are queues of the account.
func putTargets(c *call) (any, error) {
	in, r, err := c.ruleCall(true)
	if err != nil {
		return nil, err
	}
	for _, t := range in.Targets {
		r.Targets = append(slices.DeleteFunc(r.Targets, func(have ruleTarget) bool { return have.ID == t.ID }), t)
	}
	r.Targets = world.ByKey(r.Targets, func(t ruleTarget) string { return t.ID })
	return map[string]any{"FailedEntryCount": 0, "FailedEntries": []any{}}, nil
}

func removeTargets(c *call) (any, error) {
	in, r, err := c.ruleCall(true)
	if err != nil {
		return nil, err
	}
	r.Targets = slices.DeleteFunc(r.Targets, func(t ruleTarget) bool { return slices.Contains(in.Ids, t.ID) })
	return map[string]any{"FailedEntryCount": 0, "FailedEntries": []any{}}, nil
}

func listTargetsByRule(c *call) (any, error) {
	_, r, err := c.ruleCall(true)
	if err != nil {
		return nil, err
	}
	return map[string]any{"Targets": append([]ruleTarget{}, r.Targets...)}, nil
}

func listRuleNamesByTarget(c *call) (any, error) {
	in, _, err := c.ruleCall(false)
	if err != nil {
		return nil, err
	}
	names := []string{}
	for _, name := range slices.Sorted(maps.Keys(c.server.Rules)) {
		if slices.ContainsFunc(c.server.Rules[name].Targets, func(t ruleTarget) bool { return t.ARN == in.TargetArn }) {
			names = append(names, name)
		}
	}
	return map[string]any{"RuleNames": names}, nil
}

// putEvents sends events of the caller's own through the rules; AWS's own sources are AWS's.
func putEvents(c *call) (any, error) {
	in, _, err := c.ruleCall(false)
	if err != nil {
		return nil, err
	}
	answers, failed := []any{}, 0
	for _, e := range in.Entries {
		id, code := c.server.MessageID(), ""
		var detail map[string]any
		switch {
		case strings.HasPrefix(e.Source, "aws."):
			code = "NotAuthorizedForSourceException"
		case e.Source == "" || e.DetailType == "":
			code = "InvalidArgument"
		case json.Unmarshal([]byte(e.Detail), &detail) != nil:
			code = "MalformedDetail"
		}
		if code != "" {
			failed++
			answers = append(answers, map[string]string{"ErrorCode": code, "ErrorMessage": "the event of source " + e.Source + " was not taken"})
			continue
		}
		a := c.server.Settings
		c.server.Post(world.Event{
			Version: "0", ID: id, DetailType: e.DetailType, Source: e.Source, Account: a.ID, Time: c.At.UTC().Format(time.RFC3339), Region: a.Region,
			Resources: append([]string{}, e.Resources...), Detail: detail,
		})
		answers = append(answers, map[string]string{"EventId": id})
	}
	return map[string]any{"FailedEntryCount": failed, "Entries": answers}, nil
}

func testEventPattern(c *call) (any, error) {
	in, _, err := c.ruleCall(false)
	if err != nil {
		return nil, err
	}
	if err := checkPattern(in.EventPattern); err != nil {
		return nil, err
	}
	var event map[string]any
	if err := json.Unmarshal([]byte(in.Event), &event); err != nil {
		return nil, wire.Errorf("ValidationException", "Parameter Event is not valid.")
	}
	r := rule{Pattern: in.EventPattern}
	return map[string]bool{"Result": r.matches(event)}, nil
}
