package cluster

import (
	"fmt"
	"strconv"

	"github.com/daemok/daemok/lab/component"
	"github.com/daemok/daemok/lab/directory"
	"github.com/daemok/daemok/lab/pki"
)

// ServiceCIDR is the range of service addresses, one of the two that EKS uses.
const ServiceCIDR = "10.100.0.0/16"

// Names of certificates and kubeconfigs in the lab's directory.
const (
	servingPair    = "apiserver"
	schedulerUser  = "scheduler"
	controllerUser = "controller-manager"
)

// apiAudience is the audience of tokens that name none.
const apiAudience = "https://kubernetes.default.svc"

func apiserverFlags(d directory.Directory, port int, signingKey, issuer string) []string {
	return []string{
		"--bind-address=127.0.0.1",
		"--advertise-address=127.0.0.1",
		"--secure-port=" + strconv.Itoa(port),
		// A loopback address may not be an endpoint of a service.
		"--endpoint-reconciler-type=none",
		"--service-cluster-ip-range=" + ServiceCIDR,
		"--etcd-servers=unix://" + d.EtcdSocket(),
		"--storage-media-type=application/vnd.kubernetes.protobuf",
		"--tls-cert-file=" + pki.CertificateFile(d.Certificates(), servingPair),
		"--tls-private-key-file=" + pki.KeyFile(d.Certificates(), servingPair),
		"--client-ca-file=" + pki.CertificateFile(d.Certificates(), "ca"),
		"--service-account-issuer=" + issuer,
		"--service-account-issuer=" + apiAudience, // of tokens that an older lab gave out
		"--api-audiences=" + apiAudience,
		"--egress-selector-config-file=" + d.File(egressFile),
		"--service-account-key-file=" + signingKey,
		"--service-account-signing-key-file=" + signingKey,
		"--authorization-mode=Node,RBAC",
		"--enable-admission-plugins=NodeRestriction",
		"--anonymous-auth=false",
		// The lab's instances are hundreds of clients of one process: limits meant for a
		// fair share would only slow the lab down.
		"--enable-priority-and-fairness=false",
		"--max-requests-inflight=0",
		"--max-mutating-requests-inflight=0",
		"--shutdown-delay-duration=0s",
		"--profiling=false",
	}
}

func controllerManagerFlags(d directory.Directory, signingKey string) []string {
	kubeconfig := componentKubeconfig(d, controllerUser)
	return []string{
		"--kubeconfig=" + kubeconfig,
		"--authentication-kubeconfig=" + kubeconfig,
		"--authorization-kubeconfig=" + kubeconfig,
		"--service-account-private-key-file=" + signingKey,
		"--root-ca-file=" + pki.CertificateFile(d.Certificates(), "ca"),
		"--use-service-account-credentials=true",
		"--leader-elect=false",
		"--secure-port=0",
		// The default of 20 requests a second makes 21 pods a second.
		"--kube-api-qps=1000",
		"--kube-api-burst=2000",
		"--concurrent-gc-syncs=20",
		// Else it makes a folder outside the directory of the lab.
		"--flex-volume-plugin-dir=" + d.File("flexvolume"),
		"--profiling=false",
		"--controllers=*,-bootstrap-signer-controller,-token-cleaner-controller" +
			",-certificatesigningrequest-signing-controller,-certificatesigningrequest-approving-controller" +
			",-certificatesigningrequest-cleaner-controller",
	}
}

func schedulerFlags(d directory.Directory) []string {
	return []string{
		"--config=" + d.File("scheduler.yaml"),
		"--secure-port=0",
	}
}

// egressFile configures how the API server reaches nodes and services.
const egressFile = "egress.yaml"

func egressConfig(d directory.Directory) []byte {
	return fmt.Appendf(nil, `apiVersion: apiserver.k8s.io/v1beta1
kind: EgressSelectorConfiguration
egressSelections:
  - name: cluster
    connection:
      proxyProtocol: HTTPConnect
      transport: {uds: {udsName: %s}}
`, strconv.Quote(d.GatewaySocket()))
}

func schedulerConfig(d directory.Directory) []byte {
	return fmt.Appendf(nil, `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
enableProfiling: false
leaderElection:
  leaderElect: false
clientConnection:
  kubeconfig: %s
  qps: 5000
  burst: 10000
`, strconv.Quote(componentKubeconfig(d, schedulerUser)))
}

func componentKubeconfig(d directory.Directory, name string) string {
	return d.File(name + ".kubeconfig")
}

// flagsOf returns the flags of a component by its name.
func flagsOf(name string, d directory.Directory, port int, signingKey, issuer string) []string {
	switch name {
	case component.APIServer:
		return apiserverFlags(d, port, signingKey, issuer)
	case component.ControllerManager:
		return controllerManagerFlags(d, signingKey)
	default:
		return schedulerFlags(d)
	}
}
