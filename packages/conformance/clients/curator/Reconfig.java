import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.retry.RetryNTimes;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.data.Stat;
import org.apache.zookeeper.server.quorum.flexible.QuorumVerifier;

/**
 * Changes of an ensemble's servers by Curator: Reconfig HOST:PORT LINE... prints one line for each step.
 *
 * <p>Each LINE is server.N=... of a server, in the order of their numbers. Servers 1 to 3 are the ensemble, 4 runs and follows without
 * a vote, and the others do not run. Curator's EnsembleTracker follows each change. At the end it asks for the end of the server at
 * HOST:PORT, the only one that it was given, and waits for a line.
 */
public final class Reconfig {
  private static final int WAIT_SECONDS = 30;
  private static final BlockingQueue<WatchedEvent> EVENTS = new LinkedBlockingQueue<>();
  private static List<String> clientPlaces;

  public static void main(String[] args) throws Exception {
    List<String> lines = Arrays.asList(args).subList(1, args.length);
    String joiner = lines.get(3);
    clientPlaces = lines.stream().map(line -> line.substring(line.indexOf(';') + 1)).collect(Collectors.toList());
    CuratorFramework plain = connected(args[0], false);
    CuratorFramework client = connected(args[0], true);
    BlockingQueue<ConnectionState> states = new LinkedBlockingQueue<>();
    client.getConnectionStateListenable().addListener((source, state) -> states.add(state));

    tracks(client, 3);
    step("without the permission", () -> plain.reconfig().joining(joiner).forEnsemble());
    step("reads", () -> plain.getConfig().usingWatcher((org.apache.zookeeper.Watcher) EVENTS::add).forEnsemble());
    step("another version", () -> client.reconfig().joining(joiner).fromConfig(7).forEnsemble());
    step("no line", () -> client.reconfig().joining("server.4").forEnsemble());
    step("no number leaves", () -> client.reconfig().leaving("x").forEnsemble());
    step("not enough that run", () -> client.reconfig().joining(lines.subList(4, 7)).forEnsemble());
    Stat stat = new Stat();
    step("joining", () -> client.reconfig().joining(joiner).storingStatIn(stat).fromConfig(-1).forEnsemble());
    say("is given the Stat", stat.getVersion() + " " + (stat.getDataLength() > 0));
    WatchedEvent event = EVENTS.poll(WAIT_SECONDS, TimeUnit.SECONDS);
    say("sees", event == null ? "nothing" : event.getType() + " " + event.getPath());
    tracks(client, 4);
    tracks(plain, 4);
    long version = client.getCurrentConfig().getVersion();
    step("leaving, from its version", () -> client.reconfig().leaving("4").fromConfig(version).forEnsemble());
    tracks(client, 3);
    step("leaving, from the version before", () -> client.reconfig().leaving("3").fromConfig(version).forEnsemble());
    step("members", () -> client.reconfig().withNewMembers(lines.subList(0, 4)).forEnsemble());
    tracks(client, 4);

    long session = client.getZookeeperClient().getZooKeeper().getSessionId();
    states.clear();
    System.out.println("end the server");
    System.in.read();
    say("loses its server", states.poll(WAIT_SECONDS, TimeUnit.SECONDS));
    say("finds another one", states.poll(WAIT_SECONDS, TimeUnit.SECONDS));
    step("reads there", () -> client.getConfig().forEnsemble());
    say("keeps its session", session == client.getZookeeperClient().getZooKeeper().getSessionId());
    plain.close();
    client.close();
    System.exit(0);
  }

  private static CuratorFramework connected(String address, boolean isSuper) throws Exception {
    CuratorFrameworkFactory.Builder builder =
        CuratorFrameworkFactory.builder().connectString(address).sessionTimeoutMs(20_000).retryPolicy(new RetryNTimes(100, 100));
    if (isSuper) builder.authorization("digest", "super:secret".getBytes(StandardCharsets.UTF_8));
    CuratorFramework client = builder.build();
    client.start();
    if (!client.blockUntilConnected(WAIT_SECONDS, TimeUnit.SECONDS)) throw new IllegalStateException("not connected");
    return client;
  }

  private static void say(String what, Object answer) {
    System.out.println("curator " + what + ": " + answer);
  }

  private static void step(String name, Callable<byte[]> call) throws Exception {
    try {
      say(name, new String(call.call(), StandardCharsets.UTF_8).replace("\n", "\\n"));
    } catch (KeeperException error) {
      say(name, error.code());
    }
  }

  /** Prints what the tracker has, once it has as many servers. */
  private static void tracks(CuratorFramework client, int count) throws Exception {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(WAIT_SECONDS);
    QuorumVerifier config = client.getCurrentConfig();
    List<String> places = places(client);
    while ((config.getAllMembers().size() != count || places.size() != count) && System.nanoTime() < end) {
      Thread.sleep(20);
      config = client.getCurrentConfig();
      places = places(client);
    }
    say("tracks", new TreeSet<>(config.getAllMembers().keySet()) + " at " + places);
  }

  /** The places that it connects to, in the order of the lines. */
  private static List<String> places(CuratorFramework client) {
    List<String> places = new ArrayList<>(Arrays.asList(client.getZookeeperClient().getCurrentConnectionString().split(",")));
    places.sort(Comparator.comparing(clientPlaces::indexOf));
    return places;
  }
}
