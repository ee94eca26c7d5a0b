import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Id;

/**
 * TLS and SASL through ZooKeeper's own client: Secured PLAIN TLS STRICT FOLDER prints one line for each step.
 *
 * <p>PLAIN and TLS are ports of a server that offers SASL and asks for certificates; STRICT accepts both and requires SASL.
 * FOLDER has the certificates, and a jaas.conf with a section for each user.
 */
public final class Secured extends Steps {
  /** Long enough for a busy machine; a refused client waits for it in vain. */
  private static final int WAIT_IN_VAIN_MS = 3_000;

  private static String folder;

  public static void main(String[] args) throws Exception {
    folder = args[3];
    System.setProperty("java.security.auth.login.config", file("jaas.conf"));
    System.setProperty("zookeeper.fips-mode", "false");
    sasl(args[0]);
    certificates(args[0], args[1]);
    strict(args[2]);
    System.exit(0);
  }

  /** Who a client is: a section of jaas.conf or null, a certificate or null, whom it trusts or null for no TLS. */
  private record Who(String section, String certificate, String authority) {
    static final Who GUEST = new Who(null, null, null);

    static Who sasl(String section) {
      return new Who(section, null, null);
    }

    static Who certified(String name) {
      return new Who(null, name, "authority");
    }

    ZKClientConfig config() {
      ZKClientConfig config = saslConfig(section);
      if (authority == null) return config;
      config.setProperty(ZKClientConfig.SECURE_CLIENT, "true");
      config.setProperty(ZKClientConfig.ZOOKEEPER_CLIENT_CNXN_SOCKET, "org.apache.zookeeper.ClientCnxnSocketNetty");
      config.setProperty("zookeeper.ssl.trustStore.location", file(authority + ".pem"));
      if (certificate != null) config.setProperty("zookeeper.ssl.keyStore.location", file(certificate + ".pem"));
      return config;
    }
  }

  private static String file(String name) {
    return Path.of(folder, name).toString();
  }

  /** A session that has come as far as it goes: connected, or for SASL authenticated. */
  private static ZooKeeper session(String name, String hosts, Who who) throws Exception {
    Attempt attempt = Attempt.at(hosts, who.config(), WAIT_MS);
    say(name, attempt.isServed() ? "connected" : "not connected");
    return attempt.zk();
  }

  /** Whether the client reports a lost connection or a failed authentication is a race inside it. */
  private static void refused(String name, String hosts, Who who) throws Exception {
    Attempt attempt = Attempt.at(hosts, who.config(), WAIT_IN_VAIN_MS);
    say(name, attempt.isServed() ? "served" : "refused");
    attempt.zk().close(WAIT_IN_VAIN_MS);
  }

  private static Object create(ZooKeeper zk, String path, ACL... acl) throws Exception {
    return zk.create(path, path.getBytes(StandardCharsets.UTF_8), Arrays.asList(acl), CreateMode.PERSISTENT);
  }

  private static ACL all(String scheme, String id) {
    return new ACL(ZooDefs.Perms.ALL, new Id(scheme, id));
  }

  private static ACL mine() {
    return all("auth", "");
  }

  private static void sasl(String plain) throws Exception {
    ZooKeeper alice = session("alice", plain, Who.sasl("Alice"));
    ZooKeeper bob = session("bob", plain, Who.sasl("Bob"));
    ZooKeeper guest = session("guest", plain, Who.GUEST);
    step("who is alice", () -> whoAmI(alice));
    step("who is guest", () -> whoAmI(guest));
    step("create for alice", () -> create(alice, "/alice", all("sasl", "alice")));
    step("get by alice", () -> get(alice, "/alice"));
    step("get by bob", () -> get(bob, "/alice"));
    step("get by guest", () -> get(guest, "/alice"));
    step("get acl by bob", () -> acl(bob, "/alice"));
    step("get acl by alice", () -> acl(alice, "/alice"));
    step("set acl by bob", () -> bob.setACL("/alice", ZooDefs.Ids.OPEN_ACL_UNSAFE, -1));
    step("create with auth by bob", () -> create(bob, "/bob", mine()));
    step("get acl that auth became", () -> acl(bob, "/bob"));
    step("create below bob's by alice", () -> create(alice, "/bob/x", mine()));
    step("create with auth by guest", () -> create(guest, "/guest", mine()));
    alice.addAuthInfo("digest", "carol:secret".getBytes(StandardCharsets.UTF_8));
    step("who is alice with a digest", () -> whoAmI(alice));
    step("create with auth of both", () -> create(alice, "/both", mine()));
    step("get acl of both", () -> acl(alice, "/both"));
    refused("alice with a wrong password", plain, Who.sasl("WrongPassword"));
    refused("a user who is not known", plain, Who.sasl("Guest"));
    for (ZooKeeper each : List.of(alice, bob, guest)) each.close();
  }

