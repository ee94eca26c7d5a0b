//go:build server

// Package main names etcd's server, so that `go build go.etcd.io/etcd/server/v3` takes the version that go.mod pins.
package main

import _ "go.etcd.io/etcd/server/v3/etcdmain"
