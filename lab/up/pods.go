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
	pods, err := container.New(container.Options{
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
		Changed: func(namespace, name string) {
			if center := l.record.now().center; center != nil {
				center.Changed(namespace, name)
			}
		},
		Say: l.options.Say,
	})
	if err != nil {
		return err
	}
	l.record.change(func(r *running) { r.pods = pods })
	return l.serveIdentities(client)
}

// openGateway lets the API server reach what pods have printed.
func (l *Lab) openGateway(ctx context.Context) error {
	pair, err := certificate(l.access.Authority, "localhost")
	if err != nil {
		return err
	}
	g, err := gateway.Open(ctx, gateway.Options{
		Socket: l.directory.GatewaySocket(), Certificate: pair,
		Log: l.directory.PodLog,
	})
	if err != nil {
		return err
	}
	l.closers.add(g.Close)
	return nil
}

// publishTokenKeys publishes to AWS with which key the API server signs tokens of service
// accounts.
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

// certificate is one of the authority for services of these names.
func certificate(authority *pki.Authority, names ...string) (tls.Certificate, error) {
	pair, err := authority.Server(names...)
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
	log, err := l.closers.openLog(l.directory.Log("pod-identity"))
	if err != nil {
		return err
	}
	pair, err := certificate(l.access.Authority, "localhost")
	if err != nil {
		return err
	}
	err = l.closers.serve("pod identity webhook", l.identity.Ports.PodIdentity, &http.Server{
		Handler:   identity.Handler(identity.Options{Client: client, Region: l.identity.Region, Associated: associated(ownerEKS(l.identity), l.identity.ClusterName), Log: log}),
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{pair}},
	})
	if err != nil {
		return err
	}
	agent := l.cloud.PodIdentityAgent()
	return l.closers.serve("Pod Identity Agent", l.identity.Ports.PodIdentityAgent, &http.Server{
		Handler: logged(log, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			agent.ServeHTTP(w, r)
			l.cloud.touch() // it has handed out credentials
		})),
	})
}

// associated returns what reports whether EKS has a Pod Identity association for a service
// account.
func associated(c *eks.Client, cluster string) func(ctx context.Context, namespace, account string) (bool, error) {
	return func(ctx context.Context, namespace, account string) (bool, error) {
		out, err := c.ListPodIdentityAssociations(ctx, &eks.ListPodIdentityAssociationsInput{
			ClusterName: &cluster, Namespace: &namespace, ServiceAccount: &account,
		})
		return err == nil && len(out.Associations) > 0, err
	}
}

// ownerEKS asks the emulated account as its owner.
func ownerEKS(i Identity) *eks.Client {
	return eks.New(eks.Options{
		Region: i.Region, BaseEndpoint: awssdk.String(loopback(i.Ports.AWS)),
		Credentials: credentials.NewStaticCredentialsProvider(ownerKey, ownerSecret, ""),
	})
}
