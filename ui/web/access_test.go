package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/daemok/daemok/observe/record"
	"github.com/daemok/daemok/ui/web/browser/example"
)

// ask sends a request to a server.
func ask(t *testing.T, o Options, method, url string, header http.Header) *http.Response {
	t.Helper()
	if o.Source == nil {
		o.Source = example.New(time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC), 1, 1)
	}
	r := httptest.NewRequestWithContext(t.Context(), method, url, nil)
	for name, values := range header {
		r.Header[name] = values
	}
	w := httptest.NewRecorder()
	New(o).Handler().ServeHTTP(w, r)
	return w.Result()
}

func bodyOf(t *testing.T, r *http.Response) string {
	t.Helper()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func TestOnlyRequestsToLocalhostAreAnswered(t *testing.T) {
	for host, want := range map[string]int{
		"localhost": 200, "localhost:8080": 200, "LOCALHOST:1": 200,
		"127.0.0.1:8080": 200, "127.1.2.3": 200, "[::1]:8080": 200, "[::1]": 200,
		"evil.example": 421, "evil.example:8080": 421, "localhost.evil.example": 421,
		"10.0.0.1": 421, "127.0.0.1.evil.example": 421, "0.0.0.0:80": 421,
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost/", nil)
		r.Host = host
		w := httptest.NewRecorder()
		New(Options{Source: example.New(time.Now(), 1, 1)}).Handler().ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("host %s: got %d, want %d", host, w.Code, want)
		}
	}
}

func TestNothingButReadingIsAllowed(t *testing.T) {
	for _, method := range []string{
		http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodPatch, http.MethodOptions,
	} {
		if r := ask(t, Options{}, method, "http://localhost/", nil); r.StatusCode != http.StatusMethodNotAllowed || r.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: got %d %v", method, r.StatusCode, r.Header)
		}
	}
}

func TestEveryAnswerForbidsWhatThePagesDoNotNeed(t *testing.T) {
	for _, path := range []string{"/", "/assets/app.js", "/nothing", "/facts"} {
		r := ask(t, Options{}, http.MethodGet, "http://localhost"+path, nil)
		for name, want := range map[string]string{
			"Content-Security-Policy": "default-src 'self'; ", "X-Content-Type-Options": "nosniff",
			"Referrer-Policy": "no-referrer", "X-Frame-Options": "DENY",
		} {
			if got := r.Header.Get(name); !strings.HasPrefix(got, want) {
				t.Errorf("%s: %s is %q, want %q", path, name, got, want)
			}
		}
		if policy := r.Header.Get("Content-Security-Policy"); strings.Contains(policy, "unsafe") || !strings.Contains(policy, "frame-ancestors 'none'") {
			t.Errorf("%s: policy %q", path, policy)
		}
	}
}

func TestATokenIsTakenFromTheAddressOnce(t *testing.T) {
	o := Options{Token: "secret"}
	for name, c := range map[string]struct {
		path   string
		header http.Header
		want   int
	}{
		"no token":                    {"/", nil, 403},
		"no token for the stream":     {"/stream", nil, 403},
		"a wrong token":               {"/?token=wrong", nil, 403},
		"a wrong cookie":              {"/", http.Header{"Cookie": {cookie + "=wrong"}}, 403},
		"the token":                   {"/?token=secret", nil, 303},
		"the cookie":                  {"/", http.Header{"Cookie": {cookie + "=secret"}}, 200},
		"the token where none counts": {"/facts?token=secret", nil, 403},
		"the cookie for files":        {"/assets/app.js", http.Header{"Cookie": {cookie + "=secret"}}, 200},
	} {
		if r := ask(t, o, http.MethodGet, "http://localhost"+c.path, c.header); r.StatusCode != c.want {
			t.Errorf("%s: got %d, want %d", name, r.StatusCode, c.want)
		}
	}
	r := ask(t, o, http.MethodGet, "http://localhost/?token=secret", nil)
	set := r.Header.Get("Set-Cookie")
	if r.Header.Get("Location") != "/" || !strings.Contains(set, "HttpOnly") || !strings.Contains(set, "SameSite=Strict") {
		t.Errorf("got Location %q and Set-Cookie %q: want the address without the token, and a cookie that no script reads",
			r.Header.Get("Location"), set)
	}
}

// tokens knows two users.
type tokens struct{ asked []string }

func (k *tokens) Review(_ context.Context, token string) error {
	k.asked = append(k.asked, token)
	switch token {
	case "of-admin", long:
		return nil
	case "of-guest":
		return fmt.Errorf("%w: user guest may not get the path /daemok/web", ErrForbidden)
	case "of-broken":
		return errors.New("tokens cannot be reviewed: apply deploy/rbac-web.yaml")
	}
	return ErrUnknown
}

// long is a good token that no cookie holds.
var long = strings.Repeat("x", tokenMost+1)

