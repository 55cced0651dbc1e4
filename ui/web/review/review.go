// Package review asks the API server whose tokens browsers have, and whether these users may see the pages.
//
// It promises to send no token anywhere else, to keep none, and to ask again about each within a minute. It decides
// nothing itself: RBAC does.
package review

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	authentication "k8s.io/client-go/kubernetes/typed/authentication/v1"
	authorization "k8s.io/client-go/kubernetes/typed/authorization/v1"

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

// Reviewer reviews tokens at an API server. It is safe for concurrent use.
type Reviewer struct {
	Tokens authentication.TokenReviewInterface
	Access authorization.SubjectAccessReviewInterface
	Now    func() time.Time

	mu   sync.Mutex
	kept map[[sha256.Size]byte]answer
}

// answer is what was found of a token, for as long as that is used.
type answer struct {
	err   error
	until time.Time
}

// Review returns nil where the user of the token may see the pages. An error wraps web.ErrUnknown or web.ErrForbidden,
// or says what the API server answered and what the controller lacks.
func (r *Reviewer) Review(ctx context.Context, token string) error {
	key, now := sha256.Sum256([]byte(token)), r.Now()
	r.mu.Lock()
	known, has := r.kept[key]
	r.mu.Unlock()
	if has && now.Before(known.until) {
		return known.err
	}
	err := r.review(ctx, token)
	lasts := refusedFor
	switch {
	case err == nil:
		lasts = allowedFor
	case !errors.Is(err, web.ErrUnknown) && !errors.Is(err, web.ErrForbidden):
		return err // the next request may have a better answer
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.kept) >= keptMost || r.kept == nil {
		r.kept = map[[sha256.Size]byte]answer{}
	}
	r.kept[key] = answer{err, now.Add(lasts)}
	return err
}

func (r *Reviewer) review(ctx context.Context, token string) error {
	found, err := r.Tokens.Create(ctx, &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token}}, metav1.CreateOptions{})
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
	may, err := r.Access.Create(ctx, &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
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
