package scenario

import (
	"errors"
	"fmt"
	"slices"

	"github.com/daemok/daemok/core/cluster"
)

// resolve looks up the waiting pods that instances were launched for.
func resolve(s *cluster.Snapshot) error {
	waiting := byName(s.Waiting)
	find := func(instance string, pods []cluster.Pod) error {
		for i := range pods {
			if pods[i].Shape != nil {
				continue
			}
			pod := waiting[[2]string{pods[i].Namespace, pods[i].Name}]
			if pod == nil {
				return fmt.Errorf("%s is for pod %s, which does not wait: give its shape", instance, podName(pods[i]))
			}
			pods[i] = *pod
		}
		return nil
	}
	var err error
	for i := range s.Nodes {
		err = errors.Join(err, find(s.Nodes[i].Name, s.Nodes[i].LaunchedFor))
	}
	for i := range s.Instances {
		err = errors.Join(err, find(s.Instances[i].Claim, s.Instances[i].LaunchedFor))
	}
	return err
}

func byName(pods []cluster.Pod) map[[2]string]*cluster.Pod {
	out := make(map[[2]string]*cluster.Pod, len(pods))
	for i := range pods {
		out[[2]string{pods[i].Namespace, pods[i].Name}] = &pods[i]
	}
	return out
}

// checkNames rejects what is there twice.
func checkNames(s *cluster.Snapshot) error {
	err := errors.Join(
		unique("waiting pod", s.Waiting, podName), unique("node", s.Nodes, func(n cluster.Node) string { return n.Name }),
		unique("machine", s.Instances, func(m cluster.Instance) string { return m.Claim }),
		unique("quota", s.Quotas, func(q cluster.Quota) string { return q.Name }),
		unique("commitment", commitmentIDs(s), func(id string) string { return id }),
		unique("pool", s.Pools, func(p cluster.Pool) string { return slashed(p.ID.Kind, p.ID.Name) }),
		unique("overlay", sortedNames(s.Overlays), func(name string) string { return name }),
		unique("daemon", s.Daemons, func(d cluster.Daemon) string { return slashed(d.Namespace, d.Name) }),
		unique("buffer", s.Buffers, func(b cluster.Buffer) string { return slashed(b.Namespace, b.Name) }),
		unique("request", s.Requested,
			func(r cluster.ProvisioningRequest) string { return slashed(r.Namespace, r.Name) }))
	for i := range s.Nodes {
		err = errors.Join(err, unique("pod of node "+s.Nodes[i].Name, s.Nodes[i].Pods, podName))
	}
	for _, pool := range s.Pools {
		if pool.Catalogue != nil {
			err = errors.Join(err, unique("kind", pool.Catalogue.InstanceTypes, func(k cluster.InstanceType) string { return k.Name }))
		}
	}
	return err
}

// commitmentIDs are those of Reserved Instances and Savings Plans, which are in the order in which they were given.
func commitmentIDs(s *cluster.Snapshot) (ids []string) {
	for _, r := range s.Commitments.Reserved {
		ids = append(ids, r.ID)
	}
	for _, p := range s.Commitments.Plans {
		ids = append(ids, p.ID)
	}
	slices.Sort(ids)
	return ids
}

// sortedNames are names of overlays, which are in the order in which they count.
func sortedNames(overlays []cluster.Overlay) []string {
	names := mapped(overlays, func(o cluster.Overlay) string { return o.Name })
	slices.Sort(names)
	return names
}

func podName(p cluster.Pod) string { return slashed(p.Namespace, p.Name) }

// unique rejects two neighbours of one name in a sorted list.
func unique[T any](what string, list []T, name func(T) string) error {
	for i := 1; i < len(list); i++ {
		if name(list[i]) == name(list[i-1]) {
			return fmt.Errorf("%s %s is there twice", what, name(list[i]))
		}
	}
	return nil
}
