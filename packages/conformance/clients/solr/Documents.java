import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.apache.solr.client.solrj.SolrQuery;
import org.apache.solr.client.solrj.impl.CloudHttp2SolrClient;
import org.apache.solr.client.solrj.impl.CloudSolrClient;
import org.apache.solr.client.solrj.request.CollectionAdminRequest;
import org.apache.solr.client.solrj.request.UpdateRequest;
import org.apache.solr.client.solrj.request.schema.SchemaRequest;
import org.apache.solr.client.solrj.response.QueryResponse;
import org.apache.solr.common.SolrDocument;
import org.apache.solr.common.SolrException;
import org.apache.solr.common.SolrInputDocument;
import org.apache.solr.common.cloud.ClusterState;
import org.apache.solr.common.cloud.DocCollection;
import org.apache.solr.common.cloud.Replica;
import org.apache.solr.common.cloud.Slice;
import org.apache.solr.common.cloud.SolrZkClient;
import org.apache.solr.common.cloud.ZkMaintenanceUtils;
import org.apache.solr.common.cloud.ZkStateReader;

/** Solr's own client, controlled by lines: Documents HOSTS CHROOT reads a command and its arguments a line and answers with a line. */
public class Documents {
    private static final long DEADLINE_MS = 120_000;
    private static String hosts;
    private static String chroot;
    private static CloudSolrClient client;

    public static void main(String[] args) throws Exception {
        hosts = args[0];
        chroot = args[1];
        client = new CloudHttp2SolrClient.Builder(List.of(hosts.split(",")), Optional.of(chroot)).build();
        Commands.answerAll(Documents::run);
    }

    private static String run(String[] words) throws Exception {
        switch (words[0]) {
            case "upload":
                return upload(words[1], words[2]);
            case "nodes":
                return nodes(Integer.parseInt(words[1]));
            case "overseer":
                return (String) client.request(CollectionAdminRequest.getOverseerStatus()).get("leader");
            case "create":
                CollectionAdminRequest.createCollection(words[1], words[2], Integer.parseInt(words[3]), Integer.parseInt(words[4])).process(client);
                return "created";
            case "alias":
                CollectionAdminRequest.createAlias(words[1], words[2]).process(client);
                return "named";
            case "property":
                CollectionAdminRequest.setCollectionProperty(words[1], words[2], words[3]).process(client);
                return "set";
            case "add-field":
                new SchemaRequest.AddField(Map.of("name", words[2], "type", "string", "stored", "true")).process(client, words[1]);
                return "added";
            case "active":
                return active(words[1], Integer.parseInt(words[2]));
            case "index":
                return index(words[1], Integer.parseInt(words[2]), Integer.parseInt(words[3]));
            case "find":
                return find(words[1], Integer.parseInt(words[2]));
            case "delete":
                CollectionAdminRequest.deleteCollection(words[1]).process(client);
                return "deleted";
            case "unalias":
                CollectionAdminRequest.deleteAlias(words[1]).process(client);
                return "deleted";
            case "collections":
                return new TreeSet<>(CollectionAdminRequest.listCollections(client)).toString();
            default:
                return "unknown command";
        }
    }

    /** A configuration, written to the ensemble directly. */
    private static String upload(String name, String folder) throws Exception {
        SolrZkClient.Builder builder = new SolrZkClient.Builder().withUrl(hosts + chroot).withTimeout(15, TimeUnit.SECONDS);
        try (SolrZkClient zk = builder.build()) {
            ZkMaintenanceUtils.uploadToZK(zk, Path.of(folder), "/configs/" + name, null);
        }
        return "uploaded";
    }

    /** Waits until {@code count} nodes are live; before the first one there is no cluster. */
    private static String nodes(int count) throws Exception {
        for (long end = System.currentTimeMillis() + DEADLINE_MS; ; Thread.sleep(100)) {
            try {
                int live = state().getLiveNodes().size();
                if (live == count || System.currentTimeMillis() > end) return live + " live";
            } catch (SolrException e) {
                if (System.currentTimeMillis() > end) throw e;
            }
        }
    }

    /** Waits until each shard has {@code count} active replicas on live nodes, one of which leads. */
    private static String active(String collection, int count) throws Exception {
        for (long end = System.currentTimeMillis() + DEADLINE_MS; ; Thread.sleep(100)) {
            ZkStateReader reader = ZkStateReader.from(client);
            reader.forceUpdateCollection(collection);
            Set<String> live = state().getLiveNodes();
            DocCollection found = state().getCollection(collection);
            List<String> shards = new ArrayList<>();
            boolean isSettled = true;
            for (Slice shard : found.getSlices()) {
                long running = shard.getReplicas().stream().filter(each -> each.getState() == Replica.State.ACTIVE && live.contains(each.getNodeName())).count();
                Replica leader = shard.getLeader();
                boolean isLed = leader != null && live.contains(leader.getNodeName());
                shards.add(shard.getName() + " " + running + (isLed ? " led" : " not led"));
                isSettled &= running == count && isLed;
            }
            if (isSettled || System.currentTimeMillis() > end) return new TreeSet<>(shards).toString();
        }
    }

    /** Documents with the ids {@code from} to {@code from + count - 1}, until all are taken: a document with the id of another one replaces it. */
    private static String index(String collection, int from, int count) throws Exception {
        for (long end = System.currentTimeMillis() + DEADLINE_MS; ; Thread.sleep(200)) {
            UpdateRequest request = new UpdateRequest();
            for (int i = from; i < from + count; i++) {
                SolrInputDocument document = new SolrInputDocument();
                document.addField("id", String.valueOf(i));
                document.addField("number", i);
                request.add(document);
            }
            try {
                request.process(client, collection);
                client.commit(collection);
                return "indexed " + count;
            } catch (Exception e) {
                if (System.currentTimeMillis() > end) throw e;
            }
        }
    }

    /** All documents, by a query that waits until {@code count} are seen. */
    private static String find(String collection, int count) throws Exception {
        for (long end = System.currentTimeMillis() + DEADLINE_MS; ; Thread.sleep(200)) {
            QueryResponse response = client.query(collection, new SolrQuery("*:*").setRows(100_000).setFields("id"));
            Set<String> ids = new TreeSet<>();
            for (SolrDocument document : response.getResults()) ids.add((String) document.getFieldValue("id"));
            if (ids.size() == count || System.currentTimeMillis() > end) return response.getResults().getNumFound() + " documents, " + ids.size() + " different";
        }
    }

    private static ClusterState state() {
        return client.getClusterState();
    }
}
