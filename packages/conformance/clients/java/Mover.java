import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;

/**
 * ZooKeeper's Java client with an ephemeral node and a place in a sequence: Mover HOSTS SESSION_MS FOLDER
 *
 * It prints a line of JSON at the start and for each line of standard input, and ends with standard input. "lost" counts lost sessions.
 */
public class Mover {
    public static void main(String[] args) throws Exception {
        AtomicInteger lost = new AtomicInteger();
        ZooKeeper zk = new ZooKeeper(args[0], Integer.parseInt(args[1]), event -> {
            if (event.getState() == Watcher.Event.KeeperState.Expired) lost.incrementAndGet();
        });
        String own = create(zk, args[2] + "/n-");
        report(zk, own, lost);
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        while (input.readLine() != null) report(zk, own, lost);
        System.exit(0);
    }

    private static String create(ZooKeeper zk, String path) throws Exception {
        while (true) {
            try {
                return zk.create(path, "java".getBytes(), ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL_SEQUENTIAL);
            } catch (KeeperException.ConnectionLossException notYet) {
                Thread.sleep(100);
            }
        }
    }

    private static void report(ZooKeeper zk, String own, AtomicInteger lost) throws Exception {
        while (true) {
            try {
                Stat stat = zk.exists(own, false);
                String owner = stat == null ? "null" : "\"0x" + Long.toHexString(stat.getEphemeralOwner()) + "\"";
                System.out.println("{\"session\": \"0x" + Long.toHexString(zk.getSessionId()) + "\", \"own\": \"" + own
                        + "\", \"owner\": " + owner + ", \"lost\": " + lost.get() + "}");
                return;
            } catch (KeeperException.ConnectionLossException again) {
                Thread.sleep(20);
            }
        }
    }
}
