package main

import (
	"context"
	"fmt"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/doctor"
)

// reviewer asks the API server what others may do. It stores nothing.
func reviewer(store client.Client) doctor.Reviewer {
	return func(ctx context.Context, user, verb, resource string) (bool, error) {
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{User: user, Groups: groupsOf(user),
			ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: verb, Version: "v1", Resource: resource}}}
		if err := store.Create(ctx, review); err != nil {
			return false, fmt.Errorf("create a SubjectAccessReview: %w", err)
		}
		return review.Status.Allowed, nil
	}
}

// groupsOf are those that the API server gives a service account.
func groupsOf(user string) []string {
	const accounts = "system:serviceaccounts"
	account, is := strings.CutPrefix(user, "system:serviceaccount:")
	if !is {
		return nil
	}
	namespace, _, _ := strings.Cut(account, ":")
	return []string{accounts, accounts + ":" + namespace, "system:authenticated"}
}
