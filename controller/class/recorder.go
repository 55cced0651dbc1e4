package class

import (
	"cmp"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	"github.com/daemok/daemok/kube/api/condition"
	"github.com/daemok/daemok/observe"
)

// quietFor is how long a new class may be without answers before an event says so: that is
// how every class begins.
const quietFor = 10 * time.Second

// report says what keeps the class from being ready, once per change: a warning event on it
// and a line in the log.
func (r *Reconciler) report(c, before *Subject) {
	reported := r.records.of(c.GetName()).reported
	young := r.Now().Sub(c.GetCreationTimestamp().Time) < quietFor
	for _, kind := range c.ReadyDependsOn() {
		is := condition.Get(c, kind)
		switch {
		case is == nil || is.Status == metav1.ConditionTrue:
			delete(reported, kind)
		case kind == awsv1.ClassValidationSucceeded && waits(c), is.Status == metav1.ConditionUnknown && young:
		default:
			r.reportOnce(c, reported, kind, is)
		}
	}
	if condition.IsTrue(c, awsv1.ClassReady) && !condition.IsTrue(before, awsv1.ClassReady) {
		r.Log.Info("class is ready", "class", c.ID())
	}
}

// waits reports whether the class is judged later, when all of its parts are
// found: each of those speaks for itself.
func waits(c *Subject) bool {
	judged := condition.Get(c, awsv1.ClassValidationSucceeded)
	return judged.Reason == awsv1.ReasonDependenciesNotReady &&
		slices.ContainsFunc(lookedUp(c), func(kind string) bool { return !condition.IsTrue(c, kind) })
}

func (r *Reconciler) reportOnce(c *Subject, reported map[string]string, kind string, is *metav1.Condition) {
	news, message := string(is.Status)+" "+is.Reason, cmp.Or(c.ways[kind], is.Message)
	if is.Status == metav1.ConditionFalse {
		news += " " + message // without an answer the text differs every time
	}
	if reported[kind] == news {
		return
	}
	reported[kind] = news
	r.Log.Warn("class is not ready", "class", c.ID(), "condition", kind, "reason", is.Reason, "message", message)
	r.publish(c, is.Reason, message)
}

// warn reports something doubtful in a field, once until the text changes.
func (r *Reconciler) warn(c *Subject, field, text string) {
	reported, text := r.records.of(c.GetName()).reported, c.InWords(text)
	if reported[field] == text {
		return
	}
	reported[field] = text
	r.publish(c, "SpecWarning", text)
}

func (r *Reconciler) publish(c *Subject, reason, text string) {
	r.Events.Publish(observe.Event{About: c.Object, Key: c.ID(), Warning: true, Reason: reason, Message: text})
}
