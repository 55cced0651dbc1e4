// Package review asks the API server whose tokens browsers have, and whether these users may see the pages.
//
// It promises to send no token anywhere else, to keep none, to ask again about each within a minute, and to ask about
// tokens that it has not found good at a limited pace, which keeps no one out who is signed in. It decides nothing itself:
// RBAC does.
package review

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	authentication "k8s.io/client-go/kubernetes/typed/authentication/v1"
	authorization "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/client-go/util/flowcontrol"

	"github.com/daemok/daemok/ui/web"
)

// Path is the path that a user must be allowed to get: a nonResourceURL of RBAC, which is served by no API server.
const Path = "/daemok/web"

// How long an answer is used again, and how many are kept. A page that is open asks every ten seconds, so that each token
// is reviewed within a minute.
const (
	allowedFor = 50 * time.Second
	refusedFor = 5 * time.Second
	keptMost   = 1000
)

// How many tokens that were not good before are reviewed a second, and at once: after a start these are all. And for how
// long a review may take.
const (
	perSecond = 5
	atOnce    = 100
	reviewFor = 10 * time.Second
)

// ErrMany says that so many tokens are tried that this one has to wait.
var ErrMany = errors.New("too many tokens that are not known are being tried: wait a few seconds, and try again")

// Reviewer reviews tokens at an API server. It is safe for concurrent use.
type Reviewer struct {
	tokens authentication.TokenReviewInterface
	access authorization.SubjectAccessReviewInterface
	now    func() time.Time
	pace   flowcontrol.RateLimiter // of tokens that were not good before
	once   singleflight.Group      // a page asks for much at once

	mu      sync.Mutex
	good    kept
	refused kept
}

// New makes a reviewer.
func New(tokens authentication.TokenReviewInterface, access authorization.SubjectAccessReviewInterface,
	now func() time.Time) *Reviewer {
	return &Reviewer{
		tokens: tokens, access: access, now: now, pace: flowcontrol.NewTokenBucketRateLimiter(perSecond, atOnce),
		good: kept{}, refused: kept{},
	}
}

// hashed is a token that cannot be read back.
type hashed [sha256.Size]byte

// kept are answers by token.
type kept map[hashed]answer

// answer is what was found of a token, for as long as that is used.
type answer struct {
	err   error
	until time.Time
}

// put keeps an answer, and where there are too many only those that are used still.
func (k kept) put(token hashed, a answer, now time.Time) {
	if len(k) >= keptMost {
		maps.DeleteFunc(k, func(_ hashed, old answer) bool { return !now.Before(old.until) })
	}
	if len(k) >= keptMost {
		clear(k)
	}
	k[token] = a
}

// Review returns nil where the user of the token may see the pages. An error wraps web.ErrUnknown or web.ErrForbidden,
// or says what the API server answered and what the controller lacks; it is ErrMany where the token has to wait.
func (r *Reviewer) Review(ctx context.Context, token string) error {
	key := hashed(sha256.Sum256([]byte(token)))
	if a, known := r.known(key); known {
		return a.err
	}
	_, err, _ := r.once.Do(string(key[:]), func() (any, error) {
		if a, known := r.known(key); known { // another request has asked
			return nil, a.err
		}
		call, cancel := context.WithTimeout(context.WithoutCancel(ctx), reviewFor) // others wait for it too
		defer cancel()
		return nil, r.ask(call, key, token)
	})
	return err
}

// known is the answer of a token that is used still.
func (r *Reviewer) known(key hashed) (a answer, known bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, of := range []kept{r.good, r.refused} {
		if a, has := of[key]; has && r.now().Before(a.until) {
			return a, true
		}
	}
	return answer{}, false
}

// ask reviews a token, and keeps the answer.
func (r *Reviewer) ask(ctx context.Context, key hashed, token string) error {
	r.mu.Lock()
	_, wasGood := r.good[key]
	r.mu.Unlock()
	if !wasGood && !r.pace.TryAccept() {
		return ErrMany
	}
	err := r.review(ctx, token)
	now := r.now()
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case err == nil:
		r.good.put(key, answer{nil, now.Add(allowedFor)}, now)
	case errors.Is(err, web.ErrUnknown) || errors.Is(err, web.ErrForbidden):
		delete(r.good, key)
		r.refused.put(key, answer{err, now.Add(refusedFor)}, now)
	} // else the next request may have a better answer
	return err
}

func (r *Reviewer) review(ctx context.Context, token string) error {
	found, err := r.tokens.Create(ctx, &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token}}, metav1.CreateOptions{})
	if err != nil {
		return lacking(err, "review tokens")
	}
	if !found.Status.Authenticated {
		return web.ErrUnknown
	}
	user := found.Status.User
	extra := map[string]authorizationv1.ExtraValue{}
	for name, values := range user.Extra {
		extra[name] = authorizationv1.ExtraValue(values)
	}
	may, err := r.access.Create(ctx, &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: user.Username, UID: user.UID, Groups: user.Groups, Extra: extra,
		NonResourceAttributes: &authorizationv1.NonResourceAttributes{Path: Path, Verb: "get"},
	}}, metav1.CreateOptions{})
	if err != nil {
		return lacking(err, "review the access of users")
	}
	if !may.Status.Allowed {
		return fmt.Errorf("%w: bind user %s to a ClusterRole that allows the verb get on the nonResourceURL %s", web.ErrForbidden, user.Username, Path)
	}
	return nil
}

// lacking says what the controller needs where it may not ask.
func lacking(err error, what string) error {
	if apierrors.IsForbidden(err) {
		return fmt.Errorf("the controller may not %s, so no one can sign in: apply deploy/rbac-web.yaml, or set web.exposed of the chart (%w)", what, err)
	}
	return fmt.Errorf("%s: the API server does not answer, try again: %w", what, err)
}
