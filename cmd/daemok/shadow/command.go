// Package shadow reports what shadow mode has watched: `daemok shadow report`.
//
// It promises that it changes nothing, and that no text of a cluster is followed by a terminal or a browser. It
// measures nothing itself: the figures are those of observe/comparison.
package shadow

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cmd/daemok/inspect"
	"github.com/daemok/daemok/kube/access/output"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/observe/comparison"
)

// formHTML is the form of a page.
const formHTML = "html"

// historyMax bounds what is read of a history, in bytes.
const historyMax = 16 << 20

// fetchFor is how long a controller may take to answer.
const fetchFor = 30 * time.Second

// connector returns a client of a cluster.
type connector func(*inspect.Target) (client.Client, error)

// Command is `daemok shadow`.
func Command(open connector) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "shadow",
		Short: "Report what Daemok would have done beside another autoscaler",
		Long: `Report what Daemok would have done beside a running Karpenter or Cluster Autoscaler:
daemok-controller --shadow decides, records and changes nothing. docs/tasks/shadow.md says
how to run it, and what its figures mean.`,
	}
	cmd.AddCommand(reportCommand(open))
	return cmd
}

func reportCommand(open connector) *cobra.Command {
	at, form, from := inspect.NewTarget(), output.New(output.Table, formHTML).WithoutNames(), ""
	cmd := &cobra.Command{
		Use:   "report",
		Short: "Report costs, nodes and evictions as they were, and as they would have been",
		Long: `Report costs, nodes and evictions of the time that shadow mode has watched, as they were
and as they would have been, and the largest decisions with their reasons. It reads ConfigMap
daemok-shadow in the controller's namespace, a file that the controller keeps
(--shadow-file), or the controller itself through a port-forward.`,
		Example: `  daemok shadow report
  daemok shadow report -o html > report.html
  daemok shadow report -o json
  kubectl -n daemok port-forward deploy/daemok 8080 & daemok shadow report --from http://localhost:8080
  daemok shadow report --from history.json.gz`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, err := read(cmd.Context(), at, open, from, cmd.InOrStdin())
			if err != nil {
				return err
			}
			r := reportOf(h)
			write := r.writeText
			if form.Is(formHTML) {
				write = r.writeHTML
			}
			return form.Print(cmd.OutOrStdout(), output.Answer{Value: r, Text: write})
		},
	}
	at.AddTo(cmd)
	cmd.Flags().StringVar(&from, "from", "",
		"file with a history, - for standard input, or URL of a controller such as http://localhost:8080; default: ConfigMap "+api.ConfigMapShadow)
	form.AddTo(cmd.Flags())
	return cmd
}

// read finds the history.
func read(ctx context.Context, at *inspect.Target, open connector, from string, in io.Reader) (comparison.History,
	error) {
	data, err := []byte(nil), error(nil)
	switch {
	case strings.HasPrefix(from, "http://") || strings.HasPrefix(from, "https://"):
		data, err = fetch(ctx, strings.TrimSuffix(strings.TrimSuffix(from, "/"), comparison.Path)+comparison.Path)
	case from == "-":
		data, err = io.ReadAll(io.LimitReader(in, historyMax))
	case from != "":
		data, err = os.ReadFile(from)
	default:
		data, err = kept(ctx, at, open)
	}
	if err != nil {
		return comparison.History{}, err
	}
	h, err := comparison.Decode(data)
	if err == nil && h.Seconds == 0 {
		err = errors.New("nothing was watched yet: shadow mode writes its history a minute after its start")
	}
	return h, err
}

// kept reads the ConfigMap.
func kept(ctx context.Context, at *inspect.Target, open connector) ([]byte, error) {
	store, err := open(at)
	if err != nil {
		return nil, err
	}
	c, key := &corev1.ConfigMap{}, client.ObjectKey{Namespace: at.SystemNamespace(), Name: api.ConfigMapShadow}
	err = store.Get(ctx, key, c)
	if apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("there is no ConfigMap %s: name the namespace in which daemok-controller --shadow runs by -n, or read from the controller by --from http://localhost:8080 while kubectl -n %s port-forward runs; see docs/tasks/shadow.md", key, key.Namespace)
	}
	if err != nil {
		return nil, fmt.Errorf("read ConfigMap %s: %w", key, err)
	}
	return c.BinaryData[comparison.DataKey], nil
}

func fetch(ctx context.Context, url string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchFor)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, fmt.Errorf("--from %s: %w", url, err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, fmt.Errorf("ask the controller: %w; is kubectl port-forward running?", err)
	}
	defer func() { _ = answer.Body.Close() }() // it was read
	data, err := io.ReadAll(io.LimitReader(answer.Body, historyMax))
	if err != nil {
		return nil, fmt.Errorf("read the answer of %s: %w", url, err)
	}
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers %s: want the metrics port of daemok-controller --shadow", url, answer.Status)
	}
	return data, nil
}
