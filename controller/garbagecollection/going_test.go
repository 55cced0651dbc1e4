package garbagecollection

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

// A definition that is deleted takes all NodeClaims with it. That is a mistake until a user has said how many
// instances may go, however few there are; instances that the cloud interrupts are drained all the same.
func TestClaimsWhoseDefinitionIsDeletedAreHeld(t *testing.T) {
	tests := map[string]struct {
		going     bool
		claims    int
		confirmed string
		ends      bool // the cloud takes the instance back
		unread    error
		held      bool
	}{
		"one of many is deleted by itself":  {claims: 9},
		"the definition is deleted":         {going: true, claims: 9, held: true},
		"there is one alone":                {going: true, claims: 1, held: true},
		"that many may go":                  {going: true, claims: 9, confirmed: "9"},
		"fewer may go":                      {going: true, claims: 9, confirmed: "8", held: true},
		"the cloud takes the instance back": {going: true, claims: 9, ends: true},
		"the definition cannot be read":     {claims: 9, unread: errors.New("it timed out"), held: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			losing(p, 0, tt.claims)
			if tt.confirmed != "" {
				p.confirm(tt.confirmed)
			}
			p.c.Going = func(context.Context) (bool, error) { return tt.going, tt.unread }
			c := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c-i-0"}}
			if tt.ends {
				c.Annotations = map[string]string{api.AnnotationEnds: start.Add(2 * time.Minute).Format(time.RFC3339)}
			}
			held, err := p.c.HoldsClaim(t.Context(), c)
			if held != tt.held || !errors.Is(err, tt.unread) {
				t.Errorf("held %v, %v; want %v, %v", held, err, tt.held, tt.unread)
			}
			said := len(p.heard.events) == 1 && strings.Contains(p.heard.events[0].Message, "--from-literal=terminate=")
			if want := tt.held && tt.unread == nil; said != want {
				t.Errorf("it says %v, want an event: %v", p.heard.events, want)
			}
		})
	}
}
