package validate

import (
	"fmt"
	"regexp"
	"time"
	_ "time/tzdata" // so that what a zone is called does not depend on the host

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/kube/api/daemok/v1alpha1"
)

// DisruptionPolicy checks what a policy says by itself; whether the pools that it names are there
// is for the caller.
func DisruptionPolicy(p *v1alpha1.DisruptionPolicy) []Finding {
	var f findings
	if s := p.Spec.NodePools; s != nil && s.Selector != nil {
		if _, err := metav1.LabelSelectorAsSelector(s.Selector); err != nil {
			f.refuse("spec.nodePools.selector", "%v", err)
		}
	}
	for i, w := range p.Spec.Windows {
		f.window(fmt.Sprintf("spec.windows[%d]", i), w)
	}
	if b := p.Spec.Payback; b != nil {
		f.words("spec.payback.podCost", b.PodCost, podCost, `an amount of US dollars, such as "0.01"`)
		f.words("spec.payback.minSavings", b.MinSavings, share, `a whole percentage from "1%" to "100%"`)
	}
	if b := p.Spec.Breaker; b != nil {
		f.words("spec.breaker.nodes", b.Nodes, number, `a number from "1" on, or a whole percentage from "1%" to "100%"`)
		f.hours("spec.breaker.within", b.Within)
	}
	if len(p.Spec.Windows) == 0 && p.Spec.Payback == nil && p.Spec.Breaker == nil {
		f.warn("spec", "nothing is asked for, set windows, payback or breaker")
	}
	return f.all
}

// What admission asks of these too; manifests that are merely planned with do not
// pass it.
var (
	podCost = regexp.MustCompile(`^[0-9]{1,4}(\.[0-9]{1,6})?$`)
	share   = regexp.MustCompile(`^([1-9][0-9]?|100)%$`)
	number  = regexp.MustCompile(`^([1-9][0-9]{0,5}|([1-9][0-9]?|100)%)$`)
)

// words checks a text that may be left out.
func (f *findings) words(field, text string, form *regexp.Regexp, want string) {
	if text != "" && !form.MatchString(text) {
		f.refuse(field, "%q is not understood, write %s", text, want)
	}
}

func (f *findings) window(field string, w v1alpha1.Window) {
	if _, err := time.LoadLocation(w.TimeZone); err != nil || w.TimeZone == "Local" {
		f.refuse(field+".timeZone", "%q is no time zone, use an IANA name such as Europe/Berlin, or leave it out for UTC", w.TimeZone)
	}
	if _, err := time.Parse("15:04", w.Start); err != nil {
		f.refuse(field+".start", "%q is no time of day, write hour and minute, such as 22:30", w.Start)
	}
	f.hours(field+".duration", w.Duration)
}

func (f *findings) hours(field, text string) {
	if d, err := time.ParseDuration(text); err != nil || d <= 0 {
		f.refuse(field, "%q is no length of time, write hours and minutes, such as 1h30m", text)
	}
}
