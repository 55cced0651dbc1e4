package mark_test

import (
	"testing"
	"time"

	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/mark"
)

func TestLeaveOfAPodGoesOverThatOfItsPool(t *testing.T) {
	pool := mark.Leave{KeepReady: true}
	tests := map[string]struct {
		annotations map[string]string
		want        mark.Leave
		says        string
	}{
		"says nothing":       {nil, pool, ""},
		"asks for more":      {map[string]string{api.AnnotationSurge: "true"}, mark.Leave{KeepReady: true, Surge: true}, ""},
		"asks for less":      {map[string]string{api.AnnotationKeepReady: "false"}, mark.Leave{}, ""},
		"cannot be made out": {map[string]string{api.AnnotationKeepReady: "no"}, pool, `metadata.annotations[daemok.sh/keep-one-ready]: "no" is neither`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got, err := pool.Over(tt.annotations); got != tt.want || !speaks(err, tt.says) {
				t.Errorf("Over(%v) = %+v, %v; want %+v, error with %q", tt.annotations, got, err, tt.want, tt.says)
			}
		})
	}
}

func TestDeregistrationDelay(t *testing.T) {
	tests := map[string]struct {
		text string
		want time.Duration
		says string
	}{
		"is a length of time":                    {"90s", 90 * time.Second, ""},
		"may be nothing":                         {"0s", 0, ""},
		"has a unit":                             {"300", 0, `"300" is no delay`},
		"is not negative":                        {"-5m", 0, "is no delay"},
		"is no longer than load balancers allow": {"61m", 0, "up to an hour"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := mark.DeregistrationDelay(map[string]string{api.AnnotationDeregistration: tt.text})
			if got != tt.want || !speaks(err, tt.says) {
				t.Errorf("DeregistrationDelay(%q) = %v, %v; want %v, error with %q", tt.text, got, err, tt.want, tt.says)
			}
		})
	}
}
