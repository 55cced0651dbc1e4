package control_test

import (
	"context"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/daemok/daemok/lab/control"
)

type fakeLab struct {
	restarted []string
	iced      []control.Ice
}

func (f *fakeLab) Status() control.Status {
	return control.Status{
		Phase: control.Ready, PID: 7, Directory: "/d", Kubeconfig: "/d/kubeconfig", Environment: "/d/lab.env",
		Components: []control.Component{{Name: "apiserver", PID: 8, Log: "/d/logs/apiserver.log"}},
	}
}

func (f *fakeLab) Restart(_ context.Context, component string) error {
	if component != "apiserver" {
		return fmt.Errorf("no component %q: the lab runs apiserver", component)
	}
	f.restarted = append(f.restarted, component)
	return nil
}

func (f *fakeLab) Ice(order control.Ice) (int, error) {
	if order.Kind == "" {
		return 0, fmt.Errorf("no type is named")
	}
	f.iced = append(f.iced, order)
	return 3, nil
}

func serve(t *testing.T) (*fakeLab, *control.Client, func()) {
	t.Helper()
	socket := filepath.Join(t.TempDir(), "s")
	lab := &fakeLab{}
	stop, err := control.Serve(socket, lab)
	if err != nil {
		t.Fatal(err)
	}
	return lab, control.Dial(socket), func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	}
}

func TestOrdersReachTheLab(t *testing.T) {
	lab, client, stop := serve(t)
	defer stop()
	got, err := client.Status(t.Context())
	if err != nil || !reflect.DeepEqual(got, lab.Status()) {
		t.Errorf("Status = %+v, %v; want %+v", got, err, lab.Status())
	}
	if err := client.Restart(t.Context(), "apiserver"); err != nil || len(lab.restarted) != 1 {
		t.Errorf("Restart = %v, restarted %q; want apiserver once", err, lab.restarted)
	}
}

func TestIceReachesTheLab(t *testing.T) {
	lab, client, stop := serve(t)
	defer stop()
	order := control.Ice{Kind: "m5.*", Zone: "*", Option: "spot", Machines: 2}
	if pools, err := client.Ice(t.Context(), order); err != nil || pools != 3 || !reflect.DeepEqual(lab.iced, []control.Ice{order}) {
		t.Errorf("Ice = %d, %v, the lab heard %+v; want 3 and %+v", pools, err, lab.iced, order)
	}
	if _, err := client.Ice(t.Context(), control.Ice{}); err == nil || !strings.Contains(err.Error(), "no type is named") {
		t.Errorf("Ice of nothing = %v, want the lab's own words", err)
	}
}

func TestRefusalIsToldAsTheLabSaysIt(t *testing.T) {
	_, client, stop := serve(t)
	defer stop()
	err := client.Restart(t.Context(), "etcd")
	if err == nil || !strings.Contains(err.Error(), `no component "etcd": the lab runs apiserver`) {
		t.Errorf("Restart of an unknown component = %v, want the lab's own words", err)
	}
}

func TestNobodyListens(t *testing.T) {
	_, client, stop := serve(t)
	stop()
	if _, err := client.Status(t.Context()); err == nil {
		t.Error("a lab that is gone answered")
	}
}
