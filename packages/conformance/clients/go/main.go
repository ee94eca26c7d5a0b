// The conformance scenario through go-zookeeper: scenario HOST:PORT PROXY_HOST:PORT prints one line for each step.
//
// The second address leads to the same server through a proxy that loses connections on request. What differs from run
// to run (zxids, times, session ids) is printed as a relation or left out.
package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sort"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"
)

const wait = 30 * time.Second

var a, b *zk.Conn
var open = zk.WorldACL(zk.PermAll)

type silent struct{}

func (silent) Printf(string, ...interface{}) {}

func session(address string) (*zk.Conn, <-chan zk.Event) {
	conn, events, err := zk.Connect([]string{address}, 20*time.Second, zk.WithLogger(silent{}), zk.WithLogInfo(false))
	if err != nil {
		panic(err)
	}
	awaitState(events, zk.StateHasSession)
	return conn, events
}

// Skips what lies between: the library reports every try to connect.
func awaitState(events <-chan zk.Event, state zk.State) {
	deadline := time.After(wait)
	for {
		select {
		case event := <-events:
			if event.Type == zk.EventSession && event.State == state {
				return
			}
		case <-deadline:
			fmt.Println("state: never reached", state)
			return
		}
	}
}

func statText(s *zk.Stat) string {
	owner := "other"
	if s.EphemeralOwner == 0 {
		owner = "none"
	} else if s.EphemeralOwner == a.SessionID() {
		owner = "mine"
	}
	return fmt.Sprintf("version=%d cversion=%d aversion=%d owner=%s length=%d children=%d touched=%t populated=%t dated=%t",
		s.Version, s.Cversion, s.Aversion, owner, s.DataLength, s.NumChildren, s.Mzxid > s.Czxid, s.Pzxid > s.Czxid,
		s.Ctime > 0 && s.Mtime >= s.Ctime)
}

func result(name string, err error, parts ...interface{}) {
	if err != nil {
		fmt.Printf("%s: error %v\n", name, err)
		return
	}
	texts := []string{}
	for _, part := range parts {
		switch value := part.(type) {
		case *zk.Stat:
			texts = append(texts, statText(value))
		case []string:
			sort.Strings(value)
			texts = append(texts, "["+strings.Join(value, " ")+"]")
		case []byte:
			texts = append(texts, "'"+string(value)+"'")
		default:
			texts = append(texts, fmt.Sprint(value))
		}
	}
	fmt.Printf("%s: %s\n", name, strings.Join(append([]string{"ok"}, texts...), " "))
}

func create(name string, conn *zk.Conn, path, data string, flags int32, acl []zk.ACL) {
	made, err := conn.Create(path, []byte(data), flags, acl)
	result(name, err, made)
}
func get(name string, conn *zk.Conn, path string) {
	data, stat, err := conn.Get(path)
	result(name, err, data, stat)
}
func set(name string, conn *zk.Conn, path, data string, version int32) {
	stat, err := conn.Set(path, []byte(data), version)
	result(name, err, stat)
}
func exists(name string, conn *zk.Conn, path string) {
	found, stat, err := conn.Exists(path)
	if err == nil && !found {
		result(name, err, "missing")
		return
	}
	result(name, err, stat)
}
func children(name string, conn *zk.Conn, path string) {
	names, stat, err := conn.Children(path)
	result(name, err, names, stat)
}
func getACL(name string, conn *zk.Conn, path string) {
	acl, stat, err := conn.GetACL(path)
	result(name, err, acl, stat)
}

func event(name string, events <-chan zk.Event) {
	select {
	case e := <-events:
		fmt.Printf("%s: event %v %s\n", name, e.Type, e.Path)
	case <-time.After(wait):
		fmt.Printf("%s: no event\n", name)
	}
}

func watchData(name string, conn *zk.Conn, path string) <-chan zk.Event {
	data, stat, events, err := conn.GetW(path)
	result(name, err, data, stat)
	return events
}
func watchExists(name string, conn *zk.Conn, path string) <-chan zk.Event {
	found, _, events, err := conn.ExistsW(path)
	result(name, err, found)
	return events
}
func watchChildren(name string, conn *zk.Conn, path string) <-chan zk.Event {
	names, _, events, err := conn.ChildrenW(path)
	result(name, err, names)
	return events
}

func multi(name string, ops ...interface{}) {
	responses, err := a.Multi(ops...)
	texts := []string{}
	for _, response := range responses {
		text := "ok " + response.String
		if response.Error != nil {
			text = response.Error.Error()
		}
		if response.Stat != nil {
			text += fmt.Sprintf(" version=%d", response.Stat.Version)
		}
		texts = append(texts, strings.TrimSpace(text))
	}
	fmt.Printf("%s: %v [%s]\n", name, err, strings.Join(texts, ", "))
}

func say(proxied, word string) {
	control, err := net.DialTimeout("tcp", proxied, wait)
	if err != nil {
		panic(err)
	}
	defer control.Close()
	control.Write([]byte(word))
	answer, _ := io.ReadAll(control)
	if string(answer) != "done" {
		panic(errors.New("the proxy did not answer"))
	}
}

