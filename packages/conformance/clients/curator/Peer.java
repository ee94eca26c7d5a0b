import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreMutex;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;

/** A Curator client that is controlled by lines, one for each command and answer: Peer HOST:PORT TIMEOUT-MS. */
public final class Peer {
  private static CuratorFramework client;
  private static final Map<String, InterProcessLock> LOCKS = new HashMap<>();
  private static final Map<String, InterProcessReadWriteLock> READ_WRITE = new HashMap<>();
  private static final Map<String, Lease> LEASES = new HashMap<>();
  private static final Map<String, LeaderLatch> LATCHES = new HashMap<>();

  public static void main(String[] args) throws Exception {
    client = Lines.connected(args[0], Integer.parseInt(args[1]));
    Lines.answerAll(client, Peer::answer);
  }

  private static String answer(String[] words) throws Exception {
    String path = words[1];
    switch (words[0]) {
      case "acquire":
        return String.valueOf(lock(words[2], path).acquire(Long.parseLong(words[3]), TimeUnit.MILLISECONDS));
      case "release":
        lock(words[2], path).release();
        return "released";
      case "lease":
        Lease lease = new InterProcessSemaphoreV2(client, path, 2).acquire(Long.parseLong(words[2]), TimeUnit.MILLISECONDS);
        if (lease != null) LEASES.put(path, lease);
        return String.valueOf(lease != null);
      case "return":
        LEASES.remove(path).close();
        return "returned";
      case "contend":
        return contend(lock("mutex", path), words[2], Integer.parseInt(words[3]));
      case "latch":
        LeaderLatch latch = new LeaderLatch(client, path, words[2]);
        LATCHES.put(path, latch);
        latch.start();
        return "started";
      case "leads":
        return String.valueOf(LATCHES.get(path).await(Long.parseLong(words[2]), TimeUnit.MILLISECONDS));
      case "leader":
        return LATCHES.get(path).getLeader().getId() + " of " + LATCHES.get(path).getParticipants().size();
      case "leave":
        LATCHES.remove(path).close();
        return "left";
      default:
        return "no such command";
    }
  }

  private static InterProcessLock lock(String kind, String path) {
    switch (kind) {
      case "mutex":
        return LOCKS.computeIfAbsent(path, at -> new InterProcessMutex(client, at));
      case "simple":
        return LOCKS.computeIfAbsent(path, at -> new InterProcessSemaphoreMutex(client, at));
      default:
        InterProcessReadWriteLock both = READ_WRITE.computeIfAbsent(path, at -> new InterProcessReadWriteLock(client, at));
        return kind.equals("read") ? both.readLock() : both.writeLock();
    }
  }

  /** Takes the lock again and again; while it has it, a node says so, of which there must not be two. */
  private static String contend(InterProcessLock lock, String holder, int times) throws Exception {
    int intruders = 0;
    for (int i = 0; i < times; i++) {
      lock.acquire();
      try {
        client.create().withMode(CreateMode.EPHEMERAL).forPath(holder);
        client.delete().forPath(holder);
      } catch (KeeperException error) {
        intruders++;
      } finally {
        lock.release();
      }
    }
    return times + " times, " + intruders + " intruders";
  }
}
