package scenario

import (
	"fmt"
	"strconv"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/quantity"
)

// countMax bounds what one count= may stand for.
const countMax = 10_000

func (p *parser) snapshot(w []string) error {
	if len(w) == 0 || len(w) > 2 {
		return fmt.Errorf("want a revision and a time")
	}
	revision, err := strconv.ParseUint(w[0], 10, 64)
	if err != nil {
		return fmt.Errorf("revision %s: want a whole number", w[0])
	}
	p.out.Revision = revision
	if len(w) == 2 {
		p.out.Now, err = readTime(w[1])
	}
	return err
}

func (p *parser) shape(w []string) error {
	name, fields, err := named(w)
	if err != nil {
		return err
	}
	if p.shapes[name] != nil {
		return fmt.Errorf("%s is there twice", name)
	}
	s := &cluster.Shape{Requests: quantity.Resources{Pods: 1}}
	for _, word := range fields {
		if err := readShapeField(s, word); err != nil {
			return err
		}
	}
	p.shapes[name] = s
	p.enter(parent{noun: "shape", shape: s, labels: &s.Labels})
	return nil
}

func readShapeField(s *cluster.Shape, word string) error {
	key, value, _, err := pair(word)
	if err != nil {
		return err
	}
	switch key {
	case "namespace":
		s.Namespace = value
	case "unable":
		s.Unable = value
	case "priority":
		s.Priority, err = readInt32(key, value)
	default:
		s.Requests, err = readAmount(s.Requests, word)
	}
	return err
}

func (p *parser) tolerate(w []string) error {
	if len(w) == 0 || len(w) > 2 || len(w) == 2 && w[1] != "exists" {
		return fmt.Errorf("want key=value:effect")
	}
	t, hasValue, err := readTaint(w[0])
	if err != nil {
		return err
	}
	p.parent.shape.Tolerations = append(p.parent.shape.Tolerations, constraint.Toleration{
		Key: t.Key, Value: t.Value, Effect: t.Effect, Exists: !hasValue || len(w) == 2})
	return nil
}

func (p *parser) waiting(w []string) error {
	pod, count, err := p.readPod(w)
	if err != nil {
		return err
	}
	if count == 0 {
		p.out.Waiting = append(p.out.Waiting, pod)
	}
	for i := range count {
		next := pod
		next.Name = fmt.Sprintf("%s-%d", pod.Name, i+1)
		p.out.Waiting = append(p.out.Waiting, next)
	}
	return nil
}

func (p *parser) pod(w []string) error {
	if p.parent.node == nil {
		return fmt.Errorf("want it below a node")
	}
	pod, count, err := p.readPod(w)
	if err == nil && count != 0 {
		err = fmt.Errorf("count is for waiting pods")
	}
	p.parent.node.Pods = append(p.parent.node.Pods, pod)
	return err
}

func (p *parser) expected(w []string) error {
	pod, count, err := p.readPod(w)
	if err == nil && count != 0 {
		err = fmt.Errorf("count is for waiting pods")
	}
	p.out.Expected = append(p.out.Expected, pod)
	return err
}

func (p *parser) launchedFor(w []string) error {
	var list *[]cluster.Pod
	var by wanted
	switch m, n := p.parent.machine, p.parent.node; {
	case m != nil:
		list, by.machine = &m.LaunchedFor, m.Claim
	case n != nil:
		list, by.node = &n.LaunchedFor, n.Name
	default:
		return fmt.Errorf("want it below a machine or a node")
	}
	if len(w) == 1 {
		namespace, name, err := readSlashed(w[0])
		by.pod, by.at = cluster.Pod{Namespace: namespace, Name: name}, len(*list)
		p.wanted = append(p.wanted, by)
		*list = append(*list, by.pod)
		return err
	}
	pod, _, err := p.readPod(w)
	*list = append(*list, pod)
	return err
}

func (p *parser) daemon(w []string) error {
	pod, _, err := p.readPod(w)
	p.out.Daemons = append(p.out.Daemons, cluster.Daemon{Namespace: pod.Namespace, Name: pod.Name, Shape: pod.Shape})
	return err
}

func (p *parser) readPod(w []string) (pod cluster.Pod, count int, err error) {
	if len(w) == 0 {
		return pod, 0, fmt.Errorf("want namespace/name")
	}
	if pod.Namespace, pod.Name, err = readSlashed(w[0]); err != nil {
		return pod, 0, err
	}
	for _, word := range w[1:] {
		key, value, _, err := pair(word)
		if err != nil {
			return pod, 0, err
		}
		if key == "count" {
			if count, err = readCount(value); err != nil {
				return pod, 0, err
			}
			continue
		}
		if err := p.readPodField(&pod, key, value); err != nil {
			return pod, 0, err
		}
	}
	if pod.Shape == nil {
		return pod, 0, fmt.Errorf("%s: shape= is missing", podName(pod))
	}
	return pod, count, nil
}

func (p *parser) readPodField(pod *cluster.Pod, key, value string) (err error) {
	switch key {
	case "shape":
		if pod.Shape = p.shapes[value]; pod.Shape == nil {
			err = fmt.Errorf("no shape %q above", value)
		}
	case "uid":
		pod.UID = value
	case "owner":
		pod.Owner = value
	case "created":
		pod.CreatedAt, err = readTime(value)
	case "on":
		pod.Node = value
	case "daemon":
		pod.Daemon = true
	case "mirror":
		pod.Mirror = true
	case "ending":
		pod.Ending = true
	case "do-not-disrupt":
		pod.DoNotDisrupt = true
	case "do-not-evict":
		pod.DoNotEvict = true
	case "returns":
		pod.Returns = true
	case "one-off":
		pod.OneOff = value
	case "retries":
		pod.Retries, err = readCount(value)
	case "completes":
		pod.Completes = true
	case "stays":
		pod.Stays = true
	case "unready":
		pod.Unready = true
	case "pending":
		pod.Pending = true
	case "started":
		pod.StartedAt, err = readTime(value)
	case "protected-until":
		pod.ProtectedUntil, err = readTime(value)
	case "moved":
		pod.Moved, err = readCount(value)
	case "moved-at":
		pod.MovedAt, err = readTime(value)
	case "grace":
		pod.Grace, err = time.ParseDuration(value)
	case "deletion-cost":
		pod.DeletionCost, err = readInt32(key, value)
	case "guards":
		pod.PDBs = value
	case "kept":
		pod.Kept = true
	case "uprooted":
		pod.Uprooted = true
	case "last-of":
		pod.LastOf = value
	case "holds":
		pod.Holds, err = readHeld(value)
	default:
		err = fmt.Errorf("no field %q", key)
	}
	return err
}

// readHeld reads what a pod holds. A pod takes one place, which is not said.
func readHeld(text string) (*quantity.Resources, error) {
	out := quantity.Resources{Pods: 1}
	list, err := words(text)
	if err != nil {
		return nil, err
	}
	for _, word := range list {
		if out, err = readAmount(out, word); err != nil {
			return nil, err
		}
	}
	return &out, nil
}

func readCount(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > countMax {
		return 0, fmt.Errorf("count %s: want a number from 1 to %d", text, countMax)
	}
	return n, nil
}

func readTime(text string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil || t.UTC().Year() < 1 || t.UTC().Year() > 9999 {
		return time.Time{}, fmt.Errorf("time %s: want it as in 2026-01-31T12:00:00Z", text)
	}
	return t.UTC(), nil
}
