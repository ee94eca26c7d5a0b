import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.api.transaction.CuratorOp;
import org.apache.curator.framework.api.transaction.CuratorTransactionResult;
import org.apache.curator.framework.recipes.atomic.AtomicValue;
import org.apache.curator.framework.recipes.atomic.DistributedAtomicLong;
import org.apache.curator.framework.recipes.barriers.DistributedBarrier;
import org.apache.curator.framework.recipes.barriers.DistributedDoubleBarrier;
import org.apache.curator.framework.recipes.cache.ChildData;
import org.apache.curator.framework.recipes.cache.CuratorCache;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.leader.LeaderSelector;
import org.apache.curator.framework.recipes.leader.LeaderSelectorListenerAdapter;
import org.apache.curator.framework.recipes.locks.InterProcessMultiLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreMutex;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.framework.recipes.nodes.GroupMember;
import org.apache.curator.framework.recipes.nodes.PersistentNode;
import org.apache.curator.framework.recipes.nodes.PersistentTtlNode;
import org.apache.curator.framework.recipes.queue.SimpleDistributedQueue;
import org.apache.curator.framework.recipes.shared.SharedCount;
import org.apache.curator.framework.recipes.watch.PersistentWatcher;
import org.apache.curator.retry.RetryOneTime;
import org.apache.curator.x.discovery.ServiceDiscovery;
import org.apache.curator.x.discovery.ServiceDiscoveryBuilder;
import org.apache.curator.x.discovery.ServiceInstance;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.data.Stat;

/** Curator's recipes, a family at a time, by two clients that see each other: Scenario HOST:PORT HOST:PORT. */
public final class Scenario {
  private static final ExecutorService OTHERS = Executors.newCachedThreadPool();
  private static CuratorFramework a;
  private static CuratorFramework b;

  public static void main(String[] args) throws Exception {
    a = start(args[0]);
    b = start(args[0]);
    framework();
    locks();
    leaders();
    barriers();
    counters();
    queues();
    caches();
    nodes();
    discovery();
    a.close();
    b.close();
    OTHERS.shutdownNow();
    say("the end");
    System.exit(0);
  }

  private static CuratorFramework start(String hosts) throws Exception {
    CuratorFramework client =
        CuratorFrameworkFactory.builder()
            .connectString(hosts)
            .sessionTimeoutMs(30_000)
            .connectionTimeoutMs(15_000)
            .retryPolicy(new RetryOneTime(100))
            .build();
    client.start();
    say("connected " + client.blockUntilConnected(15, TimeUnit.SECONDS));
    return client;
  }

