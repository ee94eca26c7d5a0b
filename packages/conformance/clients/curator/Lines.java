import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.queue.QueueSerializer;
import org.apache.curator.retry.RetryNTimes;

/** What the programs share that take one line a command and print one line an answer. */
final class Lines {
  interface Answers {
    String answer(String[] words) throws Exception;
  }

  static final QueueSerializer<String> TEXT =
      new QueueSerializer<String>() {
        @Override
        public byte[] serialize(String item) {
          return item.getBytes(StandardCharsets.UTF_8);
        }

        @Override
        public String deserialize(byte[] bytes) {
          return new String(bytes, StandardCharsets.UTF_8);
        }
      };

  private Lines() {}

  /** A client that has tried to connect, and has printed whether it did. */
  static CuratorFramework connected(String hosts, int sessionTimeoutMs) throws Exception {
    CuratorFramework client =
        CuratorFrameworkFactory.builder()
            .connectString(hosts)
            .sessionTimeoutMs(sessionTimeoutMs)
            .connectionTimeoutMs(15_000)
            .retryPolicy(new RetryNTimes(3, 100))
            .build();
    client.start();
    System.out.println("connected " + client.blockUntilConnected(15, TimeUnit.SECONDS));
    return client;
  }

  /** Answers until the input ends; then the client is closed, and the process ends. */
  static void answerAll(CuratorFramework client, Answers answers) throws Exception {
    BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = commands.readLine(); line != null; line = commands.readLine()) {
      String answer;
      try {
        answer = answers.answer(line.split(" "));
      } catch (Exception error) {
        answer = error.toString();
      }
      System.out.println(answer);
    }
    client.close();
    System.exit(0);
  }
}
