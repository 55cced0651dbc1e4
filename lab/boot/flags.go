package boot

import (
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// applyFlags lays kubelet flags over what configuration files said. Label
// flags add up; every other flag replaces what was there. Flags that do not
// change what the cluster sees of the node are skipped.
func applyFlags(s *Settings, flags []string) error {
	for i := 0; i < len(flags); i++ {
		name, value, joined := strings.Cut(flags[i], "=")
		if !strings.HasPrefix(name, "--") {
			continue
		}
		if !joined && i+1 < len(flags) && !strings.HasPrefix(flags[i+1], "-") {
			i++
			value = flags[i]
		}
		if err := applyFlag(s, name, strings.Trim(value, `"'`)); err != nil {
			return fmt.Errorf("kubelet flag %s: %w", name, err)
		}
	}
	return nil
}

func applyFlag(s *Settings, name, value string) (err error) {
	switch name {
	case "--node-labels":
		var labels map[string]string
		if labels, err = pairs(value, "="); err == nil {
			s.Labels = layer(s.Labels, labels)
		}
	case "--register-with-taints":
		s.Taints, err = parseTaints(value)
	case "--max-pods":
		s.MaxPods, err = parseInt32(value)
	case "--pods-per-core":
		s.PodsPerCore, err = parseInt32(value)
	case "--cluster-dns":
		s.ClusterDNS = strings.Split(value, ",")
	case "--kube-reserved":
		s.KubeReserved, err = pairs(value, "=")
	case "--system-reserved":
		s.SystemReserved, err = pairs(value, "=")
	case "--eviction-hard":
		s.EvictionHard, err = pairs(value, "<")
	}
	return err
}

func parseInt32(text string) (int32, error) {
	n, err := strconv.ParseInt(text, 10, 32)
	return int32(n), err
}

// pairs reads "a=1,b=2", with the given sign for "=". The result is never nil.
func pairs(text, sign string) (map[string]string, error) {
	out := map[string]string{}
	for _, pair := range strings.Split(text, ",") {
		if pair = strings.TrimSpace(pair); pair == "" {
			continue
		}
		key, value, ok := strings.Cut(pair, sign)
		if !ok {
			return nil, fmt.Errorf("malformed pair %q, expect key%svalue", pair, sign)
		}
		out[strings.TrimSpace(key)] = strings.TrimSpace(value)
	}
	return out, nil
}

// parseTaints reads "key=value:Effect,key:Effect".
func parseTaints(text string) ([]corev1.Taint, error) {
	var out []corev1.Taint
	for _, one := range strings.Split(text, ",") {
		if one = strings.TrimSpace(one); one == "" {
			continue
		}
		taint, err := parseTaint(one)
		if err != nil {
			return nil, err
		}
		out = append(out, taint)
	}
	return out, nil
}

func parseTaint(text string) (corev1.Taint, error) {
	head, effect, ok := strings.Cut(text, ":")
	if !ok {
		return corev1.Taint{}, fmt.Errorf("invalid taint spec: %q", text)
	}
	key, value, _ := strings.Cut(head, "=")
	taint := corev1.Taint{Key: key, Value: value, Effect: corev1.TaintEffect(effect)}
	switch taint.Effect {
	case corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute:
		return taint, nil
	}
	return corev1.Taint{}, fmt.Errorf("invalid taint effect %q in %q", effect, text)
}
