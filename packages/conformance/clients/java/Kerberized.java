import java.nio.charset.StandardCharsets;
import java.util.List;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;

/**
 * Kerberos through ZooKeeper's own client: Kerberized served|refused HOST:PORT prints one line for each step.
 *
 * <p>The properties of Java name a krb5.conf, and a jaas.conf with the sections Alice and Service.
 */
public final class Kerberized extends Steps {
  /** Long enough for a busy machine; a refused client waits for it in vain. */
  private static final int WAIT_IN_VAIN_MS = 5_000;

  public static void main(String[] args) throws Exception {
    if (args[0].equals("refused")) {
      say("alice", session(args[1], "Alice", WAIT_IN_VAIN_MS) == null ? "refused" : "served");
      System.exit(0);
    }
    ZooKeeper alice = session(args[1], "Alice", WAIT_MS);
    ZooKeeper service = session(args[1], "Service", WAIT_MS);
    ZooKeeper guest = session(args[1], null, WAIT_MS);
    step("who is alice", () -> whoAmI(alice));
    step("who is the service", () -> whoAmI(service));
    step("create by alice", () -> create(alice, "/alice"));
    step("get acl by alice", () -> acl(alice, "/alice"));
    step("get by alice", () -> get(alice, "/alice"));
    step("get by the service", () -> get(service, "/alice"));
    step("get by guest", () -> get(guest, "/alice"));
    step("create by the service", () -> create(service, "/service"));
    step("get acl by the service", () -> acl(service, "/service"));
    step("create with auth by guest", () -> create(guest, "/guest"));
    for (ZooKeeper each : List.of(alice, service, guest)) each.close();
    System.exit(0);
  }

  /** A session that has come as far as it goes, or null. */
  private static ZooKeeper session(String hosts, String section, int waitMs) throws Exception {
    ZKClientConfig config = saslConfig(section);
    config.setProperty("zookeeper.sasl.client.canonicalize.hostname", "false");
    Attempt attempt = Attempt.at(hosts, config, waitMs);
    if (attempt.isServed()) return attempt.zk();
    attempt.zk().close(WAIT_IN_VAIN_MS);
    return null;
  }

  private static Object create(ZooKeeper zk, String path) throws Exception {
    return zk.create(path, path.getBytes(StandardCharsets.UTF_8), ZooDefs.Ids.CREATOR_ALL_ACL, CreateMode.PERSISTENT);
  }
}
