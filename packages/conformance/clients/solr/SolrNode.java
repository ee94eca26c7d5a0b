import java.util.Properties;
import org.apache.solr.embedded.JettyConfig;
import org.apache.solr.embedded.JettySolrRunner;

/** A node of SolrCloud: SolrNode PORT HOME, with the ensemble in the property zkHost. */
public class SolrNode {
    public static void main(String[] args) throws Exception {
        JettyConfig config = new JettyConfig.Builder().setPort(Integer.parseInt(args[0])).setContext("/solr").useOnlyHttp1(true).build();
        JettySolrRunner node = new JettySolrRunner(args[1], new Properties(), config);
        node.start();
        Thread.currentThread().join();
    }
}