  private static void certificates(String plain, String tls) throws Exception {
    ZooKeeper guest = session("guest again", plain, Who.GUEST);
    ZooKeeper alice = session("alice's certificate", tls, Who.certified("alice"));
    ZooKeeper bob = session("bob's certificate", tls, Who.certified("bob"));
    ZooKeeper both = session("a certificate and sasl", tls, new Who("Bob", "alice", "authority"));
    step("who is alice's certificate", () -> whoAmI(alice));
    step("who is a certificate and sasl", () -> whoAmI(both));
    step("create with auth by a certificate", () -> create(alice, "/x509", mine()));
    step("get acl that the certificate became", () -> acl(alice, "/x509"));
    step("get by her certificate", () -> get(alice, "/x509"));
    step("get by his certificate", () -> get(bob, "/x509"));
    step("get without a certificate", () -> get(guest, "/x509"));
    step("create for bob's certificate", () -> create(guest, "/his", all("x509", "CN=bob,OU=people,O=zooid")));
    step("get his by his certificate", () -> get(bob, "/his"));
    step("get his by her certificate", () -> get(alice, "/his"));
    step("acl of the same name in other order", () -> create(guest, "/order", all("x509", "O=zooid,OU=people,CN=bob")));
    step("get that by his certificate", () -> get(bob, "/order"));
    step("acl of no name", () -> create(guest, "/no-name", all("x509", "bob")));
    step("create with auth of certificate and sasl", () -> create(both, "/certificate-and-sasl", mine()));
    step("get acl of certificate and sasl", () -> acl(both, "/certificate-and-sasl"));
    step("get bob's by sasl over tls", () -> get(both, "/bob"));
    for (ZooKeeper each : List.of(guest, alice, bob, both)) each.close();
    refused("no certificate", tls, new Who(null, null, "authority"));
    refused("a certificate of another authority", tls, Who.certified("stranger"));
    refused("a server of another authority", tls, new Who(null, "alice", "other-authority"));
    refused("plain on the tls port", tls, Who.GUEST);
    refused("tls on the plain port", plain, Who.certified("alice"));
    refused("a certificate and a wrong password", tls, new Who("WrongPassword", "alice", "authority"));
  }

  private static void strict(String strict) throws Exception {
    ZooKeeper alice = session("sasl, plain", strict, Who.sasl("Alice"));
    ZooKeeper bob = session("sasl, tls without a certificate", strict, new Who("Bob", null, "authority"));
    ZooKeeper both = session("sasl, tls with a certificate", strict, new Who("Alice", "bob", "authority"));
    for (ZooKeeper each : List.of(alice, bob, both)) step("who am i", () -> whoAmI(each));
    step("create by alice", () -> create(alice, "/alice", mine()));
    step("get it by bob", () -> get(bob, "/alice"));
    step("get it by alice over tls", () -> get(both, "/alice"));
    for (ZooKeeper each : List.of(alice, bob, both)) each.close();
    refused("sasl, a wrong password", strict, Who.sasl("WrongPassword"));
    refused("sasl, a certificate of another authority, which Java keeps to itself", strict, new Who("Alice", "stranger", "authority"));
    for (Who who : List.of(Who.GUEST, Who.certified("alice"))) {
      ZooKeeper zk = session("no sasl", strict, who);
      step("no sasl, asking", () -> zk.exists("/", false) != null);
      zk.close();
    }
  }
}
