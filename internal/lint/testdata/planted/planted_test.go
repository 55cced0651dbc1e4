package planted

import (
	"net/http"
	"os"
	"testing"
)

func TestTwice(t *testing.T) {
	if overwritten() != overwritten() {
		t.Fatal("not the same")
	}
	os.Remove("x")
	response, err := http.Get("http://localhost")
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatal(err)
	}
	var n *int
	if n == nil {
		t.Fatal("never returns, so what follows is no mistake")
	}
	t.Log(*n)
	t.Logf("%d", "one") // want govet/printf
}
