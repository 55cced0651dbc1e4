// Package gateway connects the API server to the cluster's network: to the kubelets of nodes, for all
// of which it answers here, and to services of this host.
//
// It promises that kubectl logs shows what a pod that really runs has printed. Pods whose containers
// are emulated have printed nothing, and commands cannot be run in any pod.
package gateway

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// kubeletPort is the port of every node's kubelet.
const kubeletPort = "10250"

// Gateway answers the API server's requests for connections.
type Gateway struct {
	proxy, kubelets *http.Server
	toKubelets      *listener
	life            context.Context // of connections to services
	end             context.CancelFunc

	mu      sync.Mutex // guards both below
	running sync.WaitGroup
	closed  bool // nothing is added to running any more
}

// Options say where a gateway is and what it leads to.
type Options struct {
	Socket      string          // path on which the API server asks for connections
	Certificate tls.Certificate // of kubelets
	// Log names the file that a container prints to, or that of its run before. There need be none.
	Log func(namespace, pod, container string, previous bool) string
}

// Open serves connections until Close.
func Open(ctx context.Context, o Options) (*Gateway, error) {
	socket, err := (&net.ListenConfig{}).Listen(ctx, "unix", o.Socket)
	if err != nil {
		return nil, fmt.Errorf("open gateway: %w", err)
	}
	g := &Gateway{toKubelets: &listener{waiting: make(chan net.Conn), closed: make(chan struct{})}}
	g.life, g.end = context.WithCancel(context.Background())
	g.proxy = &http.Server{Handler: http.HandlerFunc(g.connect), ReadHeaderTimeout: 10 * time.Second}
	g.kubelets = &http.Server{Handler: kubelet(o.Log), ReadHeaderTimeout: 10 * time.Second}
	g.running.Go(func() { _ = g.proxy.Serve(socket) })
	g.running.Go(func() {
		_ = g.kubelets.Serve(tls.NewListener(g.toKubelets, &tls.Config{Certificates: []tls.Certificate{o.Certificate}, NextProtos: []string{"http/1.1"}}))
	})
	return g, nil
}

// Close ends all connections.
func (g *Gateway) Close() error {
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	g.end()
	err := errors.Join(g.proxy.Close(), g.kubelets.Close())
	g.running.Wait()
	return err
}

// connect answers CONNECT as HTTP proxies do.
func (g *Gateway) connect(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodConnect {
		http.Error(w, "only CONNECT is answered here", http.StatusMethodNotAllowed)
		return
	}
	_, port, err := net.SplitHostPort(r.Host)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var there net.Conn
	if port != kubeletPort {
		if there, err = (&net.Dialer{}).DialContext(r.Context(), "tcp", r.Host); err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
	}
	here, buffered, err := w.(http.Hijacker).Hijack()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	if _, err := io.WriteString(here, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		_ = here.Close()
		return
	}
	client := &conn{Conn: here, reader: buffered.Reader}
	if there == nil {
		g.toKubelets.give(client)
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		_, _ = client.Close(), there.Close()
		return
	}
	g.running.Go(func() { pipe(g.life, client, there) })
}

// pipe copies both ways until either side or ctx ends.
func pipe(ctx context.Context, a, b net.Conn) {
	var once sync.Once
	end := func() { _, _ = a.Close(), b.Close() }
	defer context.AfterFunc(ctx, func() { once.Do(end) })()
	var wg sync.WaitGroup
	for _, way := range [][2]net.Conn{{a, b}, {b, a}} {
		wg.Go(func() {
			_, _ = io.Copy(way[0], way[1]) // a connection that ends is no error
			once.Do(end)
		})
	}
	wg.Wait()
}

// conn is a connection of which something was read already.
type conn struct {
	net.Conn
	reader *bufio.Reader
}

func (c *conn) Read(p []byte) (int, error) { return c.reader.Read(p) }

// listener hands out connections that it is given.
type listener struct {
	waiting chan net.Conn
	closed  chan struct{}
	once    sync.Once
}

func (l *listener) give(c net.Conn) {
	select {
	case l.waiting <- c:
	case <-l.closed:
		_ = c.Close()
	}
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.waiting:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *listener) Addr() net.Addr { return &net.UnixAddr{Name: "kubelets", Net: "unix"} }

// kubelet answers as that of any node does.
func kubelet(log func(namespace, pod, container string, previous bool) string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /containerLogs/{namespace}/{pod}/{container}", func(w http.ResponseWriter, r *http.Request) {
		previous := r.FormValue("previous") == "true"
		serveLog(w, r, log(r.PathValue("namespace"), r.PathValue("pod"), r.PathValue("container"), previous), previous)
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		what, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		http.Error(w, "the kubelets of a lab show logs alone, and know nothing of "+what, http.StatusNotImplemented)
	})
	return mux
}
