package mark

import (
	"fmt"
	"regexp"
	"strconv"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api"
)

// Headroom is the share of what pods request for which a CapacityBuffer keeps capacity.
type Headroom struct {
	Percent float64
	Pool    cluster.PoolID // whose nodes' pods count; the zero value: the pods of all nodes
}

// headroomPercentMost is ten times what pods request: more is a slip of the pen.
const headroomPercentMost = 1000

var headroomForm = regexp.MustCompile(`^(\d+(?:\.\d+)?)%(?: of (NodePool|Provisioner)/(\S+))?$`)

// HeadroomOf is what a CapacityBuffer's annotation says, such as "10%" or "10% of NodePool/default"; nil: it has none.
func HeadroomOf(annotations map[string]string) (*Headroom, error) {
	text, said := annotations[api.AnnotationHeadroom]
	if !said {
		return nil, nil //nolint:nilnil // it has none
	}
	parts := headroomForm.FindStringSubmatch(text)
	if parts == nil {
		return nil, &Error{api.AnnotationHeadroom, fmt.Errorf("%q: want a share such as 10%%, or 10%% of NodePool/default", text)}
	}
	percent, err := strconv.ParseFloat(parts[1], 64)
	if err != nil || percent > headroomPercentMost {
		return nil, &Error{api.AnnotationHeadroom, fmt.Errorf("%q: want %d%% at most", text, headroomPercentMost)}
	}
	return &Headroom{Percent: percent, Pool: cluster.PoolID{Kind: parts[2], Name: parts[3]}}, nil
}
