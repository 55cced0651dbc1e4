package mark

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api"
)

// OnDemandMinimum is how many nodes of a NodePool, or pods of a workload, are to be on demand at the least: "2", or
// "30%", which is rounded up. Where the annotations do not say, or say "0", it is none.
func OnDemandMinimum(annotations map[string]string) (cluster.Minimum, error) {
	text, said := annotations[api.AnnotationOnDemandMinimum]
	if !said {
		return cluster.Minimum{}, nil
	}
	digits, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 || n > onDemandMost || percent && n > 100 {
		err := fmt.Errorf("%q: want a number such as \"2\", or a share such as \"30%%\"", text)
		return cluster.Minimum{}, &Error{api.AnnotationOnDemandMinimum, err}
	}
	return cluster.Minimum{Least: n, Percent: percent && n > 0}, nil
}

// onDemandMost is more nodes than any NodePool has: what is above it is a slip of the pen.
const onDemandMost = 1_000_000
