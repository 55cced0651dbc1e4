// Package identity emulates EKS's pod identity webhook: pods whose service account has a role get the
// files and variables by which AWS's SDKs request that role's credentials.
//
// It promises to change a pod as EKS does, and no other pod. AWS decides what the credentials permit.
package identity

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strconv"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// Annotations of service accounts that the webhook knows.
const (
	roleARN         = "eks.amazonaws.com/role-arn"
	audience        = "eks.amazonaws.com/audience"
	tokenExpiration = "eks.amazonaws.com/token-expiration" // seconds
)

// AgentURL is where EKS's Pod Identity Agent is on every node.
const AgentURL = "http://169.254.170.23"

// lives is for how long tokens are valid where the service account does not say, in seconds: EKS's default.
const lives = int64(86400)

// livesMin is the shortest life of a token that the API server issues, in seconds. EKS asks for it where less is wanted.
const livesMin = int64(600)

// kind is one of the two ways in which pods get a role.
type kind struct {
	volume, folder, file, audience string
	variables                      []corev1.EnvVar // beside that which names the token's file
	tokenFile                      string          // name of that variable
	lives                          int64           // of tokens, in seconds
}

// Options are what the webhook asks, and what it writes into pods.
type Options struct {
	Client kubernetes.Interface
	Region string
	// Associated reports whether EKS has a Pod Identity association for a service account.
	Associated func(ctx context.Context, namespace, account string) (bool, error)
	Log        *slog.Logger
}

// Handler answers the API server's questions about new pods.
func Handler(o Options) http.Handler {
	webhook := &admission.Webhook{
		Handler:        admission.HandlerFunc(func(ctx context.Context, r admission.Request) admission.Response { return o.mutate(ctx, r) }),
		LogConstructor: func(logr.Logger, *admission.Request) logr.Logger { return logr.FromSlogHandler(o.Log.Handler()) },
	}
	return webhook
}

func (o Options) mutate(ctx context.Context, r admission.Request) admission.Response {
	var pod corev1.Pod
	if err := json.Unmarshal(r.Object.Raw, &pod); err != nil {
		return admission.Errored(http.StatusBadRequest, err)
	}
	k, err := o.kindFor(ctx, r.Namespace, pod.Spec.ServiceAccountName)
	if err != nil {
		return admission.Errored(http.StatusInternalServerError, err)
	}
	if k == nil {
		return admission.Allowed("")
	}
	k.give(&pod)
	raw, err := json.Marshal(&pod)
	if err != nil {
		return admission.Errored(http.StatusInternalServerError, err)
	}
	return admission.PatchResponseFromRaw(r.Object.Raw, raw)
}

// kindFor says how pods of a service account get their role; nil where they get none. Of both ways
// an association goes first, as at EKS.
func (o Options) kindFor(ctx context.Context, namespace, account string) (*kind, error) {
	associated, err := o.Associated(ctx, namespace, account)
	if err != nil {
		return nil, err
	}
	if associated {
		return &kind{
			volume: "eks-pod-identity-token", folder: "/var/run/secrets/pods.eks.amazonaws.com/serviceaccount", file: "eks-pod-identity-token",
			audience: "pods.eks.amazonaws.com", tokenFile: "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", lives: lives,
			variables: append(o.regional(), corev1.EnvVar{Name: "AWS_CONTAINER_CREDENTIALS_FULL_URI", Value: AgentURL + "/v1/credentials"}),
		}, nil
	}
	a, err := o.Client.CoreV1().ServiceAccounts(namespace).Get(ctx, account, metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("read service account %s/%s: %w", namespace, account, err)
	}
	role := a.Annotations[roleARN]
	if role == "" {
		return nil, nil
	}
	return &kind{
		volume: "aws-iam-token", folder: "/var/run/secrets/eks.amazonaws.com/serviceaccount", file: "token",
		audience: cmp.Or(a.Annotations[audience], "sts.amazonaws.com"), tokenFile: "AWS_WEB_IDENTITY_TOKEN_FILE", lives: expiration(a.Annotations, lives),
		variables: append(o.regional(), corev1.EnvVar{Name: "AWS_ROLE_ARN", Value: role}),
	}, nil
}

func (o Options) regional() []corev1.EnvVar {
	return []corev1.EnvVar{
		{Name: "AWS_STS_REGIONAL_ENDPOINTS", Value: "regional"},
		{Name: "AWS_DEFAULT_REGION", Value: o.Region}, {Name: "AWS_REGION", Value: o.Region},
	}
}

// give puts token and variables into every container. What a container sets itself stays.
func (k *kind) give(pod *corev1.Pod) {
	if slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == k.volume }) {
		return
	}
	pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: k.volume, VolumeSource: corev1.VolumeSource{
		Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{{
			ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Audience: k.audience, ExpirationSeconds: new(expiration(pod.Annotations, k.lives)), Path: k.file},
		}}},
	}})
	variables := append(slices.Clone(k.variables), corev1.EnvVar{Name: k.tokenFile, Value: k.folder + "/" + k.file})
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			c := &containers[i]
			c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: k.volume, MountPath: k.folder, ReadOnly: true})
			for _, v := range variables {
				if !slices.ContainsFunc(c.Env, func(has corev1.EnvVar) bool { return has.Name == v.Name }) {
					c.Env = append(c.Env, v)
				}
			}
		}
	}
}

// expiration is what the annotations ask for, in seconds.
func expiration(annotations map[string]string, otherwise int64) int64 {
	if n, err := strconv.ParseInt(annotations[tokenExpiration], 10, 64); err == nil {
		return max(n, livesMin)
	}
	return otherwise
}
