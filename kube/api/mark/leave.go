package mark

import (
	"fmt"
	"strings"
	"time"

	"github.com/daemok/daemok/kube/api"
)

// delayMax is the longest that target groups of AWS may take to deregister.
const delayMax = time.Hour

// Leave is how pods are to leave a node that goes away.
type Leave struct {
	KeepReady bool // the last ready one of a Service stays until another is ready
	Surge     bool // where it is the only replica wanted, a second comes first
}

// Over reads what annotations of a pod, or of a pool, say of leaving. What they
// do not say, or not in a way that is understood, is as before.
func (l Leave) Over(annotations map[string]string) (Leave, error) {
	keep, err := flag(annotations, api.AnnotationKeepReady, l.KeepReady)
	surge, wrong := flag(annotations, api.AnnotationSurge, l.Surge)
	if err == nil {
		err = wrong
	}
	return Leave{KeepReady: keep, Surge: surge}, err
}

func flag(annotations map[string]string, key string, otherwise bool) (bool, error) {
	switch text, said := annotations[key]; {
	case !said:
		return otherwise, nil
	case text == "true", text == "false":
		return text == "true", nil
	default:
		return otherwise, &Error{key, fmt.Errorf(`%q is neither "true" nor "false"`, text)}
	}
}

// DeregistrationDelay is how long load balancers go on sending after they were notified that a node
// leaves; zero where nothing is said that is understood.
func DeregistrationDelay(annotations map[string]string) (time.Duration, error) {
	text, said := annotations[api.AnnotationDeregistration]
	if !said {
		return 0, nil
	}
	delay, err := time.ParseDuration(strings.TrimSpace(text))
	if err != nil || delay < 0 || delay > delayMax {
		return 0, &Error{api.AnnotationDeregistration, fmt.Errorf(`%q is no delay: want a length of time up to an hour, such as "90s" or "5m"`, text)}
	}
	return delay, nil
}

// Misread is what annotations of a pod, or of a pool, say of leaving and is not
// understood; nil where there is nothing.
func Misread(annotations map[string]string) []error {
	var out []error
	if _, err := (Leave{}).Over(annotations); err != nil {
		out = append(out, err)
	}
	if _, err := DeregistrationDelay(annotations); err != nil {
		out = append(out, err)
	}
	return out
}
