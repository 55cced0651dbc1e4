package orders_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/daemok/daemok/internal/orders"
)

type paint struct{ Colour string }

// A painter takes commands and returns their outcome.
func painter() *http.ServeMux {
	mux := http.NewServeMux()
	orders.Take(mux, "/paint", func(_ context.Context, p paint) (string, error) {
		if p.Colour == "" {
			return "", errors.New("no colour is named")
		}
		return "painted " + p.Colour, nil
	})
	orders.Report(mux, "/colours", func(*http.Request) ([]string, error) { return []string{"red", "blue"}, nil })
	return mux
}

func TestAnOrderAndWhatCameOfIt(t *testing.T) {
	web := httptest.NewServer(painter())
	defer web.Close()
	socket := filepath.Join(t.TempDir(), "s")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: painter()} // a test's own, on a socket of its own
	go func() { _ = server.Serve(listener) }()
	defer server.Close()
	for name, c := range map[string]*orders.Client{"port": orders.At(web.URL), "socket": orders.Dial(socket)} {
		t.Run(name, func(t *testing.T) {
			var said string
			if err := c.Give(t.Context(), "/paint", paint{"red"}, &said); err != nil || said != "painted red" {
				t.Errorf("Give = %q, %v; want what was painted", said, err)
			}
			if err := c.Give(t.Context(), "/paint", paint{}, &said); err == nil || err.Error() != "no colour is named" {
				t.Errorf("an order that cannot be carried out = %v, want the painter's own words", err)
			}
			if err := c.Give(t.Context(), "/paint", map[string]string{"Color": "red"}, &said); err == nil || !strings.Contains(err.Error(), `unknown field "Color"`) {
				t.Errorf("an order with a slip of the pen = %v, want the field named", err)
			}
			var colours []string
			if err := c.Ask(t.Context(), "/colours", &colours); err != nil || len(colours) != 2 {
				t.Errorf("Ask = %q, %v; want two", colours, err)
			}
		})
	}
}

// A web page may post a form to any port of this machine: it is no command.
func TestAFormIsNoOrder(t *testing.T) {
	web := httptest.NewServer(painter())
	defer web.Close()
	answer, err := http.Post(web.URL+"/paint", "text/plain", strings.NewReader(`{"Colour":"red"}`)) //nolint:noctx // a test
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusUnsupportedMediaType {
		t.Errorf("status %d, want %d", answer.StatusCode, http.StatusUnsupportedMediaType)
	}
}

func TestNoListener(t *testing.T) {
	var said string
	if err := orders.Dial(filepath.Join(t.TempDir(), "none")).Ask(t.Context(), "/colours", &said); err == nil {
		t.Error("nobody answered, without an error")
	}
}
