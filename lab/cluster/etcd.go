package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"

	"go.etcd.io/etcd/server/v3/embed"

	"github.com/daemok/daemok/lab/directory"
)

// etcdQuotaBytes is the largest database etcd accepts, so that a benchmark of
// many thousands of objects never meets its limit.
const etcdQuotaBytes = 8 << 30

// startEtcd opens the cluster's store in this process, on a unix socket that only this user
// can reach. It does not wait for the disk: the data survives the end of the lab, a crash
// of the instance may cost it.
func startEtcd(ctx context.Context, d directory.Directory) (*embed.Etcd, error) {
	if err := os.Remove(d.EtcdSocket()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("remove old etcd socket: %w", err)
	}
	etcd, err := embed.StartEtcd(etcdConfig(d))
	if err != nil {
		return nil, fmt.Errorf("start etcd, see %s: %w", d.Log("etcd"), err)
	}
	select {
	case <-etcd.Server.ReadyNotify():
		return etcd, nil
	case err := <-etcd.Err():
		etcd.Close()
		return nil, fmt.Errorf("start etcd, see %s: %w", d.Log("etcd"), err)
	case <-ctx.Done():
		etcd.Close()
		return nil, fmt.Errorf("start etcd, see %s: %w", d.Log("etcd"), ctx.Err())
	}
}

func etcdConfig(d directory.Directory) *embed.Config {
	config := embed.NewConfig()
	config.Name, config.Dir = "lab", d.Etcd()
	config.ListenClientUrls = []url.URL{{Scheme: "unix", Path: d.EtcdSocket()}}
	// Nobody dials these; etcd insists on a host and a port.
	none := []url.URL{{Scheme: "http", Host: "127.0.0.1:1"}}
	config.AdvertiseClientUrls, config.AdvertisePeerUrls = none, none
	config.ListenPeerUrls = nil
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	config.TickMs, config.ElectionMs = 10, 100
	config.QuotaBackendBytes = etcdQuotaBytes
	config.UnsafeNoFsync = true
	config.WarningUnaryRequestDuration = embed.DefaultWarningUnaryRequestDuration // zero, which is what flags begin from, logs every request
	config.Logger, config.LogLevel = "zap", "warn"
	config.LogOutputs = []string{d.Log("etcd")}
	return config
}
