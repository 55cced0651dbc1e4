package review

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	testing2 "k8s.io/client-go/testing"

	"github.com/daemok/daemok/ui/web"
)

// server answers reviews: it knows the tokens admin and guest, and allows admin alone. asked counts tokens that were reviewed.
func server(asked *int, forbidden string) *fake.Clientset {
	api := fake.NewClientset()
	api.PrependReactor("create", "*", func(a testing2.Action) (bool, runtime.Object, error) {
		if a.GetResource().Resource == forbidden {
			return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: forbidden}, "", errors.New("no rule allows it"))
		}
		switch o := a.(testing2.CreateAction).GetObject().(type) {
		case *authenticationv1.TokenReview:
			*asked++
			o.Status.Authenticated = o.Spec.Token == "admin" || o.Spec.Token == "guest"
			o.Status.User.Username = o.Spec.Token
			return true, o, nil
		case *authorizationv1.SubjectAccessReview:
			path := o.Spec.NonResourceAttributes
			o.Status.Allowed = o.Spec.User == "admin" && path.Path == "/daemok/web" && path.Verb == "get"
			return true, o, nil
		}
		return false, nil, nil
	})
	return api
}

func TestTokensAreOfUsersWhoMaySeeThePages(t *testing.T) {
	for name, c := range map[string]struct {
		token, forbidden string
		is               error
		says             string
	}{
		"a user who may":                {"admin", "", nil, ""},
		"a user who may not":            {"guest", "", web.ErrForbidden, "bind user guest to a ClusterRole that allows the verb get on the nonResourceURL /daemok/web"},
		"a token that is unknown":       {"x", "", web.ErrUnknown, "not valid"},
		"no right to review tokens":     {"admin", "tokenreviews", nil, "apply deploy/rbac-web.yaml"},
		"no right to review the access": {"admin", "subjectaccessreviews", nil, "apply deploy/rbac-web.yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			asked := 0
			api := server(&asked, c.forbidden)
			r := New(api.AuthenticationV1().TokenReviews(), api.AuthorizationV1().SubjectAccessReviews(), time.Now)
			err := r.Review(t.Context(), c.token)
			if c.is != nil && !errors.Is(err, c.is) || c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
				t.Errorf("got %v, want %q", err, c.says)
			}
		})
	}
}

func TestATokenIsReviewedAgainWithinAMinute(t *testing.T) {
	asked, now := 0, time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	api := server(&asked, "")
	r := New(api.AuthenticationV1().TokenReviews(), api.AuthorizationV1().SubjectAccessReviews(), func() time.Time { return now })
	for _, step := range []struct {
		later time.Duration
		token string
		want  int
	}{{0, "admin", 1}, {30 * time.Second, "admin", 1}, {31 * time.Second, "admin", 2}, {0, "x", 3}, {time.Second, "x", 3}, {5 * time.Second, "x", 4}} {
		now = now.Add(step.later)
		_ = r.Review(t.Context(), step.token)
		if asked != step.want {
			t.Errorf("%s after %v: asked %d times, want %d", step.token, step.later, asked, step.want)
		}
	}
}

// A browser without a good token cannot have the API server asked without end, nor keep those out who are signed in.
func TestRandomTokensAreReviewedAtALimitedPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		api := server(&asked, "")
		r := New(api.AuthenticationV1().TokenReviews(), api.AuthorizationV1().SubjectAccessReviews(), time.Now)
		if err := r.Review(t.Context(), "admin"); err != nil {
			t.Fatal(err)
		}
		many := 0
		for i := range 3 * keptMost {
			if errors.Is(r.Review(t.Context(), fmt.Sprint("random-", i)), ErrMany) {
				many++
			}
		}
		if asked != atOnce || many != 3*keptMost-atOnce+1 {
			t.Errorf("asked %d times, and %d tokens were to wait: want %d of %d asked", asked, many, atOnce, 3*keptMost+1)
		}
		time.Sleep(allowedFor - time.Second)
		if err := r.Review(t.Context(), "admin"); err != nil || asked != atOnce {
			t.Errorf("who is signed in: got %v after %d reviews, want the answer that is known", err, asked)
		}
		for i := range atOnce {
			_ = r.Review(t.Context(), fmt.Sprint("more-", i))
		}
		time.Sleep(2 * time.Second)
		for i := range atOnce {
			_ = r.Review(t.Context(), fmt.Sprint("still-more-", i))
		}
		if err := r.Review(t.Context(), "admin"); err != nil {
			t.Errorf("who is signed in, once the answer is too old: %v", err)
		}
		time.Sleep(time.Second)
		if err := r.Review(t.Context(), "guest"); !errors.Is(err, web.ErrForbidden) {
			t.Errorf("who signs in a second later: got %v", err)
		}
	})
}

func TestAPageThatAsksForMuchAtOnceHasItsTokenReviewedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked, answer := 0, make(chan struct{})
		api := server(&asked, "")
		api.PrependReactor("create", "tokenreviews", func(testing2.Action) (bool, runtime.Object, error) {
			<-answer
			return false, nil, nil
		})
		r := New(api.AuthenticationV1().TokenReviews(), api.AuthorizationV1().SubjectAccessReviews(), time.Now)
		var done sync.WaitGroup
		for range 6 {
			done.Go(func() {
				if err := r.Review(t.Context(), "admin"); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		close(answer)
		if done.Wait(); asked != 1 {
			t.Errorf("asked %d times", asked)
		}
	})
}
