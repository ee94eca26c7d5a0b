import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.barriers.DistributedDoubleBarrier;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.framework.recipes.nodes.GroupMember;
import org.apache.curator.framework.recipes.nodes.PersistentNode;
import org.apache.curator.framework.recipes.queue.DistributedQueue;
import org.apache.curator.framework.recipes.queue.QueueBuilder;
import org.apache.curator.framework.recipes.queue.SimpleDistributedQueue;
import org.apache.curator.x.discovery.ServiceDiscovery;
import org.apache.curator.x.discovery.ServiceDiscoveryBuilder;
import org.apache.curator.x.discovery.ServiceInstance;
import org.apache.zookeeper.CreateMode;

/**
 * A Curator client that has names, locks and places on paths that others use too, one line a command and one line an answer: Neighbour
 * HOST:PORT. What a command opens on a path (a member below it), "close" closes, the last first.
 */
public final class Neighbour {
  private interface Opened {
    void close() throws Exception;
  }

  private static CuratorFramework client;
  private static final Map<String, Deque<Opened>> OPENED = new HashMap<>();
  private static final Map<String, GroupMember> GROUPS = new HashMap<>();
  private static final Map<String, DistributedDoubleBarrier> BARRIERS = new HashMap<>();

  public static void main(String[] args) throws Exception {
    client = Lines.connected(args[0], 30_000);
    Lines.answerAll(client, words -> answer(words[0], words[1], words.length > 2 ? words[2] : ""));
  }

  private static String answer(String command, String path, String word) throws Exception {
    switch (command) {
      case "close":
        OPENED.get(path).pop().close();
        return "closed";
      case "session":
        return String.valueOf(client.getZookeeperClient().getZooKeeper().getSessionId());
      case "register":
        return register(path, word);
      case "instance":
        return instance(path, word);
      case "member":
        GroupMember member = new GroupMember(client, path, word, bytes("curator"));
        member.start();
        GROUPS.put(path, member);
        while (client.checkExists().forPath(path + "/" + word) == null) Thread.sleep(10);
        return opened(path + "/" + word, member::close);
      case "members":
        return new TreeSet<>(GROUPS.get(path).getCurrentMembers().keySet()).toString();
      case "keep":
        PersistentNode node = new PersistentNode(client, CreateMode.EPHEMERAL, false, path, bytes(word));
        node.start();
        node.waitForInitialCreate(15, TimeUnit.SECONDS);
        return opened(path, node::close);
      case "enter":
        int members = Integer.parseInt(word);
        enter(BARRIERS.computeIfAbsent(path, at -> new DistributedDoubleBarrier(client, at, members)));
        return "entered";
      case "leave":
        BARRIERS.get(path).leave();
        return "left";
      case "rounds":
        return rounds(path, word.split(","));
      case "mutex":
        return taken(path, new InterProcessMutex(client, path));
      case "read":
        return taken(path, new InterProcessReadWriteLock(client, path).readLock());
      case "write":
        return taken(path, new InterProcessReadWriteLock(client, path).writeLock());
      case "lease":
        Lease lease = new InterProcessSemaphoreV2(client, path, Integer.parseInt(word)).acquire();
        return opened(path, lease::close);
      case "latch":
        LeaderLatch latch = new LeaderLatch(client, path, "java");
        latch.start();
        latch.await();
        return opened(path, latch::close);
      case "put":
        try (DistributedQueue<String> queue = QueueBuilder.builder(client, null, Lines.TEXT, path).buildQueue()) {
          queue.start();
          queue.put(word);
          queue.flushPuts(30, TimeUnit.SECONDS);
        }
        return "put";
      case "offer":
        return String.valueOf(new SimpleDistributedQueue(client, path).offer(bytes(word)));
      default:
        return "no such command";
    }
  }

  private static String opened(String path, Opened opened) {
    OPENED.computeIfAbsent(path, at -> new ArrayDeque<>()).push(opened);
    return "opened";
  }

  private static String taken(String path, InterProcessLock lock) throws Exception {
    lock.acquire();
    return opened(path, lock::release);
  }

  /** Registers an instance of "web" with this port as its only id. */
  private static String register(String path, String port) throws Exception {
    ServiceDiscovery<Void> discovery = ServiceDiscoveryBuilder.builder(Void.class).client(client).basePath(path).build();
    discovery.start();
    discovery.registerService(
        ServiceInstance.<Void>builder().name("web").id("one").address("10.0.0.1").port(Integer.parseInt(port)).build());
    return opened(path, discovery::close);
  }

  private static String instance(String path, String id) throws Exception {
    try (ServiceDiscovery<Void> discovery = ServiceDiscoveryBuilder.builder(Void.class).client(client).basePath(path).build()) {
      discovery.start();
      ServiceInstance<Void> found = discovery.queryForInstance("web", id);
      return found == null ? "none" : "port " + found.getPort();
    }
  }

  /** Enters and leaves again and again, with no pause between rounds: MEMBERS,ROUNDS,WORK-MS. */
  private static String rounds(String path, String[] numbers) throws Exception {
    int rounds = Integer.parseInt(numbers[1]);
    DistributedDoubleBarrier barrier = new DistributedDoubleBarrier(client, path, Integer.parseInt(numbers[0]));
    for (int i = 0; i < rounds; i++) {
      enter(barrier);
      Thread.sleep(Long.parseLong(numbers[2]));
      barrier.leave();
    }
    return rounds + " rounds";
  }

  /** A member that leaves before it has its event of the created "ready" takes that for the others' leaving. */
  private static void enter(DistributedDoubleBarrier barrier) throws Exception {
    barrier.enter();
    CountDownLatch delivered = new CountDownLatch(1);
    client.checkExists().inBackground((framework, event) -> delivered.countDown()).forPath("/");
    delivered.await();
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
