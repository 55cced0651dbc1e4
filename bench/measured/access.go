package measured

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud/aws/bill"
	awsclient "github.com/daemok/daemok/cloud/aws/client"
	"github.com/daemok/daemok/kube/access"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

// Client is that of a user of the lab's cluster, without a limit on requests.
func (l *Lab) Client() (client.WithWatch, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, appsv1.AddToScheme, batchv1.AddToScheme, policyv1.AddToScheme, karpv1.AddToScheme, awsv1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	config, err := access.Config(l.Variables["KUBECONFIG"])
	if err != nil {
		return nil, fmt.Errorf("connect to the lab: %w", err)
	}
	config.QPS = -1
	c, err := client.NewWithWatch(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("connect to the lab: %w", err)
	}
	return c, nil
}

// Account is the lab's AWS account, as its owner.
func (l *Lab) Account() bill.Account {
	key := awsclient.Key{ID: l.Variables["AWS_ACCESS_KEY_ID"], Secret: l.Variables["AWS_SECRET_ACCESS_KEY"]}
	return bill.Account{Config: awsclient.At(l.Variables["AWS_ENDPOINT_URL"], l.Variables["AWS_REGION"], key)}
}
