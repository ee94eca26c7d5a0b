import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartitionInfo;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** Kafka's own clients, controlled by lines: Records BROKERS reads a command and its arguments a line and answers with a line. */
public class Records {
    private static final long DEADLINE_MS = 90_000;
    private static final Properties CONNECTION = new Properties();
    private static Admin admin;
    private static KafkaProducer<String, String> producer;

    public static void main(String[] args) throws Exception {
        CONNECTION.put("bootstrap.servers", args[0]);
        admin = Admin.create(CONNECTION);
        Properties settings = with("acks", "all", "enable.idempotence", "true", "delivery.timeout.ms", "90000", "linger.ms", "1");
        producer = new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer());
        Commands.answerAll(Records::run);
    }

    private static String run(String[] words) throws Exception {
        switch (words[0]) {
            case "create":
                admin.createTopics(List.of(new NewTopic(words[1], Integer.parseInt(words[2]), Short.parseShort(words[3])))).all().get();
                return "created";
            case "widen":
                admin.createPartitions(Map.of(words[1], NewPartitions.increaseTo(Integer.parseInt(words[2])))).all().get();
                return "widened";
            case "delete":
                admin.deleteTopics(List.of(words[1])).all().get();
                return "deleted";
            case "topics":
                return new TreeSet<>(admin.listTopics().names().get()).toString();
            case "brokers":
                return brokers(Integer.parseInt(words[1]));
            case "controller":
                return String.valueOf(admin.describeCluster().controller().get().id());
            case "in-sync":
                return inSync(words[1], Integer.parseInt(words[2]));
            case "configure":
                return configure(words[1], words[2], words[3]);
            case "produce":
                return produce(words[1], Integer.parseInt(words[2]), Integer.parseInt(words[3]));
            case "consume":
                return consume(words[1], Integer.parseInt(words[2]));
            default:
                return "unknown command";
        }
    }

    /** Waits until {@code count} brokers are known. */
    private static String brokers(int count) throws Exception {
        for (long end = System.currentTimeMillis() + DEADLINE_MS; ; Thread.sleep(100)) {
            Set<Integer> ids = new TreeSet<>();
            admin.describeCluster().nodes().get().forEach(node -> ids.add(node.id()));
            if (ids.size() == count || System.currentTimeMillis() > end) return ids.toString();
        }
    }

    /** Waits until each partition has {@code count} replicas in sync. */
    private static String inSync(String topic, int count) throws Exception {
        for (long end = System.currentTimeMillis() + DEADLINE_MS; ; Thread.sleep(100)) {
            Set<Integer> sizes = new TreeSet<>();
            Collection<TopicPartitionInfo> partitions = partitions(topic);
            partitions.forEach(partition -> sizes.add(partition.isr().size()));
            if (sizes.equals(Set.of(count)) || System.currentTimeMillis() > end) return partitions.size() + " partitions, in sync " + sizes;
        }
    }

    /** None while the broker that answers has not heard of the topic. */
    private static Collection<TopicPartitionInfo> partitions(String topic) throws Exception {
        try {
            return admin.describeTopics(List.of(topic)).allTopicNames().get().get(topic).partitions();
        } catch (ExecutionException failed) {
            if (failed.getCause() instanceof UnknownTopicOrPartitionException) return List.of();
            throw failed;
        }
    }

    /** Changes a topic's setting, and waits until a broker has heard of it by its watch. */
    private static String configure(String topic, String key, String value) throws Exception {
        ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
        AlterConfigOp set = new AlterConfigOp(new ConfigEntry(key, value), AlterConfigOp.OpType.SET);
        admin.incrementalAlterConfigs(Map.of(resource, List.of(set))).all().get();
        for (long end = System.currentTimeMillis() + DEADLINE_MS; ; Thread.sleep(100)) {
            String found = admin.describeConfigs(List.of(resource)).all().get().get(resource).get(key).value();
            if (found.equals(value) || System.currentTimeMillis() > end) return key + "=" + found;
        }
    }

    private static String produce(String topic, int from, int count) throws Exception {
        List<Future<?>> sent = new ArrayList<>();
        for (int i = from; i < from + count; i++) sent.add(producer.send(new ProducerRecord<>(topic, String.valueOf(i), String.valueOf(i))));
        producer.flush();
        for (Future<?> one : sent) one.get();
        return "produced " + count;
    }

    /** Reads from the beginning with a new group, until {@code count} different records were read. */
    private static String consume(String topic, int count) {
        Properties settings = with("group.id", topic + "-" + count, "auto.offset.reset", "earliest", "session.timeout.ms", "10000");
        try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer())) {
            consumer.subscribe(List.of(topic));
            Set<String> different = new HashSet<>();
            int all = 0;
            for (long end = System.currentTimeMillis() + DEADLINE_MS; different.size() < count && System.currentTimeMillis() < end; ) {
                for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofMillis(200))) {
                    all++;
                    different.add(record.value());
                }
            }
            consumer.commitSync();
            return all + " records, " + different.size() + " different";
        }
    }

    private static Properties with(String... settings) {
        Properties all = new Properties();
        all.putAll(CONNECTION);
        for (int i = 0; i < settings.length; i += 2) all.put(settings[i], settings[i + 1]);
        return all;
    }
}
