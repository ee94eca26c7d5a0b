// Changes of an ensemble's servers by go-zookeeper: reconfig HOST:PORT LINE... prints one line for each step.
//
// Each LINE is server.N=... of a server, in the order of their numbers. Servers 1 to 3 are the ensemble, 4 runs and follows without a
// vote, and the others do not run.
package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"
)

const wait = 30 * time.Second
const config = "/zookeeper/config"

type silent struct{}

func (silent) Printf(string, ...interface{}) {}

func session(address string) *zk.Conn {
	conn, events, err := zk.Connect([]string{address}, 20*time.Second, zk.WithLogger(silent{}), zk.WithLogInfo(false))
	must(err)
	deadline := time.After(wait)
	for {
		select {
		case event := <-events:
			if event.State == zk.StateHasSession {
				return conn
			}
		case <-deadline:
			panic("no session")
		}
	}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func step(name string, stat *zk.Stat, err error) {
	if err != nil {
		fmt.Printf("go %s: %v\n", name, err)
		return
	}
	fmt.Printf("go %s: version %d\n", name, stat.Version)
}

func read(conn *zk.Conn) (string, <-chan zk.Event) {
	data, stat, events, err := conn.GetW(config)
	must(err)
	fmt.Printf("go reads: %s %t\n", strings.ReplaceAll(string(data), "\n", "\\n"), int(stat.DataLength) == len(data))
	return string(data), events
}

func event(events <-chan zk.Event) {
	select {
	case e := <-events:
		fmt.Printf("go sees: %v %s\n", e.Type, e.Path)
	case <-time.After(wait):
		fmt.Println("go sees: nothing came")
	}
}

func main() {
	lines := os.Args[2:]
	plain, conn := session(os.Args[1]), session(os.Args[1])
	must(conn.AddAuth("digest", []byte("super:secret")))
	stat, err := plain.IncrementalReconfig([]string{lines[3]}, nil, -1)
	step("without the permission", stat, err)
	_, events := read(plain)
	stat, err = conn.IncrementalReconfig([]string{lines[3]}, nil, 7)
	step("another version", stat, err)
	stat, err = conn.IncrementalReconfig([]string{"server.4"}, nil, -1)
	step("no line", stat, err)
	stat, err = conn.IncrementalReconfig(nil, []string{"x"}, -1)
	step("no number leaves", stat, err)
	stat, err = conn.IncrementalReconfig(lines[4:7], nil, -1)
	step("not enough that run", stat, err)
	stat, err = conn.IncrementalReconfig([]string{lines[3]}, nil, -1)
	step("joining", stat, err)
	event(events)
	text, events := read(plain)
	version, err := strconv.ParseInt(text[strings.LastIndex(text, "=")+1:], 16, 64)
	must(err)
	stat, err = conn.IncrementalReconfig(nil, []string{"4"}, version)
	step("leaving, from its version", stat, err)
	event(events)
	stat, err = conn.IncrementalReconfig(nil, []string{"3"}, version)
	step("leaving, from the version before", stat, err)
	stat, err = conn.Reconfig(lines[:4], -1)
	step("members", stat, err)
	stat, err = conn.Reconfig(lines[:3], -1)
	step("fewer members", stat, err)
	read(plain)
	plain.Close()
	conn.Close()
}
