import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.data.Stat;

/**
 * Kerberos through ZooKeeper's own client: Kerberized served|refused HOST:PORT prints one line for each step.
 *
 * <p>The properties of Java name a krb5.conf, and a jaas.conf with the sections Alice and Service.
 */
public final class Kerberized {
  private static final int WAIT_MS = 30_000;
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

  private interface Call {
    Object run() throws Exception;
  }

  private static void say(String name, Object what) {
    System.out.println(name + ": " + what);
  }

  private static void step(String name, Call call) throws Exception {
    try {
      say(name, call.run());
    } catch (KeeperException error) {
      say(name, error.code());
    }
  }

  /** A session that has come as far as it goes, or null. */
  private static ZooKeeper session(String hosts, String section, int waitMs) throws Exception {
    BlockingQueue<KeeperState> states = new LinkedBlockingQueue<>();
    ZKClientConfig config = new ZKClientConfig();
    config.setProperty(ZKClientConfig.ENABLE_CLIENT_SASL_KEY, String.valueOf(section != null));
    if (section != null) config.setProperty(ZKClientConfig.LOGIN_CONTEXT_NAME_KEY, section);
    config.setProperty("zookeeper.sasl.client.canonicalize.hostname", "false");
    ZooKeeper zk = new ZooKeeper(hosts, 20_000, event -> note(states, event), config);
    KeeperState wanted = section == null ? KeeperState.SyncConnected : KeeperState.SaslAuthenticated;
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(waitMs);
    KeeperState state = null;
    while (state != wanted && state != KeeperState.AuthFailed) {
      state = states.poll(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
      if (state == null) break;
    }
    if (state == wanted) return zk;
    zk.close(WAIT_IN_VAIN_MS);
    return null;
  }

  private static void note(BlockingQueue<KeeperState> states, WatchedEvent event) {
    if (event.getType() == EventType.None) states.add(event.getState());
  }

  private static Object create(ZooKeeper zk, String path) throws Exception {
    return zk.create(path, path.getBytes(StandardCharsets.UTF_8), ZooDefs.Ids.CREATOR_ALL_ACL, CreateMode.PERSISTENT);
  }

  private static Object get(ZooKeeper zk, String path) throws Exception {
    return new String(zk.getData(path, false, null), StandardCharsets.UTF_8);
  }

  private static Object acl(ZooKeeper zk, String path) throws Exception {
    return zk.getACL(path, new Stat()).stream()
        .map(one -> one.getId().getScheme() + ":" + one.getId().getId() + ":" + one.getPerms())
        .sorted()
        .collect(Collectors.joining(", "));
  }

  private static Object whoAmI(ZooKeeper zk) throws Exception {
    return zk.whoAmI().stream().map(one -> one.getAuthScheme() + ":" + one.getUser()).sorted().collect(Collectors.joining(", "));
  }
}
