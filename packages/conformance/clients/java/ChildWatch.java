import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;

/**
 * ZooKeeper's Java client with a watch of a node's children: ChildWatch HOSTS SESSION_MS PATH
 *
 * It reads the children at the start and behind each event that the watch fires, and never else: after a reconnection it knows of a change only
 * where the server compares the node with the last transaction that the client has seen. It prints a line of JSON at the start and for each line
 * of standard input, and ends with standard input.
 */
public class ChildWatch {
    private static volatile List<String> names;
    private static ZooKeeper zk;

    public static void main(String[] args) throws Exception {
        String path = args[2];
        zk = new ZooKeeper(args[0], Integer.parseInt(args[1]), event -> {
            if (event.getType() == Watcher.Event.EventType.NodeChildrenChanged) new Thread(() -> read(path)).start();
        });
        read(path);
        report();
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        while (input.readLine() != null) report();
        System.exit(0);
    }

    private static synchronized void read(String path) {
        while (true) {
            try {
                names = zk.getChildren(path, true);
                return;
            } catch (KeeperException.ConnectionLossException again) {
                pause();
            } catch (KeeperException | InterruptedException failed) {
                throw new IllegalStateException(failed);
            }
        }
    }

    private static void pause() {
        try {
            Thread.sleep(20);
        } catch (InterruptedException ended) {
            throw new IllegalStateException(ended);
        }
    }

    private static void report() {
        String list = names.stream().sorted().map(name -> "\"" + name + "\"").collect(Collectors.joining(", "));
        System.out.println("{\"session\": \"0x" + Long.toHexString(zk.getSessionId()) + "\", \"names\": [" + list + "]}");
    }
}
