package nodeclass

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/daemok/daemok/internal/expression"
)

// Sizing works out a kubelet's configuration for instance types, where it
// holds expressions in place of amounts. It may be used by several goroutines.
type Sizing struct {
	kubelet      Kubelet
	pods         *expression.Expression // nil: no expression
	kube, system map[string]*expression.Expression
}

// Sizing checks the expressions. The error names the field of the first one
// that is none.
func (k Kubelet) Sizing() (Sizing, error) {
	s := Sizing{kubelet: k}
	var err error
	if k.MaxPodsBy != "" {
		if s.pods, err = expression.Compile(k.MaxPodsBy); err != nil {
			return Sizing{}, fmt.Errorf("kubelet.maxPods: %w", err)
		}
	}
	if s.system, err = compile("systemReserved", k.SystemReserved); err != nil {
		return Sizing{}, err
	}
	if s.kube, err = compile("kubeReserved", k.KubeReserved); err != nil {
		return Sizing{}, err
	}
	return s, nil
}

// compile checks those of the values that are no amounts.
func compile(field string, values map[string]string) (map[string]*expression.Expression, error) {
	out := map[string]*expression.Expression{}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if _, err := ParseAmount(values[key]); err == nil {
			continue
		}
		e, err := expression.Compile(values[key])
		if err != nil {
			return nil, fmt.Errorf("kubelet.%s.%s: %w", field, key, err)
		}
		out[key] = e
	}
	return out, nil
}

// Fixed says that the configuration is the same for every type.
func (s Sizing) Fixed() bool { return s.pods == nil && len(s.kube)+len(s.system) == 0 }

// For returns the configuration for one type, without expressions. MaxPods of
// the variables is how many pods the type runs if nothing is said; amounts
// that are reserved see in its place how many it will run. The error names
// the field whose expression has no amount for the type.
func (s Sizing) For(v expression.Variables) (Kubelet, error) {
	k := s.kubelet
	if s.Fixed() {
		return k, nil
	}
	if s.pods != nil {
		pods, err := s.pods.Pods(v)
		if err != nil {
			return Kubelet{}, fmt.Errorf("kubelet.maxPods: %w", err)
		}
		k.MaxPods, k.MaxPodsBy = &pods, ""
	}
	if k.MaxPods != nil {
		v.MaxPods = *k.MaxPods
	}
	var err error
	if k.SystemReserved, err = evaluate("systemReserved", k.SystemReserved, s.system, v); err != nil {
		return Kubelet{}, err
	}
	if k.KubeReserved, err = evaluate("kubeReserved", k.KubeReserved, s.kube, v); err != nil {
		return Kubelet{}, err
	}
	k.Raw = k.written()
	return k, nil
}

func evaluate(field string, values map[string]string, by map[string]*expression.Expression, v expression.Variables) (map[string]string, error) {
	out := maps.Clone(values)
	for _, key := range slices.Sorted(maps.Keys(by)) {
		amount, err := by[key].Reserved(key, v)
		if err != nil {
			return nil, fmt.Errorf("kubelet.%s.%s: %w", field, key, err)
		}
		out[key] = amount
	}
	return out, nil
}

// written is the document with the amounts that were worked out.
func (k Kubelet) written() map[string]any {
	raw := maps.Clone(k.Raw)
	if k.MaxPods != nil {
		raw["maxPods"] = *k.MaxPods
	}
	for field, values := range map[string]map[string]string{"systemReserved": k.SystemReserved, "kubeReserved": k.KubeReserved} {
		if len(values) > 0 {
			raw[field] = values
		}
	}
	return raw
}

// Reserves says as text what the kubelet keeps: configurations of one class with equal
// texts, and as many pods, are equal.
func (k Kubelet) Reserves() string {
	var words []string
	for _, values := range []map[string]string{k.SystemReserved, k.KubeReserved} {
		for _, key := range slices.Sorted(maps.Keys(values)) {
			words = append(words, key+"="+values[key])
		}
		words = append(words, "")
	}
	return strings.Join(words, ",")
}

// Unsized reports the types that a class could become but for an expression of its kubelet
// settings that has no amount for them. The zero value is for none.
type Unsized struct {
	Types int    // how many
	Of    int    // how many the class could become
	First string // the first of them by name
	Why   error  // that of the first
}
