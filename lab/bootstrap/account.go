package bootstrap

import (
	"context"
	"fmt"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// The service account under which the controller runs.
const (
	ControllerNamespace = "kube-system"
	ControllerAccount   = "karpenter"
)

// tokenFor is longer than any lab lives; the token in a file is not renewed.
const tokenFor = 10 * 365 * 24 * time.Hour

// AsController returns client settings that authenticate as the controller's
// service account, with a token that the API server issues for it. They may do
// what its rights say and nothing else.
func AsController(ctx context.Context, admin *rest.Config) (*rest.Config, error) {
	c, err := kubernetes.NewForConfig(admin)
	if err != nil {
		return nil, fmt.Errorf("make client: %w", err)
	}
	seconds := int64(tokenFor / time.Second)
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds}}
	answer, err := c.CoreV1().ServiceAccounts(ControllerNamespace).
		CreateToken(ctx, ControllerAccount, request, metav1.CreateOptions{})
	if err != nil {
		return nil, fmt.Errorf("issue token for %s/%s: %w", ControllerNamespace, ControllerAccount, err)
	}
	return &rest.Config{
		Host:            admin.Host,
		BearerToken:     answer.Status.Token,
		TLSClientConfig: rest.TLSClientConfig{CAData: admin.CAData},
	}, nil
}
