import java.nio.charset.StandardCharsets;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.data.Stat;

/** What the programs share that print one line for each step. */
abstract class Steps {
  static final int WAIT_MS = 30_000;

  interface Call {
    Object run() throws Exception;
  }

  static void say(String name, Object what) {
    System.out.println(name + ": " + what);
  }

  static void step(String name, Call call) throws Exception {
    try {
      say(name, call.run());
    } catch (KeeperException error) {
      say(name, error.code());
    }
  }

  /** The settings of a client that authenticates by a section of jaas.conf, or by none. */
  static ZKClientConfig saslConfig(String section) {
    ZKClientConfig config = new ZKClientConfig();
    config.setProperty(ZKClientConfig.ENABLE_CLIENT_SASL_KEY, String.valueOf(section != null));
    if (section != null) config.setProperty(ZKClientConfig.LOGIN_CONTEXT_NAME_KEY, section);
    return config;
  }

  /** A session, and whether it has come as far as it goes: connected, or for SASL authenticated. */
  record Attempt(ZooKeeper zk, boolean isServed) {
    static Attempt at(String hosts, ZKClientConfig config, int waitMs) throws Exception {
      BlockingQueue<KeeperState> states = new LinkedBlockingQueue<>();
      ZooKeeper zk =
          new ZooKeeper(
              hosts,
              20_000,
              event -> {
                if (event.getType() == EventType.None) states.add(event.getState());
              },
              config);
      boolean hasSasl = Boolean.parseBoolean(config.getProperty(ZKClientConfig.ENABLE_CLIENT_SASL_KEY));
      KeeperState wanted = hasSasl ? KeeperState.SaslAuthenticated : KeeperState.SyncConnected;
      return new Attempt(zk, reaches(states, wanted, waitMs));
    }
  }

  private static boolean reaches(BlockingQueue<KeeperState> states, KeeperState wanted, int waitMs) throws Exception {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(waitMs);
    KeeperState state = null;
    while (state != wanted && state != KeeperState.AuthFailed) {
      state = states.poll(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
      if (state == null) return false;
    }
    return state == wanted;
  }

  static Object get(ZooKeeper zk, String path) throws Exception {
    return new String(zk.getData(path, false, null), StandardCharsets.UTF_8);
  }

  static Object acl(ZooKeeper zk, String path) throws Exception {
    return zk.getACL(path, new Stat()).stream()
        .map(one -> one.getId().getScheme() + ":" + one.getId().getId() + ":" + one.getPerms())
        .sorted()
        .collect(Collectors.joining(", "));
  }

  static Object whoAmI(ZooKeeper zk) throws Exception {
    return zk.whoAmI().stream().map(one -> one.getAuthScheme() + ":" + one.getUser()).sorted().collect(Collectors.joining(", "));
  }
}
