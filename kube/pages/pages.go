// Package pages reads lists of any length page by page, so that no single answer is large. It reads
// from an API server; a cache cannot continue a list after a page.
package pages

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Size is how many objects one answer of the API server holds at most, where no option client.Limit says otherwise;
// kubectl asks for as many.
const Size = 500

// Each reads a list page by page. Every page is a new list, so what was taken
// from one is not overwritten by the next. The third argument only names the type of the list.
//
// Pages are of one moment, that of the first. An API server that has forgotten that moment, which takes minutes,
// answers with an error that apierrors.IsResourceExpired recognizes: then read again.
func Each[L any, P interface {
	*L
	client.ObjectList
}](ctx context.Context, from client.Reader, _ P, take func(P), options ...client.ListOption) error {
	return EachList(ctx, from, func() client.ObjectList { return P(new(L)) }, func(l client.ObjectList) { take(l.(P)) }, options...)
}

// EachList is Each for lists whose type is known only when the program runs: newList makes them.
func EachList(ctx context.Context, from client.Reader, newList func() client.ObjectList, take func(client.ObjectList), options ...client.ListOption) error {
	token := ""
	for {
		list := newList()
		if err := from.List(ctx, list, slices.Concat([]client.ListOption{client.Limit(Size)}, options, []client.ListOption{client.Continue(token)})...); err != nil {
			return fmt.Errorf("list objects of kind %s: %w", kindOf(list), err)
		}
		take(list)
		if token = list.GetContinue(); token == "" {
			return nil
		}
	}
}

// instanceTypeOf is the kind of what a list holds. Lists of a type of their own need not say it.
func kindOf(list client.ObjectList) string {
	kind := list.GetObjectKind().GroupVersionKind().Kind
	if kind == "" {
		kind = reflect.TypeOf(list).Elem().Name()
	}
	return strings.TrimSuffix(kind, "List")
}

// NotServed reports whether an error says that the API server, or the client, does not know a kind.
func NotServed(err error) bool {
	for ; err != nil; err = errors.Unwrap(err) {
		if meta.IsNoMatchError(err) || runtime.IsNotRegisteredError(err) {
			return true
		}
	}
	return false
}
