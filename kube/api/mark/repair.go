package mark

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api"
)

// leastSick is the shortest time after which a node may be repaired: kubelets are
// silent for as long while they are restarted.
const leastSick = time.Minute

// mostUsually is how many per cent of the nodes may be unhealthy while any is repaired.
const mostUsually = 20

// UsualRepair is when nodes are repaired whose pools say nothing else. The conditions
// beside Ready are those that the EKS node monitoring agent sets.
func UsualRepair() cluster.Repair {
	r := cluster.Repair{Most: mostUsually, Percent: true}
	set(&r, "Ready", "False", 30*time.Minute)
	set(&r, "Ready", "Unknown", 30*time.Minute)
	set(&r, "AcceleratedHardwareReady", "False", 10*time.Minute)
	for _, name := range []string{"StorageReady", "NetworkingReady", "KernelReady", "ContainerRuntimeReady"} {
		set(&r, name, "False", 30*time.Minute)
	}
	return r
}

// Repair is when nodes of the pool are repaired; otherwise is returned where the pool
// does not say. What it says comes on top of what is usual.
func Repair(annotations map[string]string, otherwise cluster.Repair) (cluster.Repair, error) {
	text, said := annotations[api.AnnotationRepair]
	if !said {
		return otherwise, nil
	}
	r, err := readRepair(text)
	if err != nil {
		return cluster.Repair{}, &Error{api.AnnotationRepair, err}
	}
	return r, nil
}

func readRepair(text string) (cluster.Repair, error) {
	words := strings.FieldsFunc(text, func(c rune) bool { return c == ',' || c == ' ' || c == '\n' || c == '\t' })
	switch {
	case slices.Equal(words, []string{api.RepairOff}):
		return cluster.Repair{}, nil
	case len(words) == 0:
		return cluster.Repair{}, fmt.Errorf("it is empty: want %q, %q, or words such as %q", api.RepairOn, api.RepairOff, "Ready=15m, Initialized=20m, most=30%")
	}
	slices.SortStableFunc(words, func(a, b string) int { return cmp.Compare(strings.Count(a, ":"), strings.Count(b, ":")) }) // of one status last
	r, named := UsualRepair(), map[string]bool{}
	for _, word := range words {
		if word == api.RepairOn {
			continue
		}
		key, value, found := strings.Cut(word, "=")
		if !found || key == "" {
			return r, fmt.Errorf("%q means nothing: want %q or %q alone, Condition=30m, Condition:Status=30m, Condition=Never or most=20%%", word, api.RepairOn, api.RepairOff)
		}
		if named[key] {
			return r, fmt.Errorf("%s is there twice", key)
		}
		named[key] = true
		if err := readRepairWord(&r, key, value); err != nil {
			return r, err
		}
	}
	return r, nil
}

func readRepairWord(r *cluster.Repair, key, value string) (err error) {
	if key == "most" {
		r.Most, r.Percent, err = readMost(value)
		return err
	}
	after := time.Duration(0) // never
	if value != "Never" {
		if after, err = time.ParseDuration(value); err != nil || after < leastSick {
			return fmt.Errorf("%s=%s: want a length of time of at least %s, such as 30m, or Never", key, value, leastSick)
		}
	}
	name, status, one := strings.Cut(key, ":")
	statuses := []string{status}
	switch {
	case len(validation.IsQualifiedName(name)) > 0:
		return fmt.Errorf("%s=%s: %q is no name of a condition", key, value, name)
	case name == cluster.Initialized && one:
		return fmt.Errorf("%s=%s: a node is initialized or not: want %s=%s", key, value, name, value)
	case !one && name == "Ready":
		statuses = []string{"False", "Unknown"}
	case !one:
		statuses = []string{"False"}
	case status != "True" && status != "False" && status != "Unknown":
		return fmt.Errorf("%s=%s: %q is no status: want True, False or Unknown", key, value, status)
	}
	for _, s := range statuses {
		set(r, name, s, after)
	}
	return nil
}

// readMost reads how many nodes may be unhealthy.
func readMost(text string) (most int64, percent bool, err error) {
	number, percent := strings.CutSuffix(text, "%")
	most, err = strconv.ParseInt(number, 10, 64)
	if err != nil || most < 1 || percent && most > 100 {
		return 0, false, fmt.Errorf("most=%s: want a number of nodes, at least 1, or a share of them, 1%% to 100%%; %q alone repairs none", text, api.RepairOff)
	}
	return most, percent, nil
}

// set puts a rule in its place, or takes it away where it says never.
func set(r *cluster.Repair, condition, status string, after time.Duration) {
	r.Rules = slices.DeleteFunc(r.Rules, func(x cluster.RepairRule) bool { return x.Condition == condition && x.Status == status })
	if after > 0 {
		r.Rules = append(r.Rules, cluster.RepairRule{Condition: condition, Status: status, After: after})
	}
	slices.SortFunc(r.Rules, func(a, b cluster.RepairRule) int {
		return cmp.Or(cmp.Compare(a.Condition, b.Condition), cmp.Compare(a.Status, b.Status))
	})
}
