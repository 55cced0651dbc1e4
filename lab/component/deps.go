package component

import (
	_ "github.com/pelletier/go-toml/v2"
	_ "go.etcd.io/etcd/server/v3/embed"
	_ "golang.org/x/sync/errgroup"
	_ "golang.org/x/tools/txtar"
	_ "golang.org/x/time/rate"
	_ "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	_ "k8s.io/client-go/tools/watch"
	_ "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	_ "k8s.io/kubectl/pkg/cmd"
	_ "k8s.io/metrics/pkg/apis/metrics/v1beta1"
	_ "github.com/aws/aws-sdk-go-v2/config"
	_ "github.com/aws/aws-sdk-go-v2/service/ec2"
	_ "sigs.k8s.io/yaml"
	_ "sigs.k8s.io/controller-runtime/pkg/client"
)
