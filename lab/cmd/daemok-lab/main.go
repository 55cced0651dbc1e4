package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/daemok/daemok/lab/access"
	"github.com/daemok/daemok/lab/cluster"
	"github.com/daemok/daemok/lab/component"
	"github.com/daemok/daemok/lab/directory"
	"github.com/daemok/daemok/lab/pki"
	"github.com/daemok/daemok/lab/process"
)

func main() {
	if len(os.Args) > 2 && os.Args[1] == "component" {
		code, err := component.Run(os.Args[2], os.Args[3:])
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(code)
	}
	t := time.Now()
	ctx, _ := signal.NotifyContext(context.Background(), os.Interrupt)
	d, _ := directory.At("/tmp/labtry")
	d.Make()
	a, err := pki.Open(d.Certificates(), time.Now)
	fmt.Println(err)
	exe, _ := os.Executable()
	ac := access.Cluster{Name: "lab", Port: 46443, Authority: a}
	c, err := cluster.Start(ctx, cluster.Options{Directory: d, Access: ac, Program: exe, OnExit: func(e process.Exit) { fmt.Printf("%+v\n", e) }})
	fmt.Println(err, time.Since(t))
	if err == nil {
		adm, _ := ac.Admin()
		ac.WriteKubeconfig(d.Kubeconfig(), adm)
		<-ctx.Done()
		t := time.Now()
		c.Stop()
		fmt.Println("stopped", time.Since(t))
	}
}
