import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.atomic.DistributedAtomicLong;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.leader.LeaderSelector;
import org.apache.curator.framework.recipes.leader.LeaderSelectorListenerAdapter;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreMutex;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.framework.recipes.queue.DistributedQueue;
import org.apache.curator.framework.recipes.queue.QueueBuilder;
import org.apache.curator.framework.recipes.queue.QueueConsumer;
import org.apache.curator.framework.recipes.shared.SharedCount;
import org.apache.curator.framework.recipes.shared.VersionedValue;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.retry.RetryNTimes;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;

/** A Curator client that takes turns with others, one line a command and one line an answer: Contender HOST:PORT. */
public final class Contender {
  private static CuratorFramework client;

  public static void main(String[] args) throws Exception {
    client = Lines.connected(args[0], 30_000);
    Lines.answerAll(client, Contender::answer);
  }

  private static String answer(String[] words) throws Exception {
    String path = words[1];
    int times = Integer.parseInt(words[2]);
    switch (words[0]) {
      case "mutex":
        return locked(new InterProcessMutex(client, path), "alone", path, times);
      case "simple":
        return locked(new InterProcessSemaphoreMutex(client, path), "alone", path, times);
      case "write":
        return locked(new InterProcessReadWriteLock(client, path).writeLock(), "write", path, times);
      case "read":
        return locked(new InterProcessReadWriteLock(client, path).readLock(), "read", path, times);
      case "semaphore":
        return leased(path, times);
      case "latch":
        return latched(path, times);
      case "selector":
        return selected(path, times);
      case "count":
        return counted(path, times);
      case "long":
        return added(path, times);
      case "put":
        return put(path, times);
      case "consume":
        return consumed(path, times);
      default:
        return "no such command";
    }
  }

  private static String locked(InterProcessLock lock, String how, String path, int times) throws Exception {
    int intruders = 0;
    for (int i = 0; i < times; i++) {
      lock.acquire();
      intruders += enter(how, path);
      lock.release();
    }
    return turns(times, intruders);
  }

  private static String leased(String path, int times) throws Exception {
    int intruders = 0;
    for (int i = 0; i < times; i++) {
      Lease lease = new InterProcessSemaphoreV2(client, path, 2).acquire();
      intruders += enter("lease", path);
      lease.close();
    }
    return turns(times, intruders);
  }

  private static String latched(String path, int times) throws Exception {
    int intruders = 0;
    for (int i = 0; i < times; i++) {
      try (LeaderLatch latch = new LeaderLatch(client, path, "java")) {
        latch.start();
        latch.await();
        intruders += enter("alone", path);
      }
    }
    return turns(times, intruders);
  }

  private static String selected(String path, int times) throws Exception {
    CountDownLatch left = new CountDownLatch(times);
    int[] intruders = new int[1];
    LeaderSelectorListenerAdapter listener =
        new LeaderSelectorListenerAdapter() {
          @Override
          public void takeLeadership(CuratorFramework framework) throws Exception {
            if (left.getCount() > 0) intruders[0] += enter("alone", path);
            left.countDown();
          }
        };
    try (LeaderSelector selector = new LeaderSelector(client, path, listener)) {
      selector.autoRequeue();
      selector.start();
      left.await();
    }
    return turns(times, intruders[0]);
  }

  private static String turns(int times, int intruders) {
    return times + " turns, " + intruders + " intruders";
  }

  /** Says so while it is inside, and looks whether somebody is there who may not be. */
  private static int enter(String how, String path) throws Exception {
    String inside = path + "-inside";
    boolean isAlone = how.equals("alone") || how.equals("write");
    CreateMode mode = isAlone ? CreateMode.EPHEMERAL : CreateMode.EPHEMERAL_SEQUENTIAL;
    String mine;
    try {
      mine = client.create().withMode(mode).forPath(inside + (isAlone ? "/alone" : "/shared-"));
    } catch (KeeperException.NodeExistsException error) {
      return 1;
    }
    List<String> there = client.getChildren().forPath(inside);
    client.delete().forPath(mine);
    if (how.equals("lease")) return there.size() > 2 ? 1 : 0;
    if (how.equals("read")) return there.contains("alone") ? 1 : 0;
    return there.size() > 1 ? 1 : 0;
  }

  private static String counted(String path, int times) throws Exception {
    SharedCount count = new SharedCount(client, path, 0);
    count.start();
    for (int i = 0; i < times; ) {
      VersionedValue<Integer> before = count.getVersionedValue();
      if (count.trySetCount(before, before.getValue() + 1)) i++;
    }
    count.close();
    return times + " added";
  }

  private static String added(String path, int times) throws Exception {
    DistributedAtomicLong number = new DistributedAtomicLong(client, path, new RetryNTimes(100, 2));
    for (int i = 0; i < times; ) if (number.increment().succeeded()) i++;
    return times + " added";
  }

  private static String put(String path, int times) throws Exception {
    try (DistributedQueue<String> queue = QueueBuilder.builder(client, null, Lines.TEXT, path).buildQueue()) {
      queue.start();
      for (int i = 0; i < times; i++) queue.put("java-" + i);
      queue.flushPuts(30, TimeUnit.SECONDS);
    }
    return times + " put";
  }

  private static String consumed(String path, int times) throws Exception {
    BlockingQueue<String> items = new LinkedBlockingQueue<>();
    QueueConsumer<String> consumer =
        new QueueConsumer<String>() {
          @Override
          public void consumeMessage(String item) {
            items.add(item);
          }

          @Override
          public void stateChanged(CuratorFramework framework, ConnectionState state) {}
        };
    Set<String> seen = new TreeSet<>();
    try (DistributedQueue<String> queue =
        QueueBuilder.builder(client, consumer, Lines.TEXT, path).lockPath(path + "-locks").buildQueue()) {
      queue.start();
      for (int i = 0; i < times; i++) {
        String item = items.poll(30, TimeUnit.SECONDS);
        if (item == null) break;
        seen.add(item);
      }
      // An item goes when its consumer has returned.
      for (int i = 0; i < 1000 && !client.getChildren().forPath(path).isEmpty(); i++) Thread.sleep(10);
    }
    return seen.size() + " different items";
  }
}
