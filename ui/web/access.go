package web

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"
)

// What a review of a token may find.
var (
	ErrUnknown   = errors.New("the token is not valid, or not any more")
	ErrForbidden = errors.New("the token's user may not see these pages")
)

// cookie holds the token after the first request. A browser sends it to other ports of the same host as well, so it is
// worth nothing beyond these pages where it is not of Kubernetes.
const cookie = "daemok-web"

// hostCookie is its name where it came over TLS: browsers take one of that name from this host alone, for TLS alone.
const hostCookie = "__Host-" + cookie

// tokenMost is how long a token may be, in bytes, for browsers to keep it in a cookie: they silently drop longer ones.
const tokenMost = 4000

// headers go with every answer: nothing from another host, nothing inside other pages, no guesses of types.
var headers = map[string]string{
	"Content-Security-Policy": "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'; " +
		"require-trusted-types-for 'script'; trusted-types 'none'",
	"X-Content-Type-Options":       "nosniff",
	"X-Frame-Options":              "DENY",
	"Referrer-Policy":              "no-referrer",
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Permissions-Policy":           "camera=(), geolocation=(), microphone=()",
}

// protected lets through who may see the pages.
func (s *Server) protected(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, value := range headers {
			w.Header().Set(name, value)
		}
		switch {
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "these pages change nothing: use GET", http.StatusMethodNotAllowed)
		case s.Tokens != nil:
			s.reviewed(w, r, next)
		case !toLocalhost(r.Host):
			http.Error(w, "this is served to localhost: open it by that name, not as "+strings.Map(printable, r.Host), http.StatusMisdirectedRequest)
		case s.Token != "":
			s.withToken(w, r, next)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

func printable(r rune) rune {
	if r < ' ' || r > '~' {
		return -1
	}
	return r
}

// toLocalhost reports whether a request names this host as localhost. A page of another site that has its name resolve
// to 127.0.0.1 sends its own name.
func toLocalhost(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = strings.Trim(host, "[]")
	}
	if strings.EqualFold(name, "localhost") {
		return true
	}
	at, err := netip.ParseAddr(name)
	return err == nil && at.IsLoopback()
}

// withToken lets through who has the token: in the address at first, in a cookie then.
func (s *Server) withToken(w http.ResponseWriter, r *http.Request, next http.Handler) {
	if r.URL.Path == "/" && r.URL.Query().Has("token") {
		if !same(r.URL.Query().Get("token"), s.Token) {
			deny(w, r, http.StatusForbidden, "This address has an old token. Use the one that `daemok web` printed last.")
			return
		}
		keep(w, r, s.Token)
		http.Redirect(w, r, "/", http.StatusSeeOther)
		return
	}
	if !same(kept(r), s.Token) {
		deny(w, r, http.StatusForbidden, "Open the whole address that `daemok web` printed, with its token: other users of this host are not to see the cluster.")
		return
	}
	next.ServeHTTP(w, r)
}

// keep has the browser send the token from now on.
func keep(w http.ResponseWriter, r *http.Request, token string) {
	name, secure := cookie, r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https"
	if secure {
		name = hostCookie
	}
	http.SetCookie(w, &http.Cookie{
		Name: name, Value: token, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: secure,
	})
}

// kept is the token that the browser keeps; empty: it has none.
func kept(r *http.Request) string {
	for _, name := range []string{hostCookie, cookie} {
		if c, err := r.Cookie(name); err == nil {
			return c.Value
		}
	}
	return ""
}

// same compares secrets in a time that says nothing about them.
func same(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

// open are the files that the page for signing in needs.
var open = map[string]bool{"/assets/signin.html": true, "/assets/signin.js": true, "/assets/style.css": true, "/assets/theme.js": true}

// reviewed lets through whose token Kubernetes knows, and whom it allows. A proxy may add the token to each request; a
// browser without one gets a page that asks for it, and keeps it in a cookie.
func (s *Server) reviewed(w http.ResponseWriter, r *http.Request, next http.Handler) {
	if open[r.URL.Path] {
		next.ServeHTTP(w, r)
		return
	}
	token, err := bearer(r), ErrUnknown
	if token != "" {
		err = s.Tokens.Review(r.Context(), token)
	}
	switch {
	case err == nil && r.URL.Path == "/session" && len(token) > tokenMost:
		deny(w, r, http.StatusRequestHeaderFieldsTooLarge, fmt.Sprintf("The token has %d bytes, and browsers keep %d at most: use one that "+
			"`kubectl create token` makes, or have a proxy send it with each request, as Authorization: Bearer.", len(token), tokenMost))
	case err == nil && r.URL.Path == "/session":
		keep(w, r, token)
		w.WriteHeader(http.StatusNoContent)
	case err == nil:
		next.ServeHTTP(w, r)
	case errors.Is(err, ErrUnknown) && r.URL.Path == "/":
		http.Redirect(w, r, "/assets/signin.html", http.StatusSeeOther)
	case errors.Is(err, ErrUnknown):
		w.Header().Set("WWW-Authenticate", `Bearer realm="daemok"`)
		deny(w, r, http.StatusUnauthorized, "A token of Kubernetes is needed: "+err.Error())
	case errors.Is(err, ErrForbidden):
		deny(w, r, http.StatusForbidden, err.Error())
	default:
		deny(w, r, http.StatusServiceUnavailable, err.Error())
	}
}

// bearer is the token that a request has: that of a proxy, else that of the cookie; empty: it has none.
func bearer(r *http.Request) string {
	if token, given := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); given {
		return token
	}
	return kept(r)
}

// reviewFor is how long the review of a stream's token may take.
const reviewFor = 10 * time.Second

// refused reports whether the user who opened a stream may not see it any more. While the API server does not answer,
// that is not known.
func (s *Server) refused(r *http.Request) bool {
	if s.Tokens == nil {
		return false
	}
	ctx, cancel := context.WithTimeout(r.Context(), reviewFor)
	defer cancel()
	err := s.Tokens.Review(ctx, bearer(r))
	return errors.Is(err, ErrUnknown) || errors.Is(err, ErrForbidden)
}

// deny says why a request is not answered, as text: it is for a browser's user as for curl's.
func deny(w http.ResponseWriter, _ *http.Request, status int, why string) {
	w.Header().Set("Cache-Control", "no-store")
	http.Error(w, why, status)
}
