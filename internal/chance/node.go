package chance

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/quantity"
)

// room is what every node has for pods.
var room = quantity.Resources{CPU: 4000, Memory: 16 * quantity.GiB, Pods: 30}

// node is one that is ready, without pods.
func node(r *rand.Rand, i int, s *cluster.Snapshot) cluster.Node {
	name := fmt.Sprintf("n%d", i)
	return cluster.Node{Name: name, Claim: fmt.Sprintf("c%d", i), Pool: s.Pools[r.IntN(len(s.Pools))].ID, Price: 100000, Ready: true, Allocatable: room, Capacity: room,
		CreatedAt: at.Add(-time.Duration(i+1) * time.Hour), Attachable: []cluster.Attachable{{Driver: "disk", Count: 2}},
		Labels: constraint.NewLabels(map[string]string{cluster.LabelZone: zones[r.IntN(3)], cluster.LabelArch: "amd64", cluster.LabelHostname: name,
			cluster.LabelCapacityType: []string{"spot", "on-demand"}[r.IntN(2)], cluster.LabelInstanceType: "t00"})}
}

// inhabit puts pods of all sorts on a node.
func inhabit(r *rand.Rand, i int, n *cluster.Node, s *cluster.Snapshot, shapes []*cluster.Shape) {
	for j := range r.IntN(6) {
		p := cluster.Pod{Namespace: "d", Name: fmt.Sprintf("on-%d-%d", i, j), Node: n.Name, Owner: fmt.Sprint("Deployment/", r.IntN(4)), Shape: shapes[r.IntN(len(shapes))],
			Returns: !n.Deleting && r.IntN(10) > 0, Protection: cluster.Protection{DoNotDisrupt: r.IntN(20) == 0}, CreatedAt: at.Add(time.Duration(r.IntN(3)) * time.Minute)}
		p.Ending = !p.Returns && r.IntN(2) == 0
		if (i+j)%4 == 0 { // the next one in its place asks for more
			p.Holds = &quantity.Resources{CPU: p.Shape.Requests.CPU / 4, Memory: p.Shape.Requests.Memory, Pods: 1}
		}
		n.Pods = append(n.Pods, p)
	}
	if len(s.Daemons) > 0 && r.IntN(3) > 0 {
		n.Pods = append(n.Pods, cluster.Pod{Namespace: "d", Name: fmt.Sprintf("proxy-%d", i), Node: n.Name, Shape: s.Daemons[0].Shape, Daemon: true})
	}
}
