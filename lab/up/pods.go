package up

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"os"
	"os/exec"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/daemok/daemok/lab/container"
	"github.com/daemok/daemok/lab/gateway"
	"github.com/daemok/daemok/lab/identity"
	"github.com/daemok/daemok/lab/pki"
)

// startContainers makes ready to run the pods of the product as processes of this machine, and
// serves what gives them their role at AWS.
func (l *Lab) startContainers(context.Context) error {
	client, err := kubernetes.NewForConfig(l.admin)
	if err != nil {
		return fmt.Errorf("connect for pods: %w", err)
	}
	programs := map[string]string{}
	if path, err := findController(l.options.Program, exec.LookPath); err == nil {
		programs[controllerProgram] = path
	} else if l.identity.Install == ByChart {
		return err
	}
	agent := loopback(l.identity.Ports.PodIdentityAgent)
	l.containers, err = container.New(container.Options{
		Folder: l.directory.File("pods"), Programs: programs, Client: client,
		Kubeconfig: func(file, tokenFile string) error {
			return l.access.WriteKubeconfig(file, &rest.Config{
				Host: l.access.URL(), BearerTokenFile: tokenFile, TLSClientConfig: rest.TLSClientConfig{CAData: l.access.Authority.CertificatePEM()},
			})
		},
		Environment: []string{
			"AWS_ENDPOINT_URL=" + loopback(l.identity.Ports.AWS),
			"AWS_ENDPOINT_URL_STS=" + loopback(l.identity.Ports.AWS), // the SDK asks for a web identity's credentials before it knows the other
			"AWS_EC2_METADATA_DISABLED=true",
		},
		Addresses: map[string]string{identity.AgentURL: agent},
		Port:      l.ports.any, Log: l.directory.PodLog,
		Changed: func(namespace, name string) { l.center.Changed(namespace, name) },
		Say:     l.options.Say,
	})
	if err != nil {
		return err
	}
	return l.serveIdentities(client)
}

// openGateway lets the API server reach what pods have printed.
func (l *Lab) openGateway(ctx context.Context) error {
	certificate, err := l.certificate("localhost")
	if err != nil {
		return err
	}
	g, err := gateway.Open(ctx, gateway.Options{
		Socket: l.directory.GatewaySocket(), Certificate: certificate,
		Log: func(namespace, pod string) string {
			file := l.directory.PodLog(namespace, pod)
			if _, err := os.Stat(file); err != nil {
				return ""
			}
			return file
		},
	})
	if err != nil {
		return err
	}
	l.closers = append(l.closers, g.Close)
	return nil
}

// publishTokenKeys tells AWS with which key the API server signs tokens of service accounts.
func (l *Lab) publishTokenKeys() error {
	file, err := pki.SigningKey(l.directory.Certificates())
	if err != nil {
		return err
	}
	key, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("read key of tokens: %w", err)
	}
	return l.cloud.SetIssuerKeys(key)
}

// certificate is one of the lab's authority for services of these names.
func (l *Lab) certificate(names ...string) (tls.Certificate, error) {
	pair, err := l.access.Authority.Server(names...)
	if err != nil {
		return tls.Certificate{}, err
	}
	certificate, err := tls.X509KeyPair(pair.Certificate, pair.Key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("load certificate for %s: %w", names[0], err)
	}
	return certificate, nil
}

// serveIdentities serves EKS's pod identity webhook and the Pod Identity Agent.
func (l *Lab) serveIdentities(client kubernetes.Interface) error {
	log, err := l.openLog("pod-identity")
	if err != nil {
		return err
	}
	certificate, err := l.certificate("localhost")
	if err != nil {
		return err
	}
	err = l.serve("pod identity webhook", l.identity.Ports.PodIdentity, &http.Server{
		Handler:   identity.Handler(identity.Options{Client: client, Region: l.identity.Region, Associated: l.associated, Log: log}),
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{certificate}},
	})
	if err != nil {
		return err
	}
	agent := l.cloud.PodIdentityAgent()
	return l.serve("Pod Identity Agent", l.identity.Ports.PodIdentityAgent, &http.Server{
		Handler: logged(log, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			agent.ServeHTTP(w, r)
			l.cloud.touch() // it has handed out credentials
		})),
	})
}

// associated tells whether EKS has a Pod Identity association for a service account.
func (l *Lab) associated(ctx context.Context, namespace, account string) (bool, error) {
	out, err := l.eks().ListPodIdentityAssociations(ctx, &eks.ListPodIdentityAssociationsInput{
		ClusterName: &l.identity.ClusterName, Namespace: &namespace, ServiceAccount: &account,
	})
	return err == nil && len(out.Associations) > 0, err
}

// eks asks the pretend account as its owner.
func (l *Lab) eks() *eks.Client {
	return eks.New(eks.Options{
		Region: l.identity.Region, BaseEndpoint: awssdk.String(loopback(l.identity.Ports.AWS)),
		Credentials: credentials.NewStaticCredentialsProvider(ownerKey, ownerSecret, ""),
	})
}
