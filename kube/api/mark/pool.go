// Package mark reads Daemok's own annotations on pools and pods, which hold settings for which their
// APIs have no field.
//
// Every function is pure, and an error says which annotation is wrong and how to correct it. The core
// decides what an annotation means.
package mark

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

// mostExpensive is more dollars an hour than any instance costs: what is above it is an amount in
// other money, or for another length of time.
const mostExpensive = 10_000

// mostTogether is more dollars an hour than the nodes of any cluster cost together.
const mostTogether = 100_000_000

// Cost reads dollars an hour, such as "0.01".
func Cost(text string) (quantity.MicroUSDPerHour, error) {
	dollars, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || math.IsNaN(dollars) || dollars < 0 || dollars > mostExpensive {
		return 0, fmt.Errorf("%q is no cost: want US dollars an hour, 0 or more, such as \"0.01\"", text)
	}
	return quantity.USDPerHour(dollars), nil
}

// CostLimit is what nodes may cost an hour together; nil where the annotations do not say.
func CostLimit(annotations map[string]string) (*quantity.MicroUSDPerHour, error) {
	text, said := annotations[api.AnnotationCostLimit]
	if !said {
		return nil, nil
	}
	dollars, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || math.IsNaN(dollars) || dollars < 0 || dollars > mostTogether {
		err := fmt.Errorf("%q is no cost: want US dollars an hour, 0 or more, such as \"12.50\"", text)
		return nil, &Error{api.AnnotationCostLimit, err}
	}
	most := quantity.USDPerHour(dollars)
	return &most, nil
}

// Uncommitted is true where the pool plans without commitments.
func Uncommitted(annotations map[string]string) (bool, error) {
	text, said := annotations[api.AnnotationCommitments]
	if said && text != api.CommitmentsIgnore {
		err := fmt.Errorf("%q means nothing: want %q, or no such annotation", text, api.CommitmentsIgnore)
		return false, &Error{api.AnnotationCommitments, err}
	}
	return said, nil
}

// InstanceCost is what each instance of the pool costs an hour beside its type and its volumes;
// otherwise is returned where the pool does not say.
func InstanceCost(annotations map[string]string, otherwise quantity.MicroUSDPerHour) (quantity.MicroUSDPerHour, error) {
	text, said := annotations[api.AnnotationInstanceCost]
	if !said {
		return otherwise, nil
	}
	cost, err := Cost(text)
	if err != nil {
		return 0, &Error{api.AnnotationInstanceCost, err}
	}
	return cost, nil
}

// Floor is the least size of the pool's instances. What is to be left on them to pods is otherwise
// where the pool does not say.
func Floor(annotations map[string]string, otherwise cluster.Room) (out cluster.Floor, err error) {
	if out.Size, err = size(annotations); err != nil {
		return cluster.Floor{}, err
	}
	out.Room = otherwise
	if text, said := annotations[api.AnnotationMinPodMemory]; said {
		if out.Room.Memory, err = PodMemory(text); err != nil {
			return cluster.Floor{}, &Error{api.AnnotationMinPodMemory, err}
		}
	}
	if text, said := annotations[api.AnnotationMaxSystemMemory]; said {
		if out.Room.System, err = SystemMemory(text); err != nil {
			return cluster.Floor{}, &Error{api.AnnotationMaxSystemMemory, err}
		}
	}
	return out, nil
}

// PodMemory reads how much memory an instance is to leave to pods, such as "1Gi".
func PodMemory(text string) (quantity.Bytes, error) {
	memory, err := resource.ParseQuantity(strings.TrimSpace(text))
	if err != nil || memory.Sign() < 0 || !memory.IsZero() && memory.CmpInt64(int64(quantity.MiB)) < 0 {
		return 0, fmt.Errorf("%q is no memory for pods: want an amount, such as \"1Gi\", or \"0\" to ask for none", text)
	}
	return quantity.Bytes(memory.Value()), nil
}

// SystemMemory reads which share of an instance's memory may go to the system and
// daemon pods, such as "25%".
func SystemMemory(text string) (int64, error) {
	digits, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	share, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || !percent || share < 1 || share > 100 {
		return 0, fmt.Errorf("%q is no share of memory: want 1%% to 100%%, such as \"25%%\"; 100%% allows any", text)
	}
	return share, nil
}