  private static void say(String text) {
    System.out.println(text);
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static String text(byte[] data) {
    return data == null ? "null" : new String(data, StandardCharsets.UTF_8);
  }

  /** What differs from run to run becomes a word. */
  private static String plain(String name) {
    return name.replaceAll("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "UUID");
  }

  /** A subtree as the server has it: names, kinds, versions. */
  private static void tree(String path) throws Exception {
    Stat stat = b.checkExists().forPath(path);
    if (stat == null) {
      say("  " + path + " is not there");
      return;
    }
    String owner = stat.getEphemeralOwner() == 0 ? "lasting" : stat.getEphemeralOwner() < 0 ? "special" : "ephemeral";
    say("  " + plain(path) + " " + owner + " v" + stat.getVersion() + " c" + stat.getCversion() + " " + stat.getNumChildren());
    List<String> children = new ArrayList<>(b.getChildren().forPath(path));
    children.sort((one, other) -> one.substring(Math.max(0, one.length() - 10)).compareTo(other.substring(Math.max(0, other.length() - 10))));
    for (String child : children) tree(path + "/" + child);
  }

  private static <T> Future<T> meanwhile(Callable<T> work) {
    return OTHERS.submit(work);
  }

  private static void framework() throws Exception {
    say("# framework");
    say(a.create().creatingParentsIfNeeded().forPath("/f/deep/node", bytes("one")));
    say(plain(a.create().withProtection().withMode(CreateMode.EPHEMERAL_SEQUENTIAL).forPath("/f/protected-", bytes("two"))));
    say(a.create().creatingParentContainersIfNeeded().forPath("/f/container/x"));
    say(a.create().orSetData().forPath("/f/deep/node", bytes("three")) + " " + text(b.getData().forPath("/f/deep/node")));
    Stat stat = new Stat();
    say(text(b.getData().storingStatIn(stat).forPath("/f/deep/node")) + " v" + stat.getVersion());
    try {
      b.setData().withVersion(7).forPath("/f/deep/node", bytes("no"));
    } catch (KeeperException error) {
      say("set at a wrong version: " + error.code());
    }
    Collection<CuratorTransactionResult> results =
        a.transaction()
            .forOperations(
                a.transactionOp().create().forPath("/f/t", bytes("t")),
                a.transactionOp().setData().withVersion(0).forPath("/f/t", bytes("tt")),
                a.transactionOp().check().withVersion(1).forPath("/f/t"),
                a.transactionOp().delete().forPath("/f/t"));
    for (CuratorTransactionResult result : results) say("  " + result.getType() + " " + result.getForPath() + " " + result.getResultPath());
    try {
      List<CuratorOp> failing = new ArrayList<>();
      failing.add(a.transactionOp().create().forPath("/f/u"));
      failing.add(a.transactionOp().delete().forPath("/f/missing"));
      a.transaction().forOperations(failing);
    } catch (KeeperException error) {
      StringBuilder codes = new StringBuilder();
      error.getResults().forEach(result -> codes.append(' ').append(((org.apache.zookeeper.OpResult.ErrorResult) result).getErr()));
      say("transaction: " + error.code() + codes);
    }
    BlockingQueue<String> background = new LinkedBlockingQueue<>();
    b.getChildren().inBackground((client, event) -> background.add(event.getType() + " " + event.getResultCode())).forPath("/f/deep");
    say(background.poll(10, TimeUnit.SECONDS));
    b.checkExists().inBackground((client, event) -> background.add(event.getType() + " " + event.getResultCode())).forPath("/f/none");
    say(background.poll(10, TimeUnit.SECONDS));
    a.delete().guaranteed().deletingChildrenIfNeeded().forPath("/f/deep");
    tree("/f");
  }

  private static void locks() throws Exception {
    say("# locks");
    InterProcessMutex mine = new InterProcessMutex(a, "/locks/mutex");
    InterProcessMutex theirs = new InterProcessMutex(b, "/locks/mutex");
    mine.acquire();
    mine.acquire();
    say("theirs in vain " + theirs.acquire(200, TimeUnit.MILLISECONDS));
    Future<Boolean> waiting = meanwhile(() -> theirs.acquire(20, TimeUnit.SECONDS) && held(theirs));
    while (mine.getParticipantNodes().size() < 2) Thread.onSpinWait();
    tree("/locks/mutex");
    mine.release();
    mine.release();
    say("theirs after mine " + waiting.get());
    InterProcessSemaphoreMutex simple = new InterProcessSemaphoreMutex(a, "/locks/simple");
    simple.acquire();
    say("no second time " + simple.acquire(200, TimeUnit.MILLISECONDS));
    tree("/locks/simple");
    simple.release();
    InterProcessReadWriteLock readWrite = new InterProcessReadWriteLock(a, "/locks/rw");
    InterProcessReadWriteLock others = new InterProcessReadWriteLock(b, "/locks/rw");
    readWrite.readLock().acquire();
    say("two read " + others.readLock().acquire(10, TimeUnit.SECONDS) + ", one writes " + others.writeLock().acquire(200, TimeUnit.MILLISECONDS));
    tree("/locks/rw");
    readWrite.readLock().release();
    others.readLock().release();
    say("then it writes " + others.writeLock().acquire(10, TimeUnit.SECONDS));
    say("and reads " + others.readLock().acquire(10, TimeUnit.SECONDS));
    others.writeLock().release();
    others.readLock().release();
    InterProcessSemaphoreV2 semaphore = new InterProcessSemaphoreV2(a, "/locks/semaphore", 2);
    Collection<Lease> leases = semaphore.acquire(2);
    say("a third " + (semaphore.acquire(200, TimeUnit.MILLISECONDS) != null));
    tree("/locks/semaphore");
    semaphore.returnAll(leases);
    InterProcessMultiLock multi = new InterProcessMultiLock(b, List.of("/locks/m1", "/locks/m2"));
    say("both " + multi.acquire(10, TimeUnit.SECONDS));
    multi.release();
  }

  private static boolean held(InterProcessMutex mutex) throws Exception {
    boolean isHeld = mutex.isAcquiredInThisProcess();
    mutex.release();
    return isHeld;
  }

  private static void leaders() throws Exception {
    say("# leaders");
    LeaderLatch first = new LeaderLatch(a, "/leaders/latch", "first");
    LeaderLatch second = new LeaderLatch(b, "/leaders/latch", "second");
    first.start();
    first.await();
    second.start();
    while (second.getParticipants().size() < 2) Thread.onSpinWait();
    say(first.hasLeadership() + " " + second.hasLeadership() + " " + second.getLeader());
    tree("/leaders/latch");
    first.close();
    second.await();
    say("then " + second.getLeader());
    second.close();
    CountDownLatch led = new CountDownLatch(2);
    LeaderSelectorListenerAdapter listener =
        new LeaderSelectorListenerAdapter() {
          @Override
          public void takeLeadership(CuratorFramework client) {
            led.countDown();
          }
        };
    LeaderSelector one = new LeaderSelector(a, "/leaders/selector", listener);
    LeaderSelector two = new LeaderSelector(b, "/leaders/selector", listener);
    one.start();
    two.start();
    say("each has led " + led.await(15, TimeUnit.SECONDS));
    one.close();
    two.close();
  }

  private static void barriers() throws Exception {
    say("# barriers");
    DistributedBarrier barrier = new DistributedBarrier(a, "/barriers/one");
    barrier.setBarrier();
    DistributedBarrier other = new DistributedBarrier(b, "/barriers/one");
    say("stands " + other.waitOnBarrier(200, TimeUnit.MILLISECONDS));
    Future<Boolean> waiting = meanwhile(() -> other.waitOnBarrier(20, TimeUnit.SECONDS));
    barrier.removeBarrier();
    say("goes " + waiting.get());
    DistributedDoubleBarrier mine = new DistributedDoubleBarrier(a, "/barriers/two", 2);
    DistributedDoubleBarrier theirs = new DistributedDoubleBarrier(b, "/barriers/two", 2);
    Future<Boolean> enters = meanwhile(() -> theirs.enter(20, TimeUnit.SECONDS));
    say("enter " + mine.enter(20, TimeUnit.SECONDS) + " " + enters.get());
    Future<Boolean> leaves = meanwhile(() -> theirs.leave(20, TimeUnit.SECONDS));
    say("leave " + mine.leave(20, TimeUnit.SECONDS) + " " + leaves.get());
  }

  private static void counters() throws Exception {
    say("# counters");
    SharedCount mine = new SharedCount(a, "/counters/shared", 5);
    SharedCount theirs = new SharedCount(b, "/counters/shared", 5);
    mine.start();
    theirs.start();
    say(mine.getCount() + " " + mine.trySetCount(mine.getVersionedValue(), 6));
    while (theirs.getCount() != 6) Thread.onSpinWait();
    say("theirs " + theirs.getCount());
    mine.close();
    theirs.close();
    DistributedAtomicLong atomic = new DistributedAtomicLong(a, "/counters/atomic", new RetryOneTime(10));
    say("initialized " + atomic.initialize(40L));
    AtomicValue<Long> value = new DistributedAtomicLong(b, "/counters/atomic", new RetryOneTime(10)).add(2L);
    say(value.succeeded() + " " + value.preValue() + " " + value.postValue());
    say("compare and set " + atomic.compareAndSet(41L, 0L).succeeded() + " " + atomic.compareAndSet(42L, 0L).succeeded());
    tree("/counters");
  }

  private static void queues() throws Exception {
    say("# queues");
    SimpleDistributedQueue queue = new SimpleDistributedQueue(a, "/queues/simple");
    SimpleDistributedQueue other = new SimpleDistributedQueue(b, "/queues/simple");
    for (String item : List.of("one", "two", "three")) queue.offer(bytes(item));
    tree("/queues/simple");
    say(text(other.peek()) + " " + text(other.poll()) + " " + text(other.take()) + " " + text(other.remove()));
    Future<byte[]> taken = meanwhile(() -> other.take());
    queue.offer(bytes("four"));
    say(text(taken.get()));
  }

  private static void caches() throws Exception {
    say("# caches");
    BlockingQueue<String> events = new LinkedBlockingQueue<>();
    CuratorCache cache = CuratorCache.build(b, "/cache");
    cache.listenable().addListener((type, before, after) -> events.add(type + " " + pathOf(before, after)));
    a.create().forPath("/cache", bytes("root"));
    a.create().forPath("/cache/x", bytes("1"));
    cache.start();
    List<String> first = new ArrayList<>(List.of(events.poll(10, TimeUnit.SECONDS), events.poll(10, TimeUnit.SECONDS)));
    Collections.sort(first);
    say(first.toString());
    a.setData().forPath("/cache/x", bytes("2"));
    say(events.poll(10, TimeUnit.SECONDS));
    a.create().forPath("/cache/x/y", bytes("3"));
    say(events.poll(10, TimeUnit.SECONDS));
    a.delete().deletingChildrenIfNeeded().forPath("/cache/x");
    say(events.poll(10, TimeUnit.SECONDS) + ", " + events.poll(10, TimeUnit.SECONDS));
    Map<String, String> held = new TreeMap<>();
    cache.stream().forEach(data -> held.put(data.getPath(), text(data.getData())));
    say(held.toString());
    cache.close();
    PersistentWatcher watcher = new PersistentWatcher(b, "/watched", true);
    BlockingQueue<String> seen = new LinkedBlockingQueue<>();
    CountDownLatch armed = new CountDownLatch(1);
    watcher.getResetListenable().addListener(armed::countDown);
    watcher.getListenable().addListener(event -> seen.add(event.getType() + " " + event.getPath()));
    watcher.start();
    armed.await();
    a.create().creatingParentsIfNeeded().forPath("/watched/deep/down");
    a.setData().forPath("/watched/deep", bytes("x"));
    for (int i = 0; i < 4; i++) say(seen.poll(10, TimeUnit.SECONDS));
    watcher.close();
  }

  private static String pathOf(ChildData before, ChildData after) {
    ChildData data = after == null ? before : after;
    return data.getPath() + " " + text(data.getData());
  }

  private static void nodes() throws Exception {
    say("# nodes");
    PersistentNode node = new PersistentNode(a, CreateMode.EPHEMERAL, false, "/nodes/mine", bytes("here"));
    node.start();
    say("made " + node.waitForInitialCreate(10, TimeUnit.SECONDS));
    b.delete().forPath("/nodes/mine");
    while (b.checkExists().forPath("/nodes/mine") == null) Thread.onSpinWait();
    say("again " + text(b.getData().forPath("/nodes/mine")));
    node.close();
    GroupMember mine = new GroupMember(a, "/nodes/group", "a", bytes("of a"));
    GroupMember theirs = new GroupMember(b, "/nodes/group", "b", bytes("of b"));
    mine.start();
    theirs.start();
    while (mine.getCurrentMembers().size() < 2 || theirs.getCurrentMembers().size() < 2) Thread.onSpinWait();
    say(new ArrayList<>(new TreeMap<>(theirs.getCurrentMembers()).keySet()).toString());
    mine.close();
    while (theirs.getCurrentMembers().size() > 1) Thread.onSpinWait();
    say(theirs.getCurrentMembers().keySet().toString());
    theirs.close();
    PersistentTtlNode ttl = new PersistentTtlNode(a, "/nodes/ttl", 60_000, bytes("for a while"));
    ttl.start();
    say("ttl " + ttl.waitForInitialCreate(10, TimeUnit.SECONDS));
    tree("/nodes");
    ttl.close();
  }

  private static void discovery() throws Exception {
    say("# discovery");
    ServiceInstance<Void> instance =
        ServiceInstance.<Void>builder().name("web").id("one").address("host").port(80).build();
    try (ServiceDiscovery<Void> mine = ServiceDiscoveryBuilder.builder(Void.class).client(a).basePath("/discovery").thisInstance(instance).build();
        ServiceDiscovery<Void> theirs = ServiceDiscoveryBuilder.builder(Void.class).client(b).basePath("/discovery").build()) {
      mine.start();
      theirs.start();
      for (ServiceInstance<Void> found : theirs.queryForInstances("web")) say(found.getId() + " " + found.getAddress() + ":" + found.getPort());
      tree("/discovery");
      mine.unregisterService(instance);
      say(theirs.queryForInstances("web").size() + " left, " + theirs.queryForNames());
    }
  }
}