func main() {
	direct, proxied := os.Args[1], os.Args[2]
	var states <-chan zk.Event
	a, states = session(proxied)
	b, _ = session(direct)

	// Nodes and their versions.
	create("create", a, "/g", "hello", 0, open)
	create("create again", a, "/g", "hello", 0, open)
	create("create below a missing parent", a, "/missing/x", "", 0, open)
	get("get", b, "/g")
	get("get a missing node", a, "/nope")
	exists("exists", a, "/g")
	exists("exists of a missing node", a, "/nope")
	set("set at version 0", a, "/g", "world", 0)
	set("set at version 0 again", a, "/g", "worse", 0)
	set("set at any version", a, "/g", "", -1)
	set("set a missing node", a, "/nope", "", -1)
	create("create a child", a, "/g/child", "", 0, open)
	result("delete with children", a.Delete("/g", -1))
	result("delete at a wrong version", a.Delete("/g/child", 5))
	result("delete", a.Delete("/g/child", 0))
	result("delete again", a.Delete("/g/child", 0))

	// Sequences and ephemerals.
	create("create sequential", a, "/g/q-", "", zk.FlagSequence, open)
	create("create ephemeral sequential", a, "/g/q-", "", zk.FlagSequence|zk.FlagEphemeral, open)
	create("create ephemeral", a, "/g/e", "mine", zk.FlagEphemeral, open)
	create("create below an ephemeral", a, "/g/e/x", "", 0, open)
	create("create ephemeral by the other session", b, "/g/b", "", zk.FlagEphemeral, open)
	exists("stat of an ephemeral", a, "/g/e")
	exists("stat of the other's ephemeral", a, "/g/b")
	children("children", a, "/g")
	children("children of a missing node", a, "/nope")

	// Watches, one shot each.
	data := watchData("watch data", a, "/g/e")
	creation := watchExists("watch for creation", a, "/g/new")
	child := watchChildren("watch children", a, "/g")
	set("set by the other session", b, "/g/e", "changed", -1)
	event("data", data)
	create("create by the other session", b, "/g/new", "", 0, open)
	event("creation", creation)
	event("children", child)
	deletion := watchExists("watch for deletion", a, "/g/new")
	deletedData := watchData("watch data of what is deleted", a, "/g/new")
	deletedChildren := watchChildren("watch children of what is deleted", a, "/g/new")
	result("delete by the other session", b.Delete("/g/new", -1))
	event("deletion", deletion)
	event("deletion seen by the data watch", deletedData)
	event("deletion seen by the child watch", deletedChildren)

	// Transactions.
	multi("multi",
		&zk.CreateRequest{Path: "/g/m", Data: []byte("1"), Acl: open},
		&zk.CreateRequest{Path: "/g/m/n-", Data: []byte("2"), Acl: open, Flags: zk.FlagSequence},
		&zk.SetDataRequest{Path: "/g/m", Data: []byte("33"), Version: 0},
		&zk.CheckVersionRequest{Path: "/g/m", Version: 1},
		&zk.DeleteRequest{Path: "/g/m/n-0000000000", Version: 0})
	multi("multi that fails in the middle",
		&zk.CreateRequest{Path: "/g/m/x", Acl: open},
		&zk.CheckVersionRequest{Path: "/g/m", Version: 77},
		&zk.CreateRequest{Path: "/g/m/y", Acl: open})
	get("get after a failed multi", a, "/g/m")
	children("children after a failed multi", a, "/g/m")
	multi("multi on a missing node", &zk.SetDataRequest{Path: "/nope", Version: -1})

	// ACLs. This client sends auth with an ordinary xid.
	create("create with a digest acl", a, "/ga", "hidden", 0, zk.DigestACL(zk.PermAll, "alice", "secret"))
	get("get without authority", a, "/ga")
	exists("exists without authority", a, "/ga")
	set("set without authority", a, "/ga", "", -1)
	getACL("get acl without authority", a, "/ga")
	create("create with an empty acl", a, "/bad", "", 0, []zk.ACL{})
	create("create with an unknown scheme", a, "/bad", "", 0, []zk.ACL{{Perms: 31, Scheme: "unknown", ID: "id"}})
	create("create with auth but no identity", a, "/bad", "", 0, zk.AuthACL(zk.PermAll))
	result("add auth", a.AddAuth("digest", []byte("alice:secret")))
	get("get with authority", a, "/ga")
	create("create with auth", a, "/ga/mine", "", 0, zk.AuthACL(zk.PermRead|zk.PermAdmin))
	getACL("get acl that auth became", a, "/ga/mine")
	stat, err := a.SetACL("/ga", zk.WorldACL(zk.PermRead), 0)
	result("set acl", err, stat)
	stat, err = a.SetACL("/ga", open, 1)
	result("set acl that is no longer ours", err, stat)
	get("get by a stranger", b, "/ga")
	result("delete by a stranger", b.Delete("/ga/mine", -1))
	synced, err := a.Sync("/g")
	result("sync", err, synced)

	// A lost connection. This client arms its watches again with an ordinary xid.
	create("create what is watched", a, "/g/w", "", 0, open)
	create("create what stays as it is", a, "/g/same", "", 0, open)
	changed := watchData("watch data", a, "/g/w")
	stays := watchData("watch data that stays", a, "/g/same")
	created := watchExists("watch for creation", a, "/g/later")
	grown := watchChildren("watch children", a, "/g")
	id := a.SessionID()
	say(proxied, "cut!")
	awaitState(states, zk.StateDisconnected)
	set("set while the other is away", b, "/g/w", "meanwhile", -1)
	create("create while the other is away", b, "/g/later", "", 0, open)
	say(proxied, "join")
	awaitState(states, zk.StateHasSession)
	event("data after reconnect", changed)
	event("creation after reconnect", created)
	event("children after reconnect", grown)
	fmt.Println("same session:", a.SessionID() == id)
	set("set what stayed", b, "/g/same", "no more", -1)
	event("armed again", stays)
	get("authority after reconnect", a, "/ga/mine")

	// The end of a session takes its ephemerals along.
	gone := watchExists("watch the other's ephemeral", a, "/g/b")
	b.Close()
	event("end of a session", gone)
	children("children at the end", a, "/g")
	a.Close()
}
