package class

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/cloud/aws/nodeclass"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	"github.com/daemok/daemok/kube/api/condition"
)

// toTheLetter are messages that alerts match: the way out is in the event and in the
// class's Ready condition.
var toTheLetter = []string{nodeclass.NoSubnetMatches, nodeclass.NoSecurityGroupMatches, nodeclass.NoAMIMatches}

// missing sets the condition for what was not found. An EC2NodeClass says it to the letter.
func (r *Reconciler) missing(c *Subject, kind string, err *nodeclass.MissingError) {
	text := c.InWords(err.Text)
	if err.Letter == "" || c.Kind.Name != KindEC2NodeClass {
		condition.SetFalse(c, kind, err.Reason, text, r.Now())
		return
	}
	if c.ways == nil {
		c.ways = map[string]string{}
	}
	c.ways[kind] = text
	condition.SetFalse(c, kind, err.Reason, err.Letter, r.Now())
}

// wayFollows stands in Ready's message between the conditions that are in the way and what
// helps.
const wayFollows = ": "

// explain adds the ways out to the Ready condition.
func (r *Reconciler) explain(c *Subject) {
	var ways []string
	for _, kind := range c.ReadyDependsOn() {
		if way := c.ways[kind]; way != "" {
			ways = append(ways, way)
		}
	}
	ready := condition.Get(c, awsv1.ClassReady)
	if len(ways) == 0 || ready == nil {
		return
	}
	condition.Set(c, awsv1.ClassReady, ready.Status, ready.Reason, ready.Message+wayFollows+strings.Join(ways, "; "), r.Now())
}

// wayOut is the message of a condition, or what the class's Ready says beyond it where it
// is one to the letter.
func wayOut(message string, ready *metav1.Condition) string {
	if _, way, found := strings.Cut(ready.Message, wayFollows); found && slices.Contains(toTheLetter, message) {
		return way
	}
	return message
}