// size is bounds on labels that say how large a type is; none where the pool does
// not say.
func size(annotations map[string]string) (constraint.Requirements, error) {
	var out constraint.Requirements
	for _, m := range []struct {
		annotation, label, want string
		units                   func(string) (int64, error)
	}{
		{api.AnnotationMinCPU, api.LabelCPU, `cores, such as "4"`, cores},
		{api.AnnotationMinMemory, api.LabelMemory, `an amount of memory as AWS lists the type, such as "16Gi"`, mebibytes},
	} {
		text, said := annotations[m.annotation]
		if !said {
			continue
		}
		n, err := m.units(strings.TrimSpace(text))
		if err != nil || n < 1 {
			return nil, &Error{m.annotation, fmt.Errorf("%q is no size: want %s", text, m.want)}
		}
		set, err := constraint.NewSet(constraint.Gt, strconv.FormatInt(n-1, 10))
		if err != nil {
			return nil, &Error{m.annotation, err}
		}
		out = out.And(constraint.Requirement{Key: m.label, Set: set})
	}
	return out, nil
}

// DeleteFirst reports whether drifted nodes of the pool go before the instances in their place
// come, where limits forbid to have both.
func DeleteFirst(annotations map[string]string) (bool, error) {
	text, said := annotations[api.AnnotationDriftAtLimit]
	if said && text != api.DeleteFirst {
		return false, &Error{api.AnnotationDriftAtLimit, fmt.Errorf("%q means nothing: want %q, or no annotation: such nodes wait", text, api.DeleteFirst)}
	}
	return said, nil
}

// DeleteFast reports whether all nodes of the pool go at once when it is deleted.
func DeleteFast(annotations map[string]string) (bool, error) {
	text, said := annotations[api.AnnotationDelete]
	if said && text != api.DeleteFast {
		return false, &Error{api.AnnotationDelete, fmt.Errorf("%q means nothing: want %q, or no annotation: nodes go as budgets allow", text, api.DeleteFast)}
	}
	return said, nil
}

// Rebalance is what follows from a recommendation to replace a spot instance of the pool, as one of
// api's words; an annotation that is not understood is ignored.
func Rebalance(annotations map[string]string) (string, error) {
	switch text, said := annotations[api.AnnotationRebalance]; {
	case !said:
		return api.RebalanceIgnore, nil
	case text == api.RebalanceIgnore, text == api.RebalanceCordon, text == api.RebalanceReplace:
		return text, nil
	default:
		return api.RebalanceIgnore, &Error{api.AnnotationRebalance, fmt.Errorf("%q means nothing: want %q, %q or %q", text, api.RebalanceIgnore, api.RebalanceCordon, api.RebalanceReplace)}
	}
}

// cores rounds up to whole ones.
func cores(text string) (int64, error) {
	cpu, err := quantity.ParseCPU(text)
	return (int64(cpu) + 999) / 1000, err
}

// mebibytes rounds up to whole ones. What is less than one is a number without
// its unit, and none.
func mebibytes(text string) (int64, error) {
	memory, err := resource.ParseQuantity(text)
	if err != nil || memory.Value() < int64(quantity.MiB) {
		return 0, err
	}
	return (memory.Value()-1)/int64(quantity.MiB) + 1, nil
}

// Error says what is wrong with one annotation.
type Error struct {
	Key string // of the annotation
	Err error
}

// Error names the annotation as a field.
func (e *Error) Error() string { return e.Field() + ": " + e.Err.Error() }

// Unwrap returns what is wrong with the value.
func (e *Error) Unwrap() error { return e.Err }

// Field is the path of the annotation in its object.
func (e *Error) Field() string { return "metadata.annotations[" + e.Key + "]" }

// Budgets are how many nodes of a Provisioner may go at once: a number, a percentage, or
// a list as a NodePool's spec.disruption.budgets, as JSON. They are nil where the
// Provisioner does not say.
func Budgets(annotations map[string]string) ([]karpv1.Budget, error) {
	text, said := annotations[api.AnnotationBudgets]
	if !said {
		return nil, nil
	}
	text = strings.TrimSpace(text)
	out := []karpv1.Budget{{Nodes: text}}
	if strings.HasPrefix(text, "[") {
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&out); err != nil {
			return nil, &Error{api.AnnotationBudgets, fmt.Errorf("it is no list of budgets: %w", err)}
		}
	}
	if len(out) == 0 {
		return nil, &Error{api.AnnotationBudgets, errors.New(`it has no budget: want a number of nodes, such as "2", or "10%"`)}
	}
	for _, b := range out {
		if !nodesOfBudget.MatchString(b.Nodes) {
			return nil, &Error{api.AnnotationBudgets, fmt.Errorf("%q is no number of nodes: want one such as \"2\" or \"10%%\"", b.Nodes)}
		}
	}
	return out, nil
}

// nodesOfBudget is the form of a budget's nodes.
var nodesOfBudget = regexp.MustCompile(`^((100|[0-9]{1,2})%|[0-9]+)$`)
