package up

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/daemok/daemok/lab/control"
	"github.com/daemok/daemok/lab/machine"
)

// Machines returns those whose instance ID or node name match a pattern. That
// none does is an error, since it is a slip of the pen.
func (l *Lab) Machines(pattern string) ([]control.Machine, error) {
	center, err := l.record.now().ready()
	if err != nil {
		return nil, err
	}
	found, err := center.Machines(pattern)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("no running instance has the ID or node name %s: see `daemok lab machine list`", pattern)
	}
	var all []control.Machine
	for _, m := range found {
		i := m.Instance
		all = append(all, control.Machine{
			ID: i.ID, Node: i.PrivateDNS, Type: i.Type, Zone: i.Zone, State: m.State, Console: m.Console,
		})
	}
	return all, nil
}

// Act does something to the instances that match and returns them as they were before.
func (l *Lab) Act(order control.Act) ([]control.Machine, error) {
	center, err := l.record.now().ready()
	if err != nil {
		return nil, err
	}
	found, err := l.Machines(order.Machine)
	if err != nil {
		return nil, err
	}
	for _, m := range found {
		if err := act(center.Fleet, m.ID, order); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func act(f *machine.Fleet, id string, order control.Act) error {
	switch order.Deed {
	case control.Silence:
		return f.Silence(id, true)
	case control.Wake:
		return f.Silence(id, false)
	case control.Reboot:
		return f.Restart(id)
	case control.Report:
		return report(f, id, order.Condition)
	}
	return fmt.Errorf("unknown action %q on an instance", order.Deed)
}

func report(f *machine.Fleet, id string, c control.Condition) error {
	if c.Type == "" {
		return errors.New("a condition needs a type")
	}
	kind := corev1.NodeConditionType(c.Type)
	switch status := corev1.ConditionStatus(c.Status); status {
	case "":
		return f.Unreport(id, kind)
	case corev1.ConditionTrue, corev1.ConditionFalse, corev1.ConditionUnknown:
		return f.Report(id, corev1.NodeCondition{Type: kind, Status: status, Reason: c.Reason, Message: c.Message})
	}
	return fmt.Errorf("status of condition %s is %q: want True, False or Unknown", c.Type, c.Status)
}

// Next has instances that boot from now on behave as the command says.
func (l *Lab) Next(order control.Next) error {
	center, err := l.record.now().ready()
	if err != nil {
		return err
	}
	return center.Order(order.Kind, order.Tags)
}

// MapRole lets nodes of a role into the cluster, or keeps them out.
func (l *Lab) MapRole(order control.Role) error {
	center, err := l.record.now().ready()
	if err != nil {
		return err
	}
	center.MapRole(order.Name, order.Mapped)
	return nil
}
