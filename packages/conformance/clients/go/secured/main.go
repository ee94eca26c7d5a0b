// TLS and certificates through go-zookeeper, which has no SASL: secured PLAIN TLS STRICT FOLDER prints one line for each step.
//
// PLAIN and TLS are ports of a server that asks for certificates; STRICT accepts both and requires SASL. FOLDER has
// the certificates. TLS is the dialer's work: the library leaves it to its users.
package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"
)

const (
	wait = 30 * time.Second
	// Long enough for a busy machine; a refused client waits for it in vain.
	waitInVain = 3 * time.Second
)

var folder string

type silent struct{}

func (silent) Printf(string, ...interface{}) {}

// Whom a client trusts, and whose certificate it shows; without an authority it does not speak TLS.
type who struct{ authority, certificate string }

func file(name string) string { return filepath.Join(folder, name+".pem") }

func (w who) dial(network, address string, timeout time.Duration) (net.Conn, error) {
	dialer := &net.Dialer{Timeout: timeout}
	if w.authority == "" {
		return dialer.Dial(network, address)
	}
	pem, err := os.ReadFile(file(w.authority))
	if err != nil {
		return nil, err
	}
	config := &tls.Config{RootCAs: x509.NewCertPool()}
	config.RootCAs.AppendCertsFromPEM(pem)
	if w.certificate != "" {
		own, err := tls.LoadX509KeyPair(file(w.certificate), file(w.certificate))
		if err != nil {
			return nil, err
		}
		// Shown whether or not the server names its authority: by itself the library keeps a certificate of another to itself.
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &own, nil }
	}
	return tls.DialWithDialer(dialer, network, address, config)
}

func connect(address string, w who, wait time.Duration) (*zk.Conn, bool) {
	conn, events, err := zk.Connect([]string{address}, 20*time.Second, zk.WithDialer(w.dial), zk.WithLogger(silent{}), zk.WithLogInfo(false))
	if err != nil {
		panic(err)
	}
	deadline := time.After(wait)
	for {
		select {
		case event := <-events:
			if event.State == zk.StateHasSession {
				return conn, true
			}
		case <-deadline:
			return conn, false
		}
	}
}

func session(name, address string, w who) *zk.Conn {
	conn, isConnected := connect(address, w, wait)
	fmt.Printf("%s: connected %t\n", name, isConnected)
	return conn
}

func refused(name, address string, w who) {
	conn, isConnected := connect(address, w, waitInVain)
	fmt.Printf("%s: connected %t\n", name, isConnected)
	conn.Close()
}

func result(name string, err error, part interface{}) {
	if err != nil {
		fmt.Printf("%s: error %v\n", name, err)
		return
	}
	fmt.Printf("%s: %v\n", name, part)
}

func create(name string, conn *zk.Conn, path string, acl []zk.ACL) {
	made, err := conn.Create(path, []byte(path), 0, acl)
	result(name, err, made)
}

func get(name string, conn *zk.Conn, path string) {
	data, _, err := conn.Get(path)
	result(name, err, string(data))
}

func getACL(name string, conn *zk.Conn, path string) {
	acl, _, err := conn.GetACL(path)
	texts := []string{}
	for _, one := range acl {
		texts = append(texts, fmt.Sprintf("%s:%s:%d", one.Scheme, one.ID, one.Perms))
	}
	sort.Strings(texts)
	result(name, err, strings.Join(texts, ", "))
}

func main() {
	plain, secure, strict := os.Args[1], os.Args[2], os.Args[3]
	folder = os.Args[4]
	mine := zk.AuthACL(zk.PermAll)

	guest := session("guest", plain, who{})
	alice := session("alice's certificate", secure, who{"authority", "alice"})
	bob := session("bob's certificate", secure, who{"authority", "bob"})
	create("create with auth by a certificate", alice, "/x509", mine)
	getACL("get acl that the certificate became", alice, "/x509")
	get("get by her certificate", alice, "/x509")
	get("get by his certificate", bob, "/x509")
	get("get without a certificate", guest, "/x509")
	create("create for bob's certificate", guest, "/his", []zk.ACL{{Perms: zk.PermAll, Scheme: "x509", ID: "CN=bob,OU=people,O=zooid"}})
	get("get his by his certificate", bob, "/his")
	get("get his by her certificate", alice, "/his")
	create("create for sasl without sasl", guest, "/sasl", []zk.ACL{{Perms: zk.PermAll, Scheme: "sasl", ID: "alice"}})
	get("get what is of sasl", alice, "/sasl")

	// Digests, over TLS and not.
	create("create with auth by guest", guest, "/digest", mine)
	result("add a digest", guest.AddAuth("digest", []byte("carol:secret")), "ok")
	create("create with auth by a digest", guest, "/digest", mine)
	getACL("get acl that the digest became", guest, "/digest")
	get("get without the digest", alice, "/digest")
	result("add a digest over tls", alice.AddAuth("digest", []byte("carol:secret")), "ok")
	get("get with the digest", alice, "/digest")
	create("create with auth of certificate and digest", alice, "/both", mine)
	getACL("get acl of certificate and digest", alice, "/both")
	result("add another password", bob.AddAuth("digest", []byte("carol:guess")), "ok")
	get("get with another password", bob, "/digest")
	result("say the certificate again", bob.AddAuth("x509", nil), "ok")
	get("get his by his certificate again", bob, "/his")
	for _, each := range []*zk.Conn{guest, alice, bob} {
		each.Close()
	}

	refused("no certificate", secure, who{"authority", ""})
	refused("a certificate of another authority", secure, who{"authority", "stranger"})
	refused("a server of another authority", secure, who{"other-authority", "alice"})
	refused("plain on the tls port", secure, who{})
	refused("tls on the plain port", plain, who{"authority", "alice"})
	refused("a certificate of another authority where one is wanted", strict, who{"authority", "stranger"})

	// A session begins before it is asked for SASL.
	for _, w := range []who{{}, {"authority", ""}, {"authority", "alice"}} {
		conn := session("no sasl", strict, w)
		_, _, err := conn.Exists("/")
		fmt.Printf("no sasl, asking: %t\n", err != nil)
		conn.Close()
	}
}
