package control_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/daemok/daemok/lab/control"
)

type fakeLab struct {
	restarted []string
	ordered   []any
}

func (f *fakeLab) Machines(pattern string) ([]control.Machine, error) {
	return []control.Machine{{ID: "i-" + pattern, Console: []string{"booting"}}}, nil
}

func (f *fakeLab) Act(order control.Act) ([]control.Machine, error) {
	f.ordered = append(f.ordered, order)
	return f.Machines(order.Machine)
}

func (f *fakeLab) Next(order control.Next) error {
	f.ordered = append(f.ordered, order)
	return nil
}

func (f *fakeLab) MapRole(order control.Role) error {
	if order.Name == "" {
		return fmt.Errorf("no role is named")
	}
	f.ordered = append(f.ordered, order)
	return nil
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

func TestOrdersAboutMachinesReachTheLab(t *testing.T) {
	lab, client, stop := serve(t)
	defer stop()
	act := control.Act{Machine: "a b*", Deed: control.Report, Condition: control.Condition{Type: "Ready", Status: "False"}}
	next := control.Next{Kind: "c5.*", Tags: map[string]string{"k": "v"}}
	role := control.Role{Name: "r", Mapped: true}
	done, err := client.Act(t.Context(), act)
	if err != nil || len(done) != 1 || done[0].ID != "i-a b*" {
		t.Errorf("Act = %+v, %v; want the machine it was done to", done, err)
	}
	if found, err := client.Machines(t.Context(), "a b*"); err != nil || !reflect.DeepEqual(found, done) {
		t.Errorf("Machines = %+v, %v; want %+v", found, err, done)
	}
	if err := errors.Join(client.Next(t.Context(), next), client.MapRole(t.Context(), role)); err != nil {
		t.Error(err)
	}
	if want := []any{act, next, role}; !reflect.DeepEqual(lab.ordered, want) {
		t.Errorf("the lab heard %+v, want %+v", lab.ordered, want)
	}
	if err := client.MapRole(t.Context(), control.Role{}); err == nil || !strings.Contains(err.Error(), "no role is named") {
		t.Errorf("MapRole of nothing = %v, want the lab's own words", err)
	}
}

func TestRefusalIsReportedAsTheLabSaysIt(t *testing.T) {
	_, client, stop := serve(t)
	defer stop()
	err := client.Restart(t.Context(), "etcd")
	if err == nil || !strings.Contains(err.Error(), `no component "etcd": the lab runs apiserver`) {
		t.Errorf("Restart of an unknown component = %v, want the lab's own words", err)
	}
}

func TestNoListener(t *testing.T) {
	_, client, stop := serve(t)
	stop()
	if _, err := client.Status(t.Context()); err == nil {
		t.Error("a lab that is gone answered")
	}
}
