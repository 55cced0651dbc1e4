package planted

import (
	"context"
	"net"
	"net/http"
)

func left(ctx context.Context, client *http.Client) (int, error) {
	request, err := http.NewRequestWithContext(ctx, "GET", "http://localhost", nil) // want usestdlibvars
	if err != nil {
		return 0, err
	}
	response, err := client.Do(request) // want bodyclose
	if err != nil {
		return 0, err
	}
	return response.StatusCode, nil
}

func without() (*http.Request, error) {
	return http.NewRequest(http.MethodGet, "http://localhost", nil) // want noctx
}

func listen() (net.Listener, error) { return net.Listen("tcp", "localhost:0") }

var _ = []any{left, without, listen}
