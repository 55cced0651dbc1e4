package up

import (
	"net"
	"testing"
)

func TestChosenPortsAreFreeAndKept(t *testing.T) {
	var before, after reservation
	p := Ports{}
	if err := before.choose(&p); err != nil {
		t.Fatal(err)
	}
	chosen := p
	if err := before.release(); err != nil {
		t.Fatal(err)
	}
	if err := after.choose(&p); err != nil || p != chosen {
		t.Errorf("second choice = %+v, %v; want %+v as before", p, err, chosen)
	}
	defer after.release()
	seen := map[int]bool{}
	for _, port := range p.all() {
		if *port < portMin || *port >= portMax || seen[*port] {
			t.Errorf("port %d is outside %d to %d or chosen twice", *port, portMin, portMax)
		}
		seen[*port] = true
	}
}

func TestPortsOfAnotherLabAreNotTakenBeforeItListens(t *testing.T) {
	var mine, others reservation
	p := Ports{}
	if err := mine.choose(&p); err != nil {
		t.Fatal(err)
	}
	for _, port := range p.all() {
		if err := others.take(*port); err == nil {
			t.Errorf("port %d was taken while another lab holds it", *port)
		}
	}
	if err := mine.release(); err != nil {
		t.Fatal(err)
	}
	defer others.release()
	if err := others.take(p.API); err != nil {
		t.Errorf("take a port that was given up: %v", err)
	}
}

func TestPortInUseIsNotFree(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	var r reservation
	if err := r.take(port); err == nil {
		t.Error("a port in use was taken for free")
	}
	l.Close()
	defer r.release()
	if err := r.take(port); err != nil {
		t.Errorf("take a port that became free: %v", err)
	}
}
