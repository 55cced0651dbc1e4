package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// Path is where a Handler is to be served: what is on record about an object is
// at Path + "node/ip-10-0-0-1", Path + "pod/default/web-1", ...
const Path = "/debug/explain/"

// Handler reports what is on record, in the words of `daemok explain`; with ?output=json as JSON.
func Handler(r *Record, now func() time.Time) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		kind, name, _ := strings.Cut(strings.TrimPrefix(q.URL.Path, Path), "/")
		about, err := Parse(kind, name, "default")
		if err != nil {
			http.Error(w, fmt.Sprintf("%v\n%sKIND/NAME reports on an object, %spod/NAMESPACE/NAME on a pod", err, Path, Path), http.StatusBadRequest)
			return
		}
		list, err := r.Explain(about)
		if unknown, ok := errors.AsType[*UnknownError](err); ok {
			http.Error(w, unknown.Error(), http.StatusNotFound)
			return
		}
		if q.URL.Query().Get("output") == "json" {
			w.Header().Set("Content-Type", "application/json")
			err = WriteJSON(w, list)
		} else {
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			at := now()
			err = Write(w, list, at, at)
		}
		if err != nil {
			panic(http.ErrAbortHandler) // the client has gone
		}
	})
}

// Parse reads which object is meant. Pods are named with their namespace before
// them, or are of the one given.
func Parse(kind, name, namespace string) (Object, error) {
	k, err := ParseKind(kind)
	switch {
	case err != nil:
		return Object{}, err
	case name == "":
		return Object{}, fmt.Errorf("name the %s", k)
	case k.namespaced() && !strings.Contains(name, "/"):
		name = namespace + "/" + name
	}
	return Object{k, name}, nil
}

// WriteJSON prints statements as a list.
func WriteJSON(out io.Writer, list []Statement) error {
	if list == nil {
		list = []Statement{}
	}
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	return e.Encode(list)
}
