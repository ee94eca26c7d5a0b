import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.Security;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import org.apache.zookeeper.server.quorum.QuorumPeer.QuorumServer;
import org.apache.zookeeper.server.quorum.QuorumPeerConfig;
import org.apache.zookeeper.server.quorum.flexible.QuorumHierarchical;
import org.apache.zookeeper.server.quorum.flexible.QuorumVerifier;

/**
 * Parses many configuration files with Apache ZooKeeper's own parser, in one process. Each line of the standard input is a folder with
 * zoo.cfg and, where the case has some, `flags` with one property of the command line in each line. Each line of the standard output
 * is a JSON object: what was refused, or the values in force.
 */
public final class ParseConfigs {
    private final TreeMap<String, String> values = new TreeMap<>();

    public static void main(String[] args) throws Exception {
        Security.setProperty("networkaddress.cache.negative.ttl", "-1");
        PrintStream answers = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        Properties atStart = (Properties) System.getProperties().clone();
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String folder = lines.readLine(); folder != null; folder = lines.readLine()) {
            System.setProperties((Properties) atStart.clone());
            QuorumPeerConfig.setStandaloneEnabled(true);
            QuorumPeerConfig.setReconfigEnabled(false);
            answers.println(new ParseConfigs().outcome(Path.of(folder)));
        }
    }

    private String outcome(Path folder) throws Exception {
        Path flags = folder.resolve("flags");
        if (Files.exists(flags)) {
            for (String flag : Files.readAllLines(flags)) {
                int equals = flag.indexOf('=');
                System.setProperty(flag.substring(0, equals), flag.substring(equals + 1));
            }
        }
        QuorumPeerConfig config = new QuorumPeerConfig();
        try {
            config.parse(folder.resolve("zoo.cfg").toString());
            // As the start does behind the parser.
            if (config.isDistributed() && !config.getServers().containsKey(config.getServerId()))
                throw new IllegalStateException("My id " + config.getServerId() + " not in the peer list");
        } catch (Exception | Error refusal) {
            Throwable cause = refusal;
            while (cause.getCause() != null) cause = cause.getCause();
            return "{\"refused\":" + quoted(cause.getClass().getSimpleName() + ": " + cause.getMessage()) + "}";
        }
        take(config);
        return "{\"values\":" + object(values) + ",\"properties\":" + object(properties()) + "}";
    }

    private void take(QuorumPeerConfig config) {
        put("clientAddress", address(config.getClientPortAddress()));
        put("secureAddress", address(config.getSecureClientPortAddress()));
        put("dataDir", config.getDataDir());
        put("dataLogDir", config.getDataLogDir());
        put("tickTime", config.getTickTime());
        put("maxClientCnxns", config.getMaxClientCnxns());
        put("minSessionTimeout", config.getMinSessionTimeout());
        put("maxSessionTimeout", config.getMaxSessionTimeout());
        put("clientPortListenBacklog", config.getClientPortListenBacklog());
        put("localSessionsEnabled", config.areLocalSessionsEnabled());
        put("localSessionsUpgradingEnabled", config.isLocalSessionsUpgradingEnabled());
        put("standaloneEnabled", QuorumPeerConfig.isStandaloneEnabled());
        put("reconfigEnabled", QuorumPeerConfig.isReconfigEnabled());
        put("metricsProvider", config.getMetricsProviderClassName());
        put("metricsPort", config.getMetricsProviderConfiguration().getProperty("httpPort", "7000"));
        put("isMember", config.isDistributed());
        if (!config.isDistributed()) return;
        put("initLimit", config.getInitLimit());
        put("syncLimit", config.getSyncLimit());
        put("electionAlg", config.getElectionAlg());
        put("observerMasterPort", config.getObserverMasterPort());
        put("quorumListenOnAllIPs", config.getQuorumListenOnAllIPs());
        put("sslQuorum", config.isSslQuorum());
        put("portUnification", config.shouldUsePortUnification());
        put("serverId", config.getServerId());
        put("peerType", config.getPeerType());
        QuorumVerifier verifier = config.getQuorumVerifier();
        StringBuilder members = new StringBuilder();
        for (Map.Entry<Long, QuorumServer> entry : new TreeMap<>(verifier.getAllMembers()).entrySet()) {
            QuorumServer server = entry.getValue();
            InetSocketAddress quorum = server.addr.getOne();
            InetSocketAddress election = server.electionAddr.getOne();
            members.append(entry.getKey()).append('=').append(host(quorum)).append(' ').append(quorum.getPort()).append(' ')
                .append(election.getPort()).append(' ').append(server.type).append(' ')
                .append(server.clientAddr == null ? "-" : address(server.clientAddr)).append(' ')
                .append(weight(verifier, entry.getKey())).append('\n');
        }
        put("members", members.toString());
        put("isHierarchical", verifier instanceof QuorumHierarchical);
    }

    private void put(String name, Object value) {
        if (value != null) values.put(name, String.valueOf(value instanceof File ? ((File) value).getAbsoluteFile() : value));
    }

    private static TreeMap<String, String> properties() {
        TreeMap<String, String> found = new TreeMap<>();
        for (Map.Entry<Object, Object> entry : System.getProperties().entrySet()) {
            String name = entry.getKey().toString();
            if (name.matches("(?:zookeeper\\.|jute\\.|znode\\.|readonlymode\\.|fsync\\.|java\\.security\\.auth).*"))
                found.put(name, entry.getValue().toString());
        }
        return found;
    }

    /** A member in no group has none, and its election ends with an error. */
    private static String weight(QuorumVerifier verifier, long sid) {
        try {
            return verifier instanceof QuorumHierarchical ? String.valueOf(verifier.getWeight(sid)) : "1";
        } catch (NullPointerException none) {
            return "none";
        }
    }

    private static String host(InetSocketAddress address) {
        InetAddress found = address.getAddress();
        return found == null || !address.getHostString().matches("[0-9a-fA-F.:%]+") ? address.getHostString() : found.getHostAddress();
    }

    private static String address(InetSocketAddress address) {
        if (address == null) return null;
        InetAddress found = address.getAddress();
        return (found != null && found.isAnyLocalAddress() ? "*" : host(address)) + " " + address.getPort();
    }

    private static String object(TreeMap<String, String> map) {
        StringBuilder text = new StringBuilder("{");
        for (Map.Entry<String, String> entry : map.entrySet()) {
            if (text.length() > 1) text.append(',');
            text.append(quoted(entry.getKey())).append(':').append(quoted(entry.getValue()));
        }
        return text.append('}').toString();
    }

    private static String quoted(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        for (char c : String.valueOf(text).toCharArray()) {
            if (c == '"' || c == '\\') quoted.append('\\').append(c);
            else if (c < 0x20 || c > 0x7e) quoted.append(String.format("\\u%04x", (int) c));
            else quoted.append(c);
        }
        return quoted.append('"').toString();
    }
}
