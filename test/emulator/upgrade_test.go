package emulator_test

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"

	"github.com/daemok/daemok/test/emulator/world"
)

// "During an update, the cluster status moves to UPDATING. When the update is complete (either Failed or Successful), the
// cluster status moves to Active." One minor version at a time.
func TestTheClusterIsUpdatedOneMinorVersionUp(t *testing.T) {
	a := open(t, func(o *world.Options) { o.Account.EKSVersion = "1.34" })
	api := eks.NewFromConfig(a.config)
	cluster := func() (string, types.ClusterStatus) {
		out, err := api.DescribeCluster(t.Context(), &eks.DescribeClusterInput{Name: aws.String("lab")})
		a.must(err)
		return *out.Cluster.Version, out.Cluster.Status
	}
	update := func(version string) (*types.Update, error) {
		out, err := api.UpdateClusterVersion(t.Context(), &eks.UpdateClusterVersionInput{Name: aws.String("lab"), Version: &version})
		if err != nil {
			return nil, err
		}
		return out.Update, nil
	}
	for version, want := range map[string]string{"1.34": "InvalidParameterException", "1.33": "InvalidParameterException", "1.36": "InvalidParameterException", "2.0": "InvalidParameterException"} {
		if _, err := update(version); code(err) != want {
			t.Errorf("from 1.34 to %s: %v, want %s", version, err, want)
		}
	}
	u, err := update("1.35")
	a.must(err)
	if v, status := cluster(); u.Status != types.UpdateStatusInProgress || v != "1.34" || status != types.ClusterStatusUpdating {
		t.Errorf("the update is %s, the cluster %s at %s; want it to be updating at 1.34", u.Status, status, v)
	}
	if _, err := update("1.35"); code(err) != "ResourceInUseException" {
		t.Errorf("an update during another: %v", err)
	}
	a.Advance(8 * time.Minute)
	reported, err := api.DescribeUpdate(t.Context(), &eks.DescribeUpdateInput{Name: aws.String("lab"), UpdateId: u.Id})
	a.must(err)
	if v, status := cluster(); reported.Update.Status != types.UpdateStatusSuccessful || v != "1.35" || status != types.ClusterStatusActive {
		t.Errorf("the update is %s, the cluster %s at %s; want it done", reported.Update.Status, status, v)
	}
	all, err := api.ListUpdates(t.Context(), &eks.ListUpdatesInput{Name: aws.String("lab")})
	a.must(err)
	if len(all.UpdateIds) != 1 || all.UpdateIds[0] != *u.Id {
		t.Errorf("updates are %v, want the one", all.UpdateIds)
	}
	saved, err := a.server.Export()
	a.must(err)
	a.must(a.server.Import(saved))
	if v, _ := cluster(); v != "1.35" {
		t.Errorf("the version is %s after a restart, want 1.35 as before", v)
	}
}