func TestTokensOfKubernetesAreReviewed(t *testing.T) {
	bearer := func(token string) http.Header { return http.Header{"Authorization": {"Bearer " + token}} }
	for name, c := range map[string]struct {
		path   string
		header http.Header
		want   int
		says   string
	}{
		"no token, in a browser":        {"/", nil, 303, ""},
		"no token, for data":            {"/stream", nil, 401, "a token of Kubernetes is needed"},
		"the page for signing in":       {"/assets/signin.html", nil, 200, "Sign in"},
		"a token that is unknown":       {"/facts", bearer("x"), 401, "not valid"},
		"a token of a proxy":            {"/facts", bearer("of-admin"), 200, ""},
		"a cookie":                      {"/facts", http.Header{"Cookie": {cookie + "=of-admin"}}, 200, ""},
		"a user without the right":      {"/facts", bearer("of-guest"), 403, "guest may not get the path /daemok/web"},
		"a controller without rights":   {"/facts", bearer("of-broken"), 503, "rbac-web.yaml"},
		"a session begins":              {"/session", bearer("of-admin"), 204, ""},
		"a cookie over TLS":             {"/facts", http.Header{"Cookie": {"__Host-" + cookie + "=of-admin"}}, 200, ""},
		"a token that is too long":      {"/session", bearer(long), 431, "The token has 4001 bytes"},
		"a long token of a proxy":       {"/facts", bearer(long), 200, ""},
		"a session is not begun by all": {"/session", bearer("of-guest"), 403, ""},
	} {
		r := ask(t, Options{Tokens: &tokens{}}, http.MethodGet, "https://daemok.example"+c.path, c.header)
		if body := bodyOf(t, r); r.StatusCode != c.want || !strings.Contains(strings.ToLower(body), strings.ToLower(c.says)) {
			t.Errorf("%s: got %d %q, want %d and %q", name, r.StatusCode, body, c.want, c.says)
		}
	}
	r := ask(t, Options{Tokens: &tokens{}}, http.MethodGet, "https://daemok.example/session", bearer("of-admin"))
	if set := r.Header.Get("Set-Cookie"); !strings.HasPrefix(set, "__Host-daemok-web=of-admin; Path=/;") || !strings.Contains(set, "HttpOnly") ||
		!strings.Contains(set, "SameSite=Strict") || !strings.Contains(set, "Secure") {
		t.Errorf("Set-Cookie: %q", set)
	}
}

// lines is a record of one statement, or an error.
type lines struct{ err error }

func (l lines) About(_ context.Context, o record.Object) ([]record.Statement, error) {
	return []record.Statement{{About: o, Said: "stays"}}, l.err
}

func TestARecordIsReadByKindAndName(t *testing.T) {
	for name, c := range map[string]struct {
		record explainer
		path   string
		want   int
		says   string
	}{
		"a node":               {lines{}, "/about/node/ip-10-0-0-1", 200, `"kind":"node","name":"ip-10-0-0-1"`},
		"a pod":                {lines{}, "/about/pod/shop/web-1", 200, `"name":"shop/web-1"`},
		"an odd name":          {lines{}, "/about/node/%3Cimg%20src=x%3E", 200, `\u003cimg src=x\u003e`},
		"a kind that has none": {lines{}, "/about/secret/x", 400, "ask about a node, pod"},
		"no name":              {lines{}, "/about/node/", 400, "name the node"},
		"no record":            {nil, "/about/node/x", 200, `"card":null,"record":[],"trouble":"No record`},
		"a record that is broken": {lines{errors.New("forbidden: get configmaps")}, "/about/node/x", 200,
			"get configmaps"},
	} {
		r := ask(t, Options{Record: c.record}, http.MethodGet, "http://localhost"+c.path, nil)
		if body := bodyOf(t, r); r.StatusCode != c.want || !strings.Contains(body, c.says) {
			t.Errorf("%s: got %d %s, want %d and %s", name, r.StatusCode, body, c.want, c.says)
		}
	}
}

func TestFilesAreServedAsTheyAreEmbedded(t *testing.T) {
	s := New(Options{})
	for name, f := range s.files {
		r := ask(t, Options{}, http.MethodGet, "http://localhost/assets/"+name, http.Header{"Accept-Encoding": {"gzip"}})
		if r.StatusCode != http.StatusOK || r.Header.Get("Content-Type") != f.kind || f.kind == "" || r.Header.Get("Content-Encoding") != "gzip" {
			t.Errorf("%s: got %d %v", name, r.StatusCode, r.Header)
		}
		if r := ask(t, Options{}, http.MethodGet, "http://localhost/assets/"+name, http.Header{"If-None-Match": {f.tag}}); r.StatusCode != http.StatusNotModified {
			t.Errorf("%s, which the browser has: got %d", name, r.StatusCode)
		}
	}
	if r := ask(t, Options{}, http.MethodGet, "http://localhost/assets/..%2fdoc.go", nil); r.StatusCode != http.StatusNotFound {
		t.Errorf("a file that is not embedded: got %d", r.StatusCode)
	}
}

// Patterns of what the policy forbids, or what could make markup of a name.
var (
	foreign = regexp.MustCompile(`(?i)(?:https?:)?//[a-z0-9-]+\.[a-z]`)
	markup  = regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function`)
	inline  = regexp.MustCompile(`(?i)<script>|\sstyle=|<style|\son[a-z]+=`)
)

func TestPagesNeedNoOtherHostAndMakeNoMarkup(t *testing.T) {
	for name, f := range New(Options{}).files {
		text := strings.ReplaceAll(string(f.plain), "http://www.w3.org/2000/svg", "")
		for what, forbidden := range map[string]*regexp.Regexp{"another host": foreign, "markup": markup} {
			if found := forbidden.FindString(text); found != "" {
				t.Errorf("%s: %s: %s", name, what, found)
			}
		}
		if found := inline.FindString(text); strings.HasSuffix(name, ".html") && found != "" {
			t.Errorf("%s has an inline script or style: %s", name, found)
		}
	}
}
