package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/daemok/daemok/cloud/aws/scaling"
	"github.com/daemok/daemok/internal/brief"
	"github.com/daemok/daemok/migrate/autoscaler"
	"github.com/daemok/daemok/migrate/convert"
)

// fromAutoscaler is the one value of --from.
const fromAutoscaler = "cluster-autoscaler"

// runGroups turns the groups that a Cluster Autoscaler scales.
func (m *migration) runGroups(ctx context.Context, in io.Reader, out, errOut io.Writer) error {
	if m.from != fromAutoscaler {
		return fmt.Errorf("--from %s: the one that can be moved from is %s", m.from, fromAutoscaler)
	}
	if m.checks {
		return errors.New("--check compares nodes of Provisioners: leave it out with --from")
	}
	deployments, err := m.deployments(ctx, in)
	if err != nil {
		return err
	}
	settings, err := autoscaler.Read(deployments)
	if err != nil {
		return err
	}
	settings.Kept = m.kept
	reader, err := scaling.Open(ctx, m.at.Region, "daemok-cli")
	if err != nil {
		return err
	}
	groups, err := reader.Groups(ctx, settings.Wants)
	if err != nil {
		return err
	}
	if len(groups) == 0 {
		return errors.New("AWS has no Auto Scaling group that the Cluster Autoscaler's --nodes or --node-group-auto-discovery means: see whether --region, or AWS_REGION, and the account are the cluster's")
	}
	converter, err := convert.New()
	if err != nil {
		return err
	}
	result, err := autoscaler.Convert(settings, groups, converter)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(out, result.YAML); err != nil {
		return err
	}
	if err := m.announce(errOut, &convert.Result{Report: result.Report}); err != nil {
		return err
	}
	if m.plan == "" {
		_, err = io.WriteString(errOut, "\n"+result.Plan)
	} else {
		err = os.WriteFile(m.plan, []byte(result.Plan), 0o644)
	}
	if err != nil {
		return err
	}
	if n := result.Refused(); n > 0 {
		return fmt.Errorf("%s, see the report: what has one was not printed", brief.Counted(n, "error"))
	}
	return nil
}

// deployments are those of the manifests, or of the cluster.
func (m *migration) deployments(ctx context.Context, in io.Reader) ([]appsv1.Deployment, error) {
	if len(m.paths) == 0 {
		cluster, err := m.reach(m.at)
		if err != nil {
			return nil, err
		}
		var all appsv1.DeploymentList
		if err := cluster.List(ctx, &all); err != nil {
			return nil, fmt.Errorf("look for the Cluster Autoscaler among Deployments: %w", err)
		}
		return all.Items, nil
	}
	documents, err := m.readFiles(in)
	if err != nil {
		return nil, err
	}
	var out []appsv1.Deployment
	for _, d := range documents {
		if d.Kind != "Deployment" {
			continue
		}
		var one appsv1.Deployment
		if err := json.Unmarshal(d.JSON, &one); err != nil {
			return nil, fmt.Errorf("%s: %w", d.At(""), err)
		}
		out = append(out, one)
	}
	return out, nil
}
